/*-------------------------------------------------------------------------
 *
 * bundle.c
 *	  Moves that belong together, and the order in which they fit.
 *
 * Pure: includes no postgres.h, is unit-tested without a server, and frees
 * all memory before it returns.
 *
 * A relation that comes to a place takes the room that is free there, then the
 * room that others leave: those that cost least first, for relations that save
 * most per byte.  Moves that use each other's room are a bundle.  Without one
 * of its moves the others need not fit, so a bundle is made as a whole or not
 * at all; and since no other bundle uses its room, leaving one out hinders
 * none.  Room that is not needed in the end is left over between bundles, lest
 * all become one.
 *
 * While a relation moves, it takes room in both places.  So the order is found
 * by doing: of each bundle moves that make room first, each move when it fits.
 * A bundle in which every move waits for another one cannot be made like that.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "advise/bundle.h"

#include <stdlib.h>
#include <string.h>

/* One run. */
typedef struct Bundler
{
	const TsaBundleProblem *p;
	size_t	   *parent;			/* of a forest: each tree is a bundle */
	size_t	   *order;			/* of moves, sorted in one way or the other */
	size_t	   *scratch;
	int64_t    *free;
} Bundler;

/* The problem to sort by, since qsort() has no argument for it. */
typedef struct SortKey
{
	int			first;
	double		second;
	size_t		move;
} SortKey;

/*
 * For qsort(): by the first key, upwards, by the second, downwards, then by
 * number.
 */
static int
compare_keys(const void *a, const void *b)
{
	const SortKey *x = a;
	const SortKey *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	if (x->second != y->second)
		return x->second > y->second ? -1 : 1;
	return x->move < y->move ? -1 : x->move > y->move;
}

/* The saving of each byte. */
static double
per_byte(double saved, uint64_t size)
{
	return saved / (double) (size > 0 ? size : 1);
}

/* The bundle of a move, as the root of its tree. */
static size_t
root_of(const Bundler *b, size_t move)
{
	while (b->parent[move] != move)
	{
		b->parent[move] = b->parent[b->parent[move]];
		move = b->parent[move];
	}
	return move;
}

/* Makes one set of two. */
static void
join(const Bundler *b, size_t x, size_t y)
{
	x = root_of(b, x);
	y = root_of(b, y);
	if (x < y)
		b->parent[y] = x;
	else
		b->parent[x] = y;
}

/* Sorts moves by keys that were made for them. */
static void
sort_moves(SortKey *keys, size_t n, size_t *moves)
{
	if (n > 1)
		qsort(keys, n, sizeof(SortKey), compare_keys);
	for (size_t i = 0; i < n; i++)
		moves[i] = keys[i].move;
}

/* Moves to a room, the largest saving per byte first. */
static size_t
list_arrivals(const Bundler *b, int room, SortKey *keys, size_t *moves)
{
	size_t		n = 0;

	for (size_t i = 0; i < b->p->n; i++)
	{
		const TsaBundleMove *m = &b->p->moves[i];

		if (m->to_room != room || m->from_room == room)
			continue;
		keys[n].first = 0;
		keys[n].second = per_byte(m->saved, m->size);
		keys[n++].move = i;
	}
	sort_moves(keys, n, moves);
	return n;
}

/* Moves out of a room, the smallest loss per byte first. */
static size_t
list_departures(const Bundler *b, int room, SortKey *keys, size_t *moves)
{
	size_t		n = 0;

	for (size_t i = 0; i < b->p->n; i++)
	{
		const TsaBundleMove *m = &b->p->moves[i];

		if (m->from_room != room || m->to_room == room)
			continue;
		keys[n].first = 0;
		keys[n].second = per_byte(m->saved, m->freed);
		keys[n++].move = i;
	}
	sort_moves(keys, n, moves);
	return n;
}

