-- orders by date: a week
SELECT count(*), sum(o_totalprice) FROM orders WHERE o_orderdate BETWEEN '1997-03-01' AND '1997-03-07'
-- orders by date: a quarter
SELECT o_orderpriority, count(*), sum(o_totalprice) FROM orders WHERE o_orderdate >= '1996-04-01' AND o_orderdate < '1996-07-01' GROUP BY 1
-- one order
SELECT * FROM orders WHERE o_orderkey = 70055
-- items of one order
SELECT * FROM orders JOIN lineitem ON l_orderkey = o_orderkey WHERE o_orderkey = 133157
-- orders of one customer
SELECT * FROM orders WHERE o_custkey = 301 ORDER BY o_orderdate
-- items of one customer
SELECT sum(l_extendedprice) FROM orders JOIN lineitem ON l_orderkey = o_orderkey WHERE o_custkey = 67
-- items of one part
SELECT sum(l_quantity) FROM lineitem WHERE l_partkey = 471
-- items of forty parts
SELECT l_partkey, sum(l_quantity) FROM lineitem WHERE l_partkey BETWEEN 200 AND 239 GROUP BY 1
-- items of one supplier
SELECT count(*), sum(l_extendedprice) FROM lineitem WHERE l_suppkey = 11
-- items shipped on a day
SELECT count(*), sum(l_extendedprice) FROM lineitem WHERE l_shipdate = '1997-06-17'
-- items shipped in a month
SELECT l_shipmode, sum(l_extendedprice) FROM lineitem WHERE l_shipdate BETWEEN '1994-02-01' AND '1994-02-28' GROUP BY 1
-- items shipped in a year
SELECT l_shipmode, sum(l_extendedprice) FROM lineitem WHERE l_shipdate BETWEEN '1993-01-01' AND '1993-12-31' GROUP BY 1
-- customers of a nation with orders of a week
SELECT c_name, o_totalprice FROM customer JOIN orders ON o_custkey = c_custkey WHERE c_nationkey = 7 AND o_orderdate BETWEEN '1995-10-01' AND '1995-10-07'
-- items of the orders of a day
SELECT o_orderkey, sum(l_extendedprice) FROM orders JOIN lineitem ON l_orderkey = o_orderkey WHERE o_orderdate = '1998-01-15' GROUP BY 1
-- items of the orders of three weeks
SELECT sum(l_extendedprice) FROM orders JOIN lineitem ON l_orderkey = o_orderkey WHERE o_orderdate BETWEEN '1997-11-01' AND '1997-11-21'
-- the last ten orders
SELECT * FROM orders ORDER BY o_orderdate DESC, o_orderkey LIMIT 10
-- the dearest orders of a day
SELECT * FROM orders WHERE o_orderdate >= '1998-01-01' ORDER BY o_orderdate LIMIT 100
-- the first and last dates of shipping
SELECT min(l_shipdate), max(l_shipdate) FROM lineitem
-- parts in a list
SELECT l_partkey, count(*) FROM lineitem WHERE l_partkey IN (17, 44, 123, 228, 337, 409, 551, 667, 777, 5009) GROUP BY 1
-- customers without orders, of a nation
SELECT count(*) FROM customer WHERE c_nationkey = 3 AND NOT EXISTS (SELECT FROM orders WHERE o_custkey = c_custkey)
-- suppliers who shipped on a day
SELECT s_name FROM supplier WHERE s_suppkey IN (SELECT l_suppkey FROM lineitem WHERE l_shipdate = '1998-09-09')
-- sales of a day
SELECT count(*), sum(amount) FROM sale WHERE day_id = 1001
-- sales of a month
SELECT sum(amount) FROM sale JOIN day USING (day_id) WHERE year = 2024 AND month = 5
-- sales of a quarter in a region
SELECT city, sum(amount) FROM sale JOIN day USING (day_id) JOIN store USING (store_id) WHERE year = 2023 AND quarter = 3 AND region = 'region 2' GROUP BY 1
-- sales of a store in a week
SELECT sum(amount) FROM sale WHERE store_id = 77 AND day_id BETWEEN 600 AND 606
-- sales of a product
SELECT year, sum(quantity) FROM sale JOIN day USING (day_id) WHERE product_id = 603 GROUP BY 1
-- sales of a category in a year
SELECT month, sum(amount) FROM sale JOIN product USING (product_id) JOIN day USING (day_id) WHERE category = 'category 5' AND year = 2025 GROUP BY 1
-- buyers of a city
SELECT sum(amount) FROM buyer JOIN sale USING (buyer_id) WHERE city = 'city 300'
-- sales of a buyer
SELECT * FROM sale WHERE buyer_id = 2107
-- sales by region
SELECT region, sum(amount) FROM sale JOIN store USING (store_id) GROUP BY 1
-- one key
SELECT value FROM pair WHERE key = md5('190042')
-- twenty keys
SELECT value FROM pair WHERE key = ANY (ARRAY(SELECT md5((i * 9973)::text) FROM generate_series(1, 20) i))
-- two hundred keys
SELECT count(value) FROM pair JOIN (SELECT md5((i * 911)::text) AS key FROM generate_series(1, 200) i) k USING (key)
-- keys that begin with
SELECT count(value) FROM pair WHERE key >= 'ab' AND key < 'ac'
-- pairs of a kind
SELECT count(value) FROM pair WHERE kind = 17
-- what changed in a day
SELECT count(value) FROM pair WHERE changed >= '2025-05-03 00:00+00' AND changed < '2025-05-04 00:00+00'
-- the last changes
SELECT * FROM pair ORDER BY changed DESC LIMIT 50
-- readings of the last hour
SELECT count(*), avg(value) FROM reading WHERE at >= '2025-01-07 21:40+00'
-- readings of a day, by device
SELECT device, avg(value) FROM reading WHERE at >= '2025-01-04 00:00+00' AND at < '2025-01-05 00:00+00' GROUP BY 1
-- the last readings of a device
SELECT * FROM reading WHERE device = 123 ORDER BY at DESC LIMIT 20
-- a day of a device
SELECT avg(value) FROM reading WHERE device = 222 AND at >= '2025-01-03 00:00+00' AND at < '2025-01-04 00:00+00'
-- all readings of a device
SELECT avg(value) FROM reading WHERE device = 321
-- a day of twenty devices
SELECT device, max(value) FROM reading WHERE device BETWEEN 40 AND 59 AND at >= '2025-01-02 00:00+00' AND at < '2025-01-03 00:00+00' GROUP BY 1
-- faults of two days
SELECT device, at FROM reading WHERE status > 0 AND at >= '2025-01-05 00:00+00' AND at < '2025-01-07 00:00+00'
