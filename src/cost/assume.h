/*-------------------------------------------------------------------------
 *
 * assume.h
 *	  Planning as if relations lived elsewhere, advice as if there were other
 *	  tablespaces.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_ASSUME_H
#define TSA_ASSUME_H

#include "nodes/pathnodes.h"

extern void tsa_init_assume(void);
extern void tsa_assume_placements(Oid relid, RelOptInfo *rel);
extern void tsa_forget_tablespaces(void);

#endif							/* TSA_ASSUME_H */
