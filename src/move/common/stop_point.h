/*-------------------------------------------------------------------------
 *
 * stop_point.h
 *	  Named moments at which a live copy, or a call that queues moves, can be
 *	  made to wait, for tests.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_STOP_POINT_H
#define TSA_STOP_POINT_H

#include "postgres.h"

extern void tsa_init_stop_points(void);
extern void tsa_stop_point(const char *name);
extern bool tsa_stops_elsewhere(const char *prefix);

#endif							/* TSA_STOP_POINT_H */
