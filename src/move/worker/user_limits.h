/*-------------------------------------------------------------------------
 *
 * user_limits.h
 *	  How many workers move relations for users without superuser rights.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_USER_LIMITS_H
#define TSA_USER_LIMITS_H

#include "postgres.h"

#include "portability/instr_time.h"

/* The place of a worker of a user without superuser rights. */
typedef struct TsaUserPlace
{
	Oid			user;			/* InvalidOid: has no limit */
	instr_time	since;			/* start of the count */
	int64		bytes;			/* copied since */
	int64		last_done;		/* at the last look, by the present job */
	bool		is_slow;		/* others may get the place */
} TsaUserPlace;

extern void tsa_init_user_limits(void);
extern Oid	tsa_take_user_place(int64 batch_id);
extern Oid	tsa_limited_user(Oid user, Oid role);
extern bool tsa_try_user_place(Oid user, int64 batch_id);
extern void tsa_begin_user_place(TsaUserPlace *place, Oid user);
extern void tsa_watch_user_place(TsaUserPlace *place, int64 bytes_done);
extern int	tsa_cap_helpers(Oid user, int helpers);

#endif							/* TSA_USER_LIMITS_H */
