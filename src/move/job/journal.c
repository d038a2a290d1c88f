/*-------------------------------------------------------------------------
 *
 * journal.c
 *	  Access to the journal of moves, tablespace_advisor.job.
 *
 * Statements are constants, their plans are saved, and state.c sees to it that
 * no code but the server's runs with the rights that they need.  A worker keeps
 * the lock on the journal for its life, and so looks but once whether it is the
 * extension's and of this library's version (journal_kept).
 *
 * Whatever the isolation level of the caller's transaction, statements see what
 * is committed and wait for rows as under READ COMMITTED: a row that a worker
 * has changed since the caller's snapshot would be an error otherwise, and the
 * caller could not cancel its jobs.
 *
 * An error leaves user, settings and snapshot to the abort of the caller's
 * transaction, which restores all three.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/snapmgr.h"

#include "move/common/sleep.h"
#include "move/job/journal.h"
#include "state/state.h"

/* Between tries to lock the extension's tables. */
#define LOCK_RETRY_MS	10

/*
 * Does this process hold the lock on the journal, at session level, and has it
 * found all as it should be since?
 */
static bool journal_kept = false;
static bool journal_checked = false;

/*
 * Locks the journal against DROP EXTENSION, at session level; false if there
 * is none.  In a transaction.  To be done again after each abort, which
 * releases session-level locks as well.
 *
 * The requests are locked, too: DROP EXTENSION may have that lock and
 * wait for the journal.  Whoever holds the one must not wait for the other.
 */
bool
tsa_keep_journal(void)
{
	LockRelId	journal = {.dbId = MyDatabaseId};
	LockRelId	request = {.dbId = MyDatabaseId};

	for (;;)
	{
		journal.relId = tsa_state_lock("job", AccessShareLock);
		if (!OidIsValid(journal.relId))
			return false;
		request.relId = tsa_state_try_lock("request", AccessShareLock);
		if (OidIsValid(request.relId) || !tsa_state_is_current())
			break;
		UnlockRelationOid(journal.relId, AccessShareLock);
		tsa_sleep(LOCK_RETRY_MS);
	}
	LockRelationIdForSession(&journal, AccessShareLock);
	if (OidIsValid(request.relId))
		LockRelationIdForSession(&request, AccessShareLock);
	journal_kept = true;
	journal_checked = false;
	return true;
}

/*
 * That lock is lost.
 */
void
tsa_lose_journal(void)
{
	journal_kept = false;
	journal_checked = false;
}

/*
 * Throws unless the journal is there and of this library's version.
 */
static void
check_journal(void)
{
	if (journal_checked)
		return;
	tsa_state_check("job", AccessShareLock);
	journal_checked = journal_kept;
}

/*
 * Takes on the journal's rights, with a snapshot of now and an SPI connection.
 */
void
tsa_journal_open(TsaJournal *journal)
{
	check_journal();
	tsa_state_open(journal);
	PushActiveSnapshot(GetLatestSnapshot());
	SPI_connect();
}

/* Undoes tsa_journal_open(). */
void
tsa_journal_close(TsaJournal *journal)
{
	SPI_finish();
	PopActiveSnapshot();
	tsa_state_close(journal);
}

/*
 * Prepares a statement for good.
 */
static void
prepare(TsaJournalQuery *query, const char *sql, int nargs, Oid *types)
{
	SPIPlanPtr	plan = SPI_prepare(sql, nargs, types);

	if (plan == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg_internal("SPI_prepare failed: %s",
								 SPI_result_code_string(SPI_result))));
	SPI_keepplan(plan);
	query->plan = plan;
}

/*
 * Runs a prepared statement; returns the number of rows.
 */
static uint64
execute(const TsaJournalQuery *query, Datum *values, const char *nulls,
		bool read_only)
{
	int			level = XactIsoLevel;
	int			rc;

	PG_TRY();
	{
		XactIsoLevel = XACT_READ_COMMITTED;
		rc = SPI_execute_snapshot(query->plan, values, nulls,
								  GetLatestSnapshot(), InvalidSnapshot,
								  read_only, true, 0);
	}
	PG_FINALLY();
	{
		XactIsoLevel = level;
	}
	PG_END_TRY();
	if (rc < 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg_internal("SPI_execute_snapshot failed: %s",
								 SPI_result_code_string(rc))));
	return SPI_processed;
}

