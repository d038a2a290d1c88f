/*-------------------------------------------------------------------------
 *
 * subtransaction.h
 *	  What may fail without ending its transaction.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_SUBTRANSACTION_H
#define TSA_SUBTRANSACTION_H

#include "postgres.h"

typedef void (*TsaAction) (void *arg);

extern ErrorData *tsa_try(TsaAction action, void *arg);

#endif							/* TSA_SUBTRANSACTION_H */
