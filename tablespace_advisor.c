/*-------------------------------------------------------------------------
 *
 * tablespace_advisor.c
 *	  Module entry point: module magic, configuration parameters, hooks and
 *	  worker registration.  Everything else lives in src/, one folder per
 *	  stage: state, probe, size, sample, cost, advise, move, tier.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/guc.h"

#include "move/copy/live_copy.h"
#include "move/copy/others.h"
#include "move/copy/throttle.h"
#include "move/worker/launcher.h"
#include "move/worker/wal_compression.h"
#include "probe/probe.h"
#include "sample/worker.h"
#include "state/state.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

void
_PG_init(void)
{
	tsa_state_init();
	tsa_probe_init();
	tsa_sample_init();
	tsa_live_copy_init();
	tsa_others_init();
	tsa_wal_compression_init();
	tsa_manners_init();
	tsa_restart_init();
	MarkGUCPrefixReserved("tablespace_advisor");
}
