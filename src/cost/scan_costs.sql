/* Copyright (c) 2026, The tablespace_advisor developers */

/* src/cost/scan_costs.sql */

CREATE FUNCTION tablespace_advisor.predict_scan_costs(
	table_pages float8,
	table_tuples float8,
	all_visible float8,
	index_pages float8,
	index_tuples float8,
	tree_height int,
	correlation float8,
	selectivity float8,
	table_random_page_cost float8,
	table_seq_page_cost float8,
	index_random_page_cost float8,
	OUT seq_scan float8,
	OUT index_scan float8,
	OUT index_only_scan float8,
	OUT bitmap_index_scan float8,
	OUT bitmap_heap_scan float8)
LANGUAGE C STABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'predict_scan_costs';
COMMENT ON FUNCTION tablespace_advisor.predict_scan_costs IS
	'the planner''s cost, in its own units and with the other settings of this session, for a scan of a table by one comparison with the first column of a B-tree; all_visible and selectivity are shares of 1, tree_height is 0 when the root is a leaf';
