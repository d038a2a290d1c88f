/*-------------------------------------------------------------------------
 *
 * file_error.c
 *	  The SQLSTATE of a system call that failed.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "state/file_error.h"

/*
 * Does a device answer with this error, which errcode_for_file_access() does
 * not know?
 */
bool
tsa_is_answer_of_device(int error)
{
	return error == ENODATA || error == EREMOTEIO || error == ETIMEDOUT;
}

/*
 * As errcode_for_file_access(), to which errors that it does not know are
 * internal ones.  Devices answer with some of those: errors of I/O.
 */
int
tsa_errcode_for_file_access(void)
{
	errcode_for_file_access();
	if (geterrcode() == ERRCODE_INTERNAL_ERROR)
		errcode(ERRCODE_IO_ERROR);
	return 0;					/* return value does not matter */
}
