/* Copyright (c) 2026, The tablespace_advisor developers */

/* Texts that others can write, as far as they are read: src/state/bounded.c. */
CREATE FUNCTION tablespace_advisor.short_tree(tree pg_node_tree)
RETURNS pg_node_tree
AS 'MODULE_PATHNAME', 'tsa_short_tree'
LANGUAGE C IMMUTABLE STRICT;
COMMENT ON FUNCTION tablespace_advisor.short_tree(pg_node_tree) IS
	'an expression of at most 8 kB; NULL instead of a longer one, which is not read';

CREATE FUNCTION tablespace_advisor.read_settings(
	settings text[], OUT name text, OUT value text, OUT is_cut boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'tsa_read_settings_sql'
LANGUAGE C IMMUTABLE STRICT ROWS 2;
COMMENT ON FUNCTION tablespace_advisor.read_settings(text[]) IS
	'the settings or options in the first 8 kB of an array of them. is_cut: the rest of the value was not read, or (name is NULL) the rest of the settings';

CREATE FUNCTION tablespace_advisor.reset_setting(name name)
RETURNS text
AS 'MODULE_PATHNAME', 'tsa_reset_setting'
LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION tablespace_advisor.reset_setting(name) IS
	'the first 8 kB of the value that RESET gives to a configuration parameter';

/* pg_settings copies the values of all parameters, of any length. */
CREATE FUNCTION tablespace_advisor.setting_source(name name)
RETURNS text
AS 'MODULE_PATHNAME', 'tsa_setting_source'
LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION tablespace_advisor.setting_source(name) IS
	'pg_settings.source of a configuration parameter';

GRANT EXECUTE ON FUNCTION
	tablespace_advisor.short_tree, tablespace_advisor.read_settings,
	tablespace_advisor.setting_source TO pg_monitor;
