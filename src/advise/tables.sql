/*
 * advise: relations that are to stay where they are.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE TABLE tablespace_advisor.placement_pin (
	relation oid PRIMARY KEY,
	reason text,
	pinned_by oid NOT NULL,
	pinned_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	ends_at timestamptz
);
