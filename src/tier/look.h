/*-------------------------------------------------------------------------
 *
 * look.h
 *	  A worker that looks into another database.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_LOOK_H
#define TSA_LOOK_H

#include "postgres.h"

extern PGDLLEXPORT void tsa_look_worker_main(Datum arg);

#endif							/* TSA_LOOK_H */
