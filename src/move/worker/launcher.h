/*-------------------------------------------------------------------------
 *
 * launcher.h
 *	  Recovers interrupted moves after a restart, if the library is preloaded.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_LAUNCHER_H
#define TSA_LAUNCHER_H

#include "postgres.h"

extern void tsa_init_launcher(void);

extern PGDLLEXPORT void tsa_launcher_main(Datum arg);
extern PGDLLEXPORT void tsa_recover_worker_main(Datum database);
extern void tsa_recover_for_caller(bool take_over);

#endif							/* TSA_LAUNCHER_H */
