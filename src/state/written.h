/*-------------------------------------------------------------------------
 *
 * written.h
 *	  Statements, names and numbers as people write them.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WRITTEN_H
#define TSA_WRITTEN_H

extern double tsa_three_digits(double number);
extern char *tsa_cut_line(char *line, int width);

#endif							/* TSA_WRITTEN_H */
