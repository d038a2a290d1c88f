/*-------------------------------------------------------------------------
 *
 * resume.h
 *	  Going on with a copy that was interrupted: the configuration parameter.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_RESUME_H
#define TSA_RESUME_H

#include "postgres.h"

extern void tsa_init_marks(void);

#endif							/* TSA_RESUME_H */
