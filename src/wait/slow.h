/*-------------------------------------------------------------------------
 *
 * slow.h
 *	  Statements that waited long for reads when this process measured them.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_SLOW_H
#define TSA_SLOW_H

#include <stdbool.h>
#include <stdint.h>

extern bool tsa_is_slow(uint64_t key);
extern void tsa_learn_waits(uint64_t key, uint64_t reads, uint64_t waited_ns);

#endif							/* TSA_SLOW_H */