/* Joins moves to a room with those that leave it to them. */
static void
share_room(Bundler *b, int room, SortKey *keys)
{
	TsaBundleMove *moves = b->p->moves;
	size_t		ncome = list_arrivals(b, room, keys, b->order);
	size_t		ngo = list_departures(b, room, keys, b->scratch);
	int64_t		left = b->p->free[room];	/* room to take */
	int64_t		spare = left;
	size_t		owner = TSA_NO_MOVE;	/* the move that left it */
	size_t		next = 0;

	for (size_t i = 0; i < ngo; i++)
		spare += (int64_t) moves[b->scratch[i]].freed;
	for (size_t i = 0; i < ncome; i++)
		spare -= (int64_t) moves[b->order[i]].size;
	/* one that is too full takes the first to go */
	while (left < 0 && next < ngo)
	{
		owner = b->scratch[next++];
		moves[owner].is_relief = true;
		left += (int64_t) moves[owner].freed;
	}
	for (size_t i = 0; i < ncome; i++)
	{
		size_t		move = b->order[i];
		int64_t		needed = (int64_t) moves[move].size;

		if (left < needed && owner != TSA_NO_MOVE && left <= spare)
		{
			spare -= left;
			left = 0;
		}
		for (;;)
		{
			if (left > 0 && owner != TSA_NO_MOVE && needed > 0)
			{
				join(b, move, owner);
				if (moves[owner].makes_room_for == TSA_NO_MOVE)
					moves[owner].makes_room_for = move;
			}
			if (left >= needed || next == ngo)
				break;
			needed -= left > 0 ? left : 0;
			owner = b->scratch[next++];
			left = (int64_t) moves[owner].freed;
		}
		left -= needed;
	}
}

/* Sorts all moves by bundle, those that make room for others first. */
static void
sort_by_bundle(Bundler *b, SortKey *keys)
{
	for (size_t i = 0; i < b->p->n; i++)
	{
		const TsaBundleMove *m = &b->p->moves[i];

		keys[i].first = (int) root_of(b, i);
		keys[i].second = m->saved < 0 ? 1e300 : per_byte(m->saved, m->size);
		keys[i].move = i;
	}
	sort_moves(keys, b->p->n, b->order);
}

/* The end of the bundle that begins at a position of the order. */
static size_t
end_of_bundle(const Bundler *b, size_t begin)
{
	size_t		end = begin + 1;

	while (end < b->p->n &&
		   root_of(b, b->order[end]) == root_of(b, b->order[begin]))
		end++;
	return end;
}

/*
 * Whether the saving of moves of so many bytes is too little beside the time
 * of reading: less than min_percent of it, unless it is min_dense_percent and
 * more than the share of the bytes of all that is read.  read_bytes 0: not
 * known.
 */
bool
tsa_gains_too_little(double saved, double bytes, double read_ms,
					 double read_bytes, double min_percent,
					 double min_dense_percent)
{
	double		percent = read_ms > 0 ? 100 * saved / read_ms :
	saved > 0 ? 100 : 0;

	return percent < min_percent &&
		(percent < min_dense_percent || read_bytes <= 0 ||
		 percent < 100 * bytes / read_bytes);
}

/*
 * Whether a bundle is worth it.  saved_per_byte is its saving over its bytes;
 * one without which a tablespace stays too full is worth it anyhow.
 */
static TsaBundleVerdict
judge(const Bundler *b, size_t begin, size_t end, double *saved_per_byte)
{
	double		saved = 0;
	double		seconds = 0;
	double		bytes = 0;
	uint64_t	moved = 0;

	*saved_per_byte = 1e300;
	for (size_t i = begin; i < end; i++)
	{
		const TsaBundleMove *m = &b->p->moves[b->order[i]];

		if (m->is_relief)
			return TSA_BUNDLE_MADE;
		saved += m->saved;
		seconds += m->seconds;
		moved += m->size;
		if (m->saved > 0)
			bytes += (double) m->size;
	}
	*saved_per_byte = per_byte(saved, moved);
	if (saved <= 0)
		return TSA_BUNDLE_TOO_LITTLE;
	if (tsa_gains_too_little(saved, bytes, b->p->read_ms, b->p->read_bytes,
							 b->p->min_percent, b->p->min_dense_percent))
		return TSA_BUNDLE_TOO_LITTLE;
	if (saved / 1000 * b->p->repaid_s < seconds)
		return TSA_BUNDLE_NOT_REPAID;
	return TSA_BUNDLE_MADE;
}

/*
 * Makes the moves of a bundle in an order in which each fits; false, and
 * nothing is made, if there is none.  made: how many moves were before.
 */
