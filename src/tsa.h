/*-------------------------------------------------------------------------
 *
 * tsa.h
 *	  Declarations for all stages of tablespace_advisor.
 *
 * Each stage has a header of its own in its folder; a stage may include the
 * headers of earlier stages (in the order of the Makefile's STAGES),
 * never of later ones.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_H
#define TSA_H

/* schema that holds the extension's tables */
#define TSA_STATE_SCHEMA "tablespace_advisor"

#endif							/* TSA_H */