/*
 * Runs a statement in an open journal; returns the number of rows.
 */
uint64
tsa_journal_run(TsaJournalQuery *query, Datum *values, const char *nulls,
				bool read_only)
{
	if (query->plan == NULL)
		prepare(query, query->sql, query->nargs, query->types);
	return execute(query, values, nulls, read_only);
}

/*
 * The statement with numbers in the place of names.
 */
static char *
number_parameters(const char *sql, const TsaJournalArg *args, int nargs)
{
	StringInfoData numbered;

	initStringInfo(&numbered);
	while (*sql != '\0')
	{
		size_t		len = strspn(sql + 1, "abcdefghijklmnopqrstuvwxyz_0123456789");
		int			i = 0;

		if (sql[0] != ':' || len == 0)
		{
			/* a cast is no parameter */
			if (sql[0] == ':' && sql[1] == ':')
				appendStringInfoChar(&numbered, *sql++);
			appendStringInfoChar(&numbered, *sql++);
			continue;
		}
		while (i < nargs && (strlen(args[i].name) != len ||
							 strncmp(args[i].name, sql + 1, len) != 0))
			i++;
		if (i == nargs)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg_internal("unknown parameter in \"%s\"", sql)));
		appendStringInfo(&numbered, "$%d", i + 1);
		sql += 1 + len;
	}
	return numbered.data;
}

/*
 * The same for a statement with named parameters.
 */
uint64
tsa_journal_run_named(TsaJournalQuery *query, const TsaJournalArg *args,
					  int nargs, bool read_only)
{
	Datum		values[TSA_MAX_QUERY_ARGS];
	char		nulls[TSA_MAX_QUERY_ARGS];
	Oid			types[TSA_MAX_QUERY_ARGS];

	Assert(nargs <= TSA_MAX_QUERY_ARGS);
	for (int i = 0; i < nargs; i++)
	{
		values[i] = args[i].value;
		nulls[i] = args[i].isnull ? 'n' : ' ';
		types[i] = args[i].type;
	}
	if (query->plan == NULL)
		prepare(query, number_parameters(query->sql, args, nargs), nargs,
				types);
	return execute(query, values, nulls, read_only);
}

/*
 * Opens the journal for one statement that changes it; returns its rows.
 */
uint64
tsa_journal_update(TsaJournalQuery *query, Datum *values, const char *nulls)
{
	TsaJournal	journal;
	uint64		rows;

	tsa_journal_open(&journal);
	rows = tsa_journal_run(query, values, nulls, false);
	tsa_journal_close(&journal);
	return rows;
}

/*
 * The same for one that is not to read all of it, see tsa_state_use_indexes().
 */
uint64
tsa_journal_update_by_index(TsaJournalQuery *query, Datum *values)
{
	TsaJournal	journal;
	uint64		rows;

	tsa_journal_open(&journal);
	tsa_state_use_indexes();
	rows = tsa_journal_run(query, values, NULL, false);
	tsa_journal_close(&journal);
	return rows;
}

/*
 * The same for a statement with named parameters.
 */
uint64
tsa_journal_update_named(TsaJournalQuery *query, const TsaJournalArg *args,
						 int nargs)
{
	TsaJournal	journal;
	uint64		rows;

	tsa_journal_open(&journal);
	rows = tsa_journal_run_named(query, args, nargs, false);
	tsa_journal_close(&journal);
	return rows;
}

/*
 * A column of the last result, by its name.
 */
static int
column_number(const char *name)
{
	int			number = SPI_fnumber(SPI_tuptable->tupdesc, name);

	if (number <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg_internal("the result has no column \"%s\"", name)));
	return number;
}

/*
 * A value of the last result; 0 when it is NULL.
 */
Datum
tsa_journal_column(uint64 row, const char *name)
{
	bool		isnull;
	Datum		datum = SPI_getbinval(SPI_tuptable->vals[row],
									  SPI_tuptable->tupdesc,
									  column_number(name), &isnull);

	return isnull ? (Datum) 0 : datum;
}

/*
 * The same as a string; NULL when it is NULL.
 */
char *
tsa_journal_text(uint64 row, const char *name)
{
	return SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc,
						column_number(name));
}
