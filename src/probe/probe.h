/*-------------------------------------------------------------------------
 *
 * probe.h
 *	  Probe stage: measuring the device under a tablespace.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_PROBE_H
#define TSA_PROBE_H

extern void tsa_init_probe(void);

#endif							/* TSA_PROBE_H */
