/*-------------------------------------------------------------------------
 *
 * rows.h
 *	  Rows of text about a database, which a worker can send to another one.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_ROWS_H
#define TSA_ROWS_H

#include "postgres.h"

#include "datatype/timestamp.h"

/* Columns of relations_in(), object_settings() and moves_of(). */
#define TSA_RELATION_COLUMNS 19
#define TSA_SETTING_COLUMNS 5
#define TSA_MOVE_ROW_COLUMNS 18

/* Takes a row; NULL is a null value. */
typedef void (*TsaRowReceiver) (char **values, void *arg);

/* hypertables.c */
extern void tsa_find_attachments(TsaRowReceiver receive, void *arg);

/* moves.c: the moves of this database */
extern void tsa_find_moves(TimestampTz since, TsaRowReceiver receive,
						   void *arg);

/* tablespace_relations.c: relations in a tablespace, settings of objects */
extern void tsa_find_relations(Oid tablespace, TsaRowReceiver receive,
							   void *arg);
extern void tsa_find_settings(TsaRowReceiver receive, void *arg);

#endif							/* TSA_ROWS_H */
