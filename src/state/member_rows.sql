/* Copyright (c) 2026, The tablespace_advisor developers */

/* Rows of other extensions' tables. */

CREATE FUNCTION tablespace_advisor.member_rows(
	extension name, table_name name, columns name[], OUT fields text[])
RETURNS SETOF text[]
AS 'MODULE_PATHNAME', 'tsa_member_rows'
LANGUAGE C STRICT STABLE ROWS 100;
COMMENT ON FUNCTION tablespace_advisor.member_rows(name, name, name[]) IS
	'columns, as text, of the rows of a table that is another extension''s own, OIDs for names of relations and types; no rows where there is no such table, a column is missing or is not of one of the server''s common types';

CREATE FUNCTION tablespace_advisor.has_member_columns(
	extension name, table_name name, columns name[])
RETURNS boolean
AS 'MODULE_PATHNAME', 'tsa_has_member_columns'
LANGUAGE C STRICT STABLE;
COMMENT ON FUNCTION tablespace_advisor.has_member_columns(name, name, name[]) IS
	'whether member_rows() can read these columns of such a table';
