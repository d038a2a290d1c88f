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

/* Columns of relations_in(), object_settings() and moves_of(). */
#define TSA_RELATION_COLUMNS 19
#define TSA_SETTING_COLUMNS 5
#define TSA_MOVE_ROW_COLUMNS 18

/* Takes a row; NULL is a null value. */
typedef void (*TsaRowReceiver) (char **values, void *arg);

#endif							/* TSA_ROWS_H */
