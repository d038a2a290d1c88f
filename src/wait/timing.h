/*-------------------------------------------------------------------------
 *
 * timing.h
 *	  Timing reads while something is measured.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAIT_TIMING_H
#define TSA_WAIT_TIMING_H

extern void tsa_init_timing(void);
extern bool tsa_begin_timing(void);
extern void tsa_end_timing(bool before);

#endif							/* TSA_WAIT_TIMING_H */
