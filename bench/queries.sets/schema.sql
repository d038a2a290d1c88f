-- The tables of bench/queries, in tablespace bench.  TPC-H: the specification's
-- columns, its keys, and indexes on the foreign keys and dates, as most who run
-- it have them.  The data are in files of the directory :data.
SET default_tablespace = bench;
CREATE TABLE region (r_regionkey int PRIMARY KEY, r_name char(25), r_comment varchar(152));
CREATE TABLE nation (n_nationkey int PRIMARY KEY, n_name char(25), n_regionkey int, n_comment varchar(152));
CREATE TABLE part (p_partkey int, p_name varchar(55), p_mfgr char(25), p_brand char(10), p_type varchar(25),
	p_size int, p_container char(10), p_retailprice numeric(15,2), p_comment varchar(23));
CREATE TABLE supplier (s_suppkey int, s_name char(25), s_address varchar(40), s_nationkey int, s_phone char(15),
	s_acctbal numeric(15,2), s_comment varchar(101));
CREATE TABLE partsupp (ps_partkey int, ps_suppkey int, ps_availqty int, ps_supplycost numeric(15,2), ps_comment varchar(199));
CREATE TABLE customer (c_custkey int, c_name varchar(25), c_address varchar(40), c_nationkey int, c_phone char(15),
	c_acctbal numeric(15,2), c_mktsegment char(10), c_comment varchar(117));
CREATE TABLE orders (o_orderkey int, o_custkey int, o_orderstatus char(1), o_totalprice numeric(15,2), o_orderdate date,
	o_orderpriority char(15), o_clerk char(15), o_shippriority int, o_comment varchar(79));
CREATE TABLE lineitem (l_orderkey int, l_partkey int, l_suppkey int, l_linenumber int, l_quantity numeric(15,2),
	l_extendedprice numeric(15,2), l_discount numeric(15,2), l_tax numeric(15,2), l_returnflag char(1), l_linestatus char(1),
	l_shipdate date, l_commitdate date, l_receiptdate date, l_shipinstruct char(25), l_shipmode char(10), l_comment varchar(44));
\copy region FROM PROGRAM 'cat "$TPCH/region.csv"' (FORMAT csv, HEADER)
\copy nation FROM PROGRAM 'cat "$TPCH/nation.csv"' (FORMAT csv, HEADER)
\copy part FROM PROGRAM 'cat "$TPCH/part.csv"' (FORMAT csv, HEADER)
\copy supplier FROM PROGRAM 'cat "$TPCH/supplier.csv"' (FORMAT csv, HEADER)
\copy partsupp FROM PROGRAM 'cat "$TPCH/partsupp.csv"' (FORMAT csv, HEADER)
\copy customer FROM PROGRAM 'cat "$TPCH/customer.csv"' (FORMAT csv, HEADER)
\copy orders FROM PROGRAM 'cat "$TPCH/orders.csv"' (FORMAT csv, HEADER)
\copy lineitem FROM PROGRAM 'cat "$TPCH/lineitem.csv"' (FORMAT csv, HEADER)
ALTER TABLE part ADD PRIMARY KEY (p_partkey);
ALTER TABLE supplier ADD PRIMARY KEY (s_suppkey);
ALTER TABLE partsupp ADD PRIMARY KEY (ps_partkey, ps_suppkey);
ALTER TABLE customer ADD PRIMARY KEY (c_custkey);
ALTER TABLE orders ADD PRIMARY KEY (o_orderkey);
ALTER TABLE lineitem ADD PRIMARY KEY (l_orderkey, l_linenumber);
CREATE INDEX ON supplier (s_nationkey);
CREATE INDEX ON partsupp (ps_suppkey);
CREATE INDEX ON customer (c_nationkey);
CREATE INDEX ON orders (o_custkey);
CREATE INDEX ON orders (o_orderdate);
CREATE INDEX ON lineitem (l_partkey, l_suppkey);
CREATE INDEX ON lineitem (l_suppkey);
CREATE INDEX ON lineitem (l_shipdate);
CREATE INDEX ON lineitem (l_receiptdate);

-- A star: sales of three years, loaded day by day.
CREATE TABLE day (day_id int PRIMARY KEY, at date, month int, quarter int, year int);
INSERT INTO day SELECT i, date '2023-01-01' + i, extract(month FROM date '2023-01-01' + i),
	extract(quarter FROM date '2023-01-01' + i), extract(year FROM date '2023-01-01' + i)
FROM generate_series(0, 1095) i;
CREATE TABLE store (store_id int PRIMARY KEY, city text, region text);
INSERT INTO store SELECT i, 'city ' || i % 40, 'region ' || i % 8 FROM generate_series(1, 120) i;
CREATE TABLE product (product_id int PRIMARY KEY, name text, category text, brand text);
INSERT INTO product SELECT i, 'product ' || i, 'category ' || (hashint4(i) & 31), 'brand ' || (hashint4(i + 7) & 255)
FROM generate_series(1, 8000) i;
CREATE TABLE buyer (buyer_id int PRIMARY KEY, name text, city text, since date, note text);
INSERT INTO buyer SELECT i, 'buyer ' || i, 'city ' || (hashint4(i) & 511), date '2015-01-01' + (hashint4(i + 3) & 4095),
	repeat('n', 60) FROM generate_series(1, 30000) i;
CREATE TABLE sale (sale_id int, day_id int, store_id int, product_id int, buyer_id int, quantity int, amount numeric(12,2));
INSERT INTO sale SELECT i, i / 275, 1 + (hashint4(i) & 2147483647) % 120,
	1 + floor(8000 * power((hashint4(i + 1000000) & 1048575) / 1048576.0, 2))::int,
	1 + floor(30000 * power((hashint4(i + 2000000) & 1048575) / 1048576.0, 1.5))::int,
	1 + (hashint4(i + 3000000) & 7), ((hashint4(i + 4000000) & 65535) / 100.0)
FROM generate_series(0, 300000) i;
ALTER TABLE sale ADD PRIMARY KEY (sale_id);
CREATE INDEX ON sale (day_id);
CREATE INDEX ON sale (store_id);
CREATE INDEX ON sale (product_id);
CREATE INDEX ON sale (buyer_id);
CREATE INDEX ON product (category);
CREATE INDEX ON buyer (city);

-- Keys and values, in the order in which they came.
CREATE TABLE pair (key text, value text, changed timestamptz, kind int);
INSERT INTO pair SELECT md5(i::text), repeat(md5((i + 1)::text), 3), timestamptz '2025-01-01 00:00+00' + i * interval '1 minute', hashint4(i) & 63
FROM generate_series(1, 200000) i;
ALTER TABLE pair ADD PRIMARY KEY (key);
CREATE INDEX ON pair (changed);
CREATE INDEX ON pair (kind);

-- Readings of 400 devices, a round of them every ten minutes, some late.
CREATE TABLE reading (device int, at timestamptz, value float8, status int, note text);
INSERT INTO reading
SELECT d, timestamptz '2025-01-01 00:00+00' + r * interval '10 minutes', hashint4(d * 7919 + r) / 1e6,
	CASE WHEN hashint4(d + r * 31) & 1023 = 0 THEN 1 ELSE 0 END, repeat('r', 24)
FROM generate_series(0, 999) r, generate_series(1, 400) d
ORDER BY r + CASE WHEN hashint4(d + r) & 31 = 0 THEN hashint4(r + d * 3) & 63 ELSE 0 END, hashint4(d * 1000 + r);
CREATE INDEX ON reading (at);
CREATE INDEX ON reading (device, at);
CREATE INDEX ON reading (status) WHERE status > 0;
RESET default_tablespace;
