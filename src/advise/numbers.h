/*-------------------------------------------------------------------------
 *
 * numbers.h
 *	  Numbers and times as people read them.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_NUMBERS_H
#define TSA_NUMBERS_H

extern char *tsa_rounded_decimal(double number, int places);
extern char *tsa_float_text(double number);
extern char *tsa_two_digits_text(double number);
extern char *tsa_pretty_seconds_text(double seconds);
extern char *tsa_waiting_sessions_text(double ms_per_s, const char *what);

#endif							/* TSA_NUMBERS_H */
