/*-------------------------------------------------------------------------
 *
 * user_limits.h
 *	  How many workers move relations for users who are not superusers.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_USER_LIMITS_H
#define TSA_USER_LIMITS_H

#include "postgres.h"

extern void tsa_init_user_limits(void);
extern Oid	tsa_take_user_place(int64 batch_id);
extern Oid	tsa_limited_user(Oid user, Oid role);
extern bool tsa_try_user_place(Oid user, int64 batch_id);
extern int	tsa_cap_helpers(Oid user, int helpers);

#endif							/* TSA_USER_LIMITS_H */
