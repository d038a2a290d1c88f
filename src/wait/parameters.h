/*-------------------------------------------------------------------------
 *
 * parameters.h
 *	  Parameters of the measurement of read waits.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAIT_PARAMETERS_H
#define TSA_WAIT_PARAMETERS_H

#include "postgres.h"

extern int	tsa_max_statements;

extern void tsa_define_wait_parameters(void);

#endif							/* TSA_WAIT_PARAMETERS_H */
