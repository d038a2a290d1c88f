/*-------------------------------------------------------------------------
 *
 * installs.h
 *	  Tells the launcher that an extension has been created somewhere.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_SAMPLE_INSTALLS_H
#define TSA_SAMPLE_INSTALLS_H

#include "postgres.h"

extern void tsa_init_installs(void);
extern void tsa_note_install(void);
extern uint32 tsa_installs_count(void);

#endif							/* TSA_SAMPLE_INSTALLS_H */
