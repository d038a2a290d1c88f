/*-------------------------------------------------------------------------
 *
 * file_error.h
 *	  The SQLSTATE of a system call that failed.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_FILE_ERROR_H
#define TSA_FILE_ERROR_H

extern bool tsa_is_answer_of_device(int error);
extern int	tsa_errcode_for_file_access(void);

#endif							/* TSA_FILE_ERROR_H */
