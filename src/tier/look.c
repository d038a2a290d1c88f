/*-------------------------------------------------------------------------
 *
 * look.c
 *	  tablespace_advisor.relations_in(), object_settings() and moves_of(): the
 *	  relations of any database in a tablespace, settings of its objects, and
 *	  its moves.
 *
 * Catalogs can be read in one's own database only.  For another one a worker
 * connects there, whether the extension is there or not and whether the
 * database takes connections or not, reads its catalogs
 * (tablespace_relations.c), and sends the rows through a queue in shared
 * memory.  It has no other duty and ends with the last row, or when the reader
 * goes away.  A database that is dropped meanwhile has no rows.
 *
 * Moves and parallel queries need worker slots, too.  So no more than a part of
 * them is for looks, of all sessions together, and a session that finds these
 * places taken waits for one.  A place is taken for one database at a time.
 * Meanwhile nothing is sent to a client, and locks of others are waited for no
 * longer than LOCK_TIMEOUT.
 *
 * A worker runs no event triggers for login: those belong to clients.
 *
 * A message is a row: for each column four bytes of length, -1 for null, and
 * the text, in the encoding of the reader's database.  A message of one byte
 * tells that all rows have been sent.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "commands/dbcommands.h"
#include "common/string.h"
#include "catalog/pg_database.h"
#include "fmgr.h"
#include "funcapi.h"
#include "libpq/pqsignal.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/dsm.h"
#include "storage/ipc.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "storage/shm_mq.h"
#include "tcop/tcopprot.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "state/background_worker.h"
#include "state/lock_class.h"
#include "state/printable.h"
#include "tier/rows.h"

/* which the server finds by its name */
extern PGDLLEXPORT void tsa_look_worker_main(Datum arg);

PG_FUNCTION_INFO_V1(tsa_relations_in);
PG_FUNCTION_INFO_V1(tsa_routine_settings);
PG_FUNCTION_INFO_V1(tsa_moves_of);
PG_FUNCTION_INFO_V1(tsa_is_database_locked);

#define QUEUE_BYTES		65536

/* A lock of another database is not waited for longer. */
#define LOCK_TIMEOUT	"10s"

/* One of so many worker slots is for looks. */
#define SLOTS_PER_LOOK	4

/* The rows that are looked for. */
typedef enum LookFor
{
	LOOK_FOR_RELATIONS, LOOK_FOR_SETTINGS, LOOK_FOR_MOVES
} LookFor;

/* A worker's arguments, in bgw_extra. */
typedef struct LookArgs
{
	LookFor		what;
	Oid			database;
	Oid			tablespace;		/* of relations */
	TimestampTz since;			/* of moves */
	int			ncolumns;
	int			encoding;		/* of the reader's database */
	dsm_handle	segment;
} LookArgs;

/* The end of a queue that rows are sent to. */
typedef struct RowSender
{
	shm_mq_handle *queue;
	int			ncolumns;
	int			encoding;
	StringInfoData message;
} RowSender;

/*
 * Sends the message that has been put together; the reader's going away ends
 * the worker.
 */
static void
send_message(RowSender *sender)
{
	shm_mq_result result = shm_mq_send(sender->queue, sender->message.len,
									   sender->message.data, false, true);

	if (result != SHM_MQ_SUCCESS)
		proc_exit(0);
}

/*
 * A text of this database in another encoding; a character without a place
 * there becomes a question mark.
 */
static char *
convert(char *text, int encoding)
{
	int			own = GetDatabaseEncoding();
	int			length = strlen(text);
	Oid			conversion;

	if (own == encoding || encoding == PG_SQL_ASCII || pg_is_ascii(text) ||
		(own == PG_SQL_ASCII &&
		 pg_verify_mbstr(encoding, text, length, true)))
		return text;

	conversion = FindDefaultConversionProc(own, encoding);
	if (OidIsValid(conversion))
	{
		int			size = length * MAX_CONVERSION_GROWTH + 1;
		char	   *converted = palloc(size);

		if (pg_do_encoding_conversion_buf(conversion, own, encoding,
										  (unsigned char *) text, length,
										  (unsigned char *) converted, size,
										  true) == length)
			return converted;
	}
	for (char *c = text; *c != '\0'; c++)
		if (IS_HIGHBIT_SET(*c))
			*c = '?';
	return text;
}

/* Sends a row of texts in the reader's encoding; NULL has the length -1. */
static void
send_row(char **values, void *arg)
{
	RowSender  *sender = arg;

	resetStringInfo(&sender->message);
	for (int i = 0; i < sender->ncolumns; i++)
	{
		char	   *text = values[i] == NULL ? NULL :
		convert(values[i], sender->encoding);
		int32		length = text == NULL ? -1 : (int32) strlen(text);

		appendBinaryStringInfo(&sender->message, (char *) &length,
							   sizeof(length));
		if (length > 0)
			appendBinaryStringInfo(&sender->message, text, length);
	}
	send_message(sender);
}

