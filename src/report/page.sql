/*
 * src/report/page.sql
 *
 * The elements of every part of the page, and its frame; the page as a whole
 * is in report.sql.  It loads nothing and runs no script; text from names and
 * messages goes through html().
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION tablespace_advisor.table_row(cells text[], kinds text, tag text DEFAULT 'td')
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT '<tr>' || string_agg(format('<%s%s>%s</%s>', tag,
		CASE substr(kinds, c.n::int, 1) WHEN 'n' THEN ' class="n"' WHEN 'c' THEN ' class="c"'
			WHEN 'w' THEN ' class="w"' WHEN 'd' THEN ' class="d"'
			WHEN 'l' THEN ' class="l"' ELSE '' END,
		CASE WHEN substr(kinds, c.n::int, 1) = 'w'
			THEN regexp_replace(tablespace_advisor.html(c.cell), '([._])(?=[[:alpha:]&])', E'\\1<wbr/>', 'g')
			ELSE tablespace_advisor.html(c.cell) END, tag), '' ORDER BY c.n) || '</tr>'
	FROM unnest(cells) WITH ORDINALITY c (cell, n)
$$;
COMMENT ON FUNCTION tablespace_advisor.table_row(text[], text, text) IS
	'a row of a table in a page; kinds: a letter for each cell, n for numbers, c for statements, w for names (broken after points and underscores, or else anywhere), d for unbroken text, l for long text, t for text';

CREATE FUNCTION tablespace_advisor.page_table(heads text[], kinds text, rows text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce('<div class="wide"><table>'
		|| coalesce('<thead>' || tablespace_advisor.table_row(heads, kinds, 'th') || '</thead>', '')
		|| '<tbody>' || rows || '</tbody></table></div>', '')
$$;
COMMENT ON FUNCTION tablespace_advisor.page_table(text[], text, text) IS
	'a table in a page, of the rows of table_row(), with a head unless heads is NULL; nothing without rows';

CREATE FUNCTION tablespace_advisor.page_section(title text, sentence text, body text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('<section><h2>%s</h2><p class="says">%s</p>%s</section>', tablespace_advisor.html(title),
		replace(tablespace_advisor.html(sentence), ' %', '&#160;%'), body)
$$;
COMMENT ON FUNCTION tablespace_advisor.page_section(text, text, text) IS
	'a part of the page: its title, its subject in a sentence, pictures and tables';

CREATE FUNCTION tablespace_advisor.short_name(name text, width int DEFAULT 34)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE WHEN length(name) <= w.width THEN name
		ELSE left(name, w.width - 9) || '...' || right(name, 6) END
	/* capitals and other scripts are up to twice as wide */
	FROM (SELECT CASE WHEN name ~ '[A-Z]{8}|[^ -~]{4}' THEN $2 / 2 ELSE $2 END AS width) w
$$;
COMMENT ON FUNCTION tablespace_advisor.short_name(text, int) IS
	'a name that fits beside a picture, beginning and end of it if it is long';

/* Six lines of a picture have colours; where there are no more tablespaces, theirs. */
CREATE FUNCTION tablespace_advisor.colour_of(drawn name[], tablespace name)
RETURNS bigint
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT array_position(CASE WHEN count(*) <= 6 THEN array_agg(t.spcname ORDER BY t.oid)
		ELSE drawn END, $2) - 1
	FROM pg_tablespace t WHERE t.spcname <> 'pg_global'
$$;
COMMENT ON FUNCTION tablespace_advisor.colour_of(name[], name) IS
	'the number of a tablespace''s colour in a picture of at most six, the same in all pictures if there are no more';

/* Colours that the colour-blind tell apart (Okabe and Ito), lighter on black. */
CREATE FUNCTION tablespace_advisor.page_style()
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $style$
	SELECT $$
