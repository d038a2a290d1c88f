/*-------------------------------------------------------------------------
 *
 * journal_room.h
 *	  Room on the journal's pages for new versions of their rows.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_JOURNAL_ROOM_H
#define TSA_JOURNAL_ROOM_H

/* [T] */
extern void tsa_make_journal_room(void);

#endif							/* TSA_JOURNAL_ROOM_H */