/* The rows of this database that a function wants. */
static void
find_rows(const LookArgs *args, TsaRowReceiver receive, void *arg)
{
	switch (args->what)
	{
		case LOOK_FOR_RELATIONS:
			tsa_find_relations(args->tablespace, receive, arg);
			break;
		case LOOK_FOR_SETTINGS:
			tsa_find_settings(receive, arg);
			break;
		case LOOK_FOR_MOVES:
			tsa_find_moves(args->since, receive, arg);
			break;
	}
}

/*
 * Main function of a worker that reads the catalogs of its database and sends
 * the rows.
 */
void
tsa_look_worker_main(Datum arg pg_attribute_unused())
{
	const TsaWorkerSettings settings = {LOCK_TIMEOUT, "off", "on"};
	LookArgs	args;
	RowSender	sender;
	dsm_segment *segment;
	shm_mq	   *queue;

	memcpy(&args, MyBgworkerEntry->bgw_extra, sizeof(args));
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	segment = dsm_attach(args.segment);
	if (segment == NULL)
		proc_exit(0);			/* the reader has gone already */
	queue = dsm_segment_address(segment);
	shm_mq_set_sender(queue, MyProc);
	sender.queue = shm_mq_attach(queue, segment, NULL);
	sender.ncolumns = args.ncolumns;
	sender.encoding = args.encoding;

	tsa_connect_worker(args.database, BGWORKER_BYPASS_ALLOWCONN, &settings);
	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	initStringInfo(&sender.message);
	find_rows(&args, send_row, &sender);
	resetStringInfo(&sender.message);
	appendStringInfoChar(&sender.message, '.');
	send_message(&sender);
	CommitTransactionCommand();
}

/* Starts a worker that sends to the queue in the segment. */
static BackgroundWorkerHandle *
start_worker(const LookArgs *args)
{
	BackgroundWorker worker =
	tsa_describe_worker("tsa_look_worker_main", "tablespace_advisor look");
	BackgroundWorkerHandle *handle;

	worker.bgw_start_time = BgWorkerStart_ConsistentState;
	snprintf(worker.bgw_name, BGW_MAXLEN, "tablespace_advisor look for %d",
			 MyProcPid);
	memcpy(worker.bgw_extra, args, sizeof(*args));
	if (!RegisterDynamicBackgroundWorker(&worker, &handle))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("could not start a background worker to look into another database"),
				 errdetail("No worker slot is free."),
				 errhint("You might need to increase \"max_worker_processes\".")));
	return handle;
}

/* Where rows go to. */
typedef struct RowStore
{
	ReturnSetInfo *result;
	AttInMetadata *input;
	MemoryContext context;		/* emptied after each row */
} RowStore;

/* Adds a row to the function's result. */
static void
store_row(char **values, void *arg)
{
	RowStore   *store = arg;
	MemoryContext old = MemoryContextSwitchTo(store->context);

	tuplestore_puttuple(store->result->setResult,
						BuildTupleFromCStrings(store->input, values));
	MemoryContextSwitchTo(old);
	MemoryContextReset(store->context);
}

/* Takes a message apart into a row; false if it is the one that ends it all. */
static bool
take_message(const char *data, Size nbytes, RowStore *store)
{
	int			ncolumns = store->result->setDesc->natts;
	char	  **values;
	const char *end = data + nbytes;
	MemoryContext old;

	if (nbytes == 1)
		return false;
	old = MemoryContextSwitchTo(store->context);
	values = palloc0(sizeof(char *) * ncolumns);
	for (int i = 0; i < ncolumns; i++)
	{
		int32		length;

		Assert(data + sizeof(length) <= end);
		memcpy(&length, data, sizeof(length));
		data += sizeof(length);
		if (length < 0)
			continue;
		Assert(data + length <= end);
		values[i] = pnstrdup(data, length);
		data += length;
	}
	MemoryContextSwitchTo(old);
	store_row(values, store);
	return data <= end;
}

/*
 * Reads the messages of a worker; false if it ended before it had sent it all.
 */
static bool
read_rows(shm_mq_handle *queue, RowStore *store)
{
	for (;;)
	{
		Size		nbytes;
		void	   *data;

		if (shm_mq_receive(queue, &nbytes, &data, false) != SHM_MQ_SUCCESS)
			return false;
		if (!take_message(data, nbytes, store))
			return true;
	}
}

/*
 * Takes a place among the sessions with workers that look, and waits for one
 * if there is none.  Place: the lock to release; else it goes with the
 * transaction.
 */
static void
take_place(LOCKTAG *place)
{
	int			nplaces = Max(max_worker_processes / SLOTS_PER_LOOK, 1);

	for (int i = 0; i < nplaces; i++)
	{
		SET_LOCKTAG_ADVISORY(*place, InvalidOid, i, 0, TSA_LOCK_LOOK);
		if (LockAcquire(place, ExclusiveLock, false, true) !=
			LOCKACQUIRE_NOT_AVAIL)
			return;
	}
	SET_LOCKTAG_ADVISORY(*place, InvalidOid, MyProcPid % nplaces, 0,
						 TSA_LOCK_LOOK);
	(void) LockAcquire(place, ExclusiveLock, false, false);
}