static bool
order_bundle(Bundler *b, size_t begin, size_t end, int made)
{
	int			before = made;
	int			last = -1;

	while (made - before < (int) (end - begin) && last != made)
	{
		last = made;
		for (size_t i = begin; i < end; i++)
		{
			TsaBundleMove *m = &b->p->moves[b->order[i]];

			if (m->rank > 0 || b->free[m->to_room] < (int64_t) m->size)
				continue;
			b->free[m->to_room] -= (int64_t) m->size;
			b->free[m->from_room] += (int64_t) m->freed;
			m->rank = ++made;
		}
	}
	if (made - before == (int) (end - begin))
		return true;
	for (size_t i = begin; i < end; i++)
	{
		TsaBundleMove *m = &b->p->moves[b->order[i]];

		if (m->rank == 0)
			continue;
		b->free[m->to_room] += (int64_t) m->size;
		b->free[m->from_room] -= (int64_t) m->freed;
		m->rank = 0;
	}
	return false;
}

/* Notes the verdict on moves from "begin" to before "end" of the order. */
static void
set_results(Bundler *b, size_t begin, size_t end, TsaBundleVerdict verdict,
			int bundle)
{
	for (size_t i = begin; i < end; i++)
	{
		b->p->moves[b->order[i]].verdict = verdict;
		b->p->moves[b->order[i]].bundle = bundle;
	}
}

/*
 * Judges all bundles and makes those that are worth it, the largest saving per
 * byte first; one that does not fit yet is tried again when others are made.
 */
static void
make_bundles(Bundler *b, SortKey *keys)
{
	size_t		nbundles = 0;
	int			made = 0;
	int			bundle = 0;
	bool		again = true;

	for (size_t begin = 0; begin < b->p->n;)
	{
		size_t		end = end_of_bundle(b, begin);
		double		saved_per_byte;
		TsaBundleVerdict verdict = judge(b, begin, end, &saved_per_byte);

		set_results(b, begin, end, verdict, 0);
		if (verdict == TSA_BUNDLE_MADE)
		{
			keys[nbundles].first = 0;
			keys[nbundles].second = saved_per_byte;
			keys[nbundles++].move = begin;
		}
		begin = end;
	}
	sort_moves(keys, nbundles, b->scratch);
	while (again)
	{
		again = false;
		for (size_t i = 0; i < nbundles; i++)
		{
			size_t		begin = b->scratch[i];
			size_t		end;

			if (begin == TSA_NO_MOVE)
				continue;
			end = end_of_bundle(b, begin);
			if (!order_bundle(b, begin, end, made))
				continue;
			made += (int) (end - begin);
			set_results(b, begin, end, TSA_BUNDLE_MADE, ++bundle);
			b->scratch[i] = TSA_NO_MOVE;
			again = true;
		}
	}
	for (size_t i = 0; i < nbundles; i++)
	{
		if (b->scratch[i] != TSA_NO_MOVE)
			set_results(b, b->scratch[i], end_of_bundle(b, b->scratch[i]),
						TSA_BUNDLE_NO_ROOM, 0);
	}
}

/* Groups moves, judges the groups and ranks the moves to be made. */
bool
tsa_bundle_moves(const TsaBundleProblem *problem)
{
	Bundler		b = {.p = problem};
	size_t		n = problem->n + 1;
	SortKey    *keys = malloc(n * sizeof(SortKey));
	bool		done = false;

	b.parent = malloc(n * sizeof(size_t));
	b.order = malloc(n * sizeof(size_t));
	b.scratch = malloc(n * sizeof(size_t));
	b.free = malloc((size_t) (problem->nrooms + 1) * sizeof(int64_t));
	if (keys && b.parent && b.order && b.scratch && b.free)
	{
		for (size_t i = 0; i < problem->n; i++)
		{
			b.parent[i] = i;
			problem->moves[i].rank = 0;
			problem->moves[i].bundle = 0;
			problem->moves[i].is_relief = false;
			problem->moves[i].makes_room_for = TSA_NO_MOVE;
		}
		for (int k = 0; k < problem->nrooms; k++)
		{
			b.free[k] = problem->free[k];
			share_room(&b, k, keys);
		}
		sort_by_bundle(&b, keys);
		make_bundles(&b, keys);
		done = true;
	}
	free(keys);
	free(b.parent);
	free(b.order);
	free(b.scratch);
	free(b.free);
	return done;
}
