/*-------------------------------------------------------------------------
 *
 * assignment.h
 *	  Which relation belongs into which tablespace.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_ASSIGNMENT_H
#define TSA_ASSIGNMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Tablespaces on one device share a room. */
#define TSA_MAX_ROOMS 64

/* No limit of a room or of the budget. */
#define TSA_NO_LIMIT UINT64_MAX

typedef struct TsaAssignmentItem
{
	uint64_t	size;			/* bytes where it is */
	uint64_t	moved_size;		/* bytes anywhere else */
	int			present;		/* place where it is */
	int			place;			/* result */
} TsaAssignmentItem;

/*
 * cost has nplaces numbers for each item, INFINITY for a place that it cannot
 * be in; that of the present place is finite.  Sizes add up to less than 2^64.
 */
typedef struct TsaAssignmentProblem
{
	TsaAssignmentItem *items;
	size_t		n;
	const double *cost;
	int			nplaces;
	const int  *room_of;		/* of each place */
	const uint64_t *room;		/* bytes of each room */
	int			nrooms;
	uint64_t	budget;			/* bytes that move to where they cost less */
} TsaAssignmentProblem;

typedef struct TsaAssignment
{
	double		present_cost;
	double		cost;
	bool		too_full;		/* no assignment found fits: rooms that were
								 * over their limit may stay as full */
	double		price[TSA_MAX_ROOMS + 1];	/* cost that one more byte of a
											 * room saves */
} TsaAssignment;

extern bool tsa_assign_places(const TsaAssignmentProblem *p,
							  TsaAssignment *result);

#endif							/* TSA_ASSIGNMENT_H */