:root{color-scheme:light dark;--bg:#fff;--ink:#1b1f24;--dim:#5b6570;--rule:#dde1e6;--soft:#f4f6f8;--warn:#9a3b00;
--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#b65a94;--c4:#b97f00;--c5:#3d9bd6;--rest:#a9b1ba}
@media (prefers-color-scheme:dark){:root{--bg:#14171b;--ink:#e6e9ec;--dim:#9aa5b1;--rule:#30363d;--soft:#1d2126;--warn:#ffb27a;
--c0:#58a9e0;--c1:#f08a4b;--c2:#35c49a;--c3:#e2a0c6;--c4:#e6b74a;--c5:#8fd0f7;--rest:#59636e}}
@media print{:root{--bg:#fff;--ink:#000;--dim:#444;--rule:#ccc;--soft:#fff;--warn:#000;--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#b65a94;--c4:#b97f00;--c5:#3d9bd6;--rest:#999}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1000px;padding:24px 20px 60px;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
h1{font-size:26px;margin:0}h2{font-size:19px;margin:40px 0 4px}h3{font-size:15px;margin:24px 0 4px}
.sub{color:var(--dim);margin:2px 0 0}.says,.note,.things{overflow-wrap:anywhere}.says{margin:0 0 12px;max-width:75ch}.note{color:var(--dim);font-size:13px;max-width:90ch}
ol.things{padding-left:22px}ol.things li{margin:0 0 12px}ol.things b{display:block}
.wide{overflow-x:auto;margin:10px 0}
table{border-collapse:collapse;font-size:13px;width:100%}th,td{text-align:left;padding:4px 12px 4px 0;border-bottom:1px solid var(--rule);vertical-align:top;unicode-bidi:isolate;overflow-wrap:break-word}
.w{overflow-wrap:anywhere;min-width:11em}.d{white-space:nowrap}.l{min-width:15em;overflow-wrap:anywhere}
th{color:var(--dim);font-weight:500;overflow-wrap:normal}.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
td.c,code{font:12px/1.5 ui-monospace,monospace;overflow-wrap:anywhere}code{background:var(--soft);padding:2px 4px}
svg{display:block;width:100%;height:auto;margin:8px 0}
svg text{font:12px system-ui,sans-serif;fill:var(--ink);unicode-bidi:isolate}svg .tick{font-size:11px;fill:var(--dim)}svg .name{fill:var(--dim)}
svg .mid{text-anchor:middle}svg .end{text-anchor:end}
.grid{stroke:var(--rule);fill:none}.line{fill:none;stroke:var(--rest);stroke-width:1.8}.thin{stroke-width:1}.dash{stroke-dasharray:5 4}.band{opacity:.18}
.dot{fill:var(--rest);stroke:var(--bg);stroke-width:.7}.bar{fill:var(--rest)}.pale{opacity:.4}.mark{stroke:var(--ink);stroke-width:1.2}
@media print{h2,h3,p,svg,tr{break-inside:avoid}h2,h3,.says{break-after:avoid}body{font-size:11px;padding:0}table,.note{font-size:9px}td.c,code{font-size:8px}th,td{padding-right:6px}}
$$ || string_agg(format('.line.c%1$s{stroke:var(--c%1$s)}.band.c%1$s,.dot.c%1$s,.bar.c%1$s,svg text.c%1$s{fill:var(--c%1$s)}', n), '')
	FROM generate_series(0, 5) n
$style$;
COMMENT ON FUNCTION tablespace_advisor.page_style() IS
	'the style of the page, for light and dark screens and for paper';

CREATE FUNCTION tablespace_advisor.page_frame(title text, subtitle text, content text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"/>'
		'<meta http-equiv="Content-Security-Policy" content="default-src ''none''; style-src ''unsafe-inline''"/>'
		'<meta name="viewport" content="width=device-width"/><title>%1$s</title><style>%2$s</style></head>'
		'<body><h1>%1$s</h1><p class="sub">%3$s</p>%4$s</body></html>',
		tablespace_advisor.html(title), tablespace_advisor.page_style(),
		tablespace_advisor.html(subtitle), content)
$$;
COMMENT ON FUNCTION tablespace_advisor.page_frame(text, text, text) IS
	'a page that loads nothing and runs nothing; content: HTML';
