/*-------------------------------------------------------------------------
 *
 * bundle.h
 *	  Moves that belong together, and the order in which they fit.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_BUNDLE_H
#define TSA_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TSA_NO_MOVE SIZE_MAX

typedef enum TsaBundleVerdict
{
	TSA_BUNDLE_MADE,
	TSA_BUNDLE_TOO_LITTLE,		/* it saves too little of its tables' time */
	TSA_BUNDLE_NOT_REPAID,		/* its moves take longer than it saves */
	TSA_BUNDLE_NO_ROOM			/* no order in which each move fits */
} TsaBundleVerdict;

typedef struct TsaBundleMove
{
	int			from_room;
	int			to_room;
	uint64_t	size;			/* bytes taken there */
	uint64_t	freed;			/* bytes given back here */
	double		saved;			/* per second; less than 0: lost */
	double		seconds;		/* the move takes */
	/* results */
	int			bundle;			/* from 1 on */
	int			rank;			/* from 1 on; 0: not made */
	TsaBundleVerdict verdict;
	size_t		makes_room_for; /* a move, or TSA_NO_MOVE */
	bool		is_relief;		/* its tablespace is too full */
} TsaBundleMove;

/* Percent of all reading that a gain must be, else more than the share of the
 * bytes, and this; seconds within which it has to repay the move */
#define TSA_MIN_PERCENT			5
#define TSA_MIN_DENSE_PERCENT	1
#define TSA_REPAID_S			(7 * 86400.0)

/*
 * A bundle is worth it if it saves min_percent of the time of reading, or
 * min_dense_percent and more than its moves' share of the bytes of all that is
 * read, and if that repays its moves within repaid_s.
 */
typedef struct TsaBundleProblem
{
	TsaBundleMove *moves;
	size_t		n;
	double		read_ms;		/* per second, of all */
	double		read_bytes;		/* of all that is read */
	const int64_t *free;		/* bytes of each room; below 0: too full */
	int			nrooms;
	double		min_percent;
	double		min_dense_percent;
	double		repaid_s;
} TsaBundleProblem;

/* Of one move or of a bundle; read_bytes 0: not known. */
extern bool tsa_gains_too_little(double saved, double bytes, double read_ms,
								 double read_bytes, double min_percent,
								 double min_dense_percent);

/* False if there is no memory. */
extern bool tsa_bundle_moves(const TsaBundleProblem *problem);

#endif							/* TSA_BUNDLE_H */
