/*-------------------------------------------------------------------------
 *
 * renew_locality.h
 *	  Localities that do not describe their indexes any more.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_RENEW_LOCALITY_H
#define TSA_RENEW_LOCALITY_H

extern void tsa_init_renew_locality(void);

#endif							/* TSA_RENEW_LOCALITY_H */