/* Has a worker look into a database. */
static void
look_elsewhere(const LookArgs *what, RowStore *store)
{
	Oid			database = what->database;
	dsm_segment *segment = dsm_create(QUEUE_BYTES, 0);
	shm_mq	   *queue = shm_mq_create(dsm_segment_address(segment),
									  QUEUE_BYTES);
	LookArgs	args = *what;
	BackgroundWorkerHandle *handle;
	shm_mq_handle *queue_handle;
	volatile bool complete = false;
	LOCKTAG		place;
	char	   *name;

	take_place(&place);
	shm_mq_set_receiver(queue, MyProc);
	args.ncolumns = store->result->setDesc->natts;
	args.encoding = GetDatabaseEncoding();
	args.segment = dsm_segment_handle(segment);
	handle = start_worker(&args);
	PG_TRY();
	{
		queue_handle = shm_mq_attach(queue, segment, handle);
		complete = read_rows(queue_handle, store);
	}
	PG_CATCH();
	{
		TerminateBackgroundWorker(handle);
		PG_RE_THROW();
	}
	PG_END_TRY();
	dsm_detach(segment);
	(void) WaitForBackgroundWorkerShutdown(handle);
	(void) LockRelease(&place, ExclusiveLock, false);
	AcceptInvalidationMessages();
	name = get_database_name(database);
	if (!complete && name != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_CONNECTION_FAILURE),
				 errmsg("could not look into database \"%s\"",
						tsa_printable_text(name)),
				 errhint("Somebody may have locked it. More details may be available in the server log.")));
}

/*
 * Returns rows of a database, with so many columns.  Called by functions of
 * this stage, as a superuser.
 */
static Datum
return_rows(FunctionCallInfo fcinfo, const LookArgs *args,
			int ncolumns PG_USED_FOR_ASSERTS_ONLY)
{
	RowStore	store;

	InitMaterializedSRF(fcinfo, 0);
	store.result = (ReturnSetInfo *) fcinfo->resultinfo;
	/* functions of 1.0, before ALTER EXTENSION UPDATE, may have fewer */
	Assert(store.result->setDesc->natts <= ncolumns);
	store.input = TupleDescGetAttInMetadata(store.result->setDesc);
	store.context = AllocSetContextCreate(CurrentMemoryContext, "row",
										  ALLOCSET_DEFAULT_SIZES);
	if (args->database == MyDatabaseId)
		find_rows(args, store_row, &store);
	else
		look_elsewhere(args, &store);
	return (Datum) 0;
}

/* The relations of a database in a tablespace. */
Datum
tsa_relations_in(PG_FUNCTION_ARGS)
{
	LookArgs	args = {.what = LOOK_FOR_RELATIONS,
		.tablespace = PG_GETARG_OID(0),.database = PG_GETARG_OID(1)
	};

	return return_rows(fcinfo, &args, TSA_RELATION_COLUMNS);
}

/* The settings of a database's routines and hypertables that name one. */
Datum
tsa_routine_settings(PG_FUNCTION_ARGS)
{
	LookArgs	args = {.what = LOOK_FOR_SETTINGS,
		.database = PG_GETARG_OID(0)
	};

	return return_rows(fcinfo, &args, TSA_SETTING_COLUMNS);
}

/* The moves of a database that have not ended, or not long ago. */
Datum
tsa_moves_of(PG_FUNCTION_ARGS)
{
	LookArgs	args = {.what = LOOK_FOR_MOVES,
		.database = PG_GETARG_OID(0),.since = PG_GETARG_TIMESTAMPTZ(1)
	};

	return return_rows(fcinfo, &args, TSA_MOVE_ROW_COLUMNS);
}

/*
 * Does somebody wait to have a catalog of a database alone, so that all others
 * wait behind?  Its owner can, by VACUUM FULL beside a transaction that has
 * not ended.  A session that has it alone is waited for.
 */
static bool
awaits_catalog(Oid database)
{
	LockData   *locks = GetLockStatusData();
	bool		found = false;

	for (int i = 0; i < locks->nelements && !found; i++)
	{
		const LockInstanceData *lock = &locks->locks[i];

		found = lock->locktag.locktag_type == LOCKTAG_RELATION &&
			lock->locktag.locktag_field1 == database &&
			lock->locktag.locktag_field2 < FirstNormalObjectId &&
			lock->waitLockMode == AccessExclusiveLock;
	}
	pfree(locks->locks);
	pfree(locks);
	return found;
}

/*
 * Is there a lock on a database, or in another one on a catalog, that a worker
 * would have to wait for?  Keeps none.
 */
Datum
tsa_is_database_locked(PG_FUNCTION_ARGS)
{
	LOCKTAG		tag;
	Oid			database = PG_GETARG_OID(0);

	SET_LOCKTAG_OBJECT(tag, InvalidOid, DatabaseRelationId, database, 0);
	if (LockAcquire(&tag, RowExclusiveLock, false, true) ==
		LOCKACQUIRE_NOT_AVAIL)
		PG_RETURN_BOOL(true);
	LockRelease(&tag, RowExclusiveLock, false);
	PG_RETURN_BOOL(database != MyDatabaseId && awaits_catalog(database));
}
