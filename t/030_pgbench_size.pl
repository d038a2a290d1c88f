# Copyright (c) 2026, The tablespace_advisor developers

# Compares estimate_pgbench_size() with what pgbench -i really makes: every
# fork of every relation must have exactly the number of blocks foretold.

use TsaTest;

# Autovacuum between the steps of pgbench -i would do the VACUUM's work
# before it, with other tables' transactions in sight.
my $node = start_plain('main', conf => qq(
autovacuum = off
fsync = off
wal_level = minimal
max_wal_senders = 0
max_wal_size = 4GB
));

# Forks whose size is not the foretold one, as text; none is ''.
sub differences
{
	my ($sizes) = @_;
	return $node->safe_psql('postgres', qq{
		SELECT COALESCE(e.relation, r.relation) AS relation,
			   COALESCE(e.fork, r.fork) AS fork,
			   e.blocks AS estimated, r.blocks AS real
		FROM (SELECT relation, fork, blocks FROM $sizes) e
		FULL JOIN
			(SELECT c.relname::text AS relation, f.fork,
					pg_relation_size(c.oid, f.fork)
					/ current_setting('block_size')::bigint AS blocks
			 FROM pg_class c,
				  unnest('{main,fsm,vm,init}'::text[]) AS f(fork)
			 WHERE c.relname ~ '^pgbench_' AND c.relkind IN ('r', 'i', 't')
			   AND (f.fork = 'main' OR pg_relation_size(c.oid, f.fork) > 0)) r
		ON e.relation = r.relation AND e.fork = r.fork
		WHERE e.blocks IS DISTINCT FROM r.blocks
		ORDER BY 1, 2
		LIMIT 20});
}

# pgbench -i with these options, then compare.
sub check_size
{
	my ($scale, $fillfactor, $partitions) = @_;
	my @options = ('-i', '-q', '-s', $scale, '-F', $fillfactor);
	push @options, "--partitions=$partitions" if $partitions > 0;

	$node->command_ok([ 'pgbench', @options, 'postgres' ],
		"pgbench @options");
	my $sizes = "estimate_pgbench_size($scale, $fillfactor, $partitions)"
	  . " WHERE fork IS NOT NULL";
	is(differences($sizes), '',
		"scale $scale, fillfactor $fillfactor, $partitions partitions:"
		  . " every fork as estimated");
	return;
}

# the comparison finds a difference where there is one
$node->command_ok([ 'pgbench', '-i', '-q', '-s', 2, 'postgres' ],
	'pgbench -i at scale 2');
isnt(differences('estimate_pgbench_size(1) WHERE fork IS NOT NULL'), '',
	'scale 2 is told from scale 1');

check_size(@$_)
  for (
	# scale, fillfactor, partitions; 21: a second page of the visibility map
	[ 1, 100, 0 ], [ 3, 100, 0 ], [ 10, 100, 0 ], [ 21, 100, 0 ],
	[ 1, 10, 0 ], [ 3, 90, 0 ], [ 2, 55, 0 ],
	[ 1, 100, 1 ], [ 3, 100, 4 ], [ 10, 80, 7 ], [ 1, 100, 40 ],
	[ 1, 37, 313 ]);

# partitions are of 112 rows here, so that the last seven stay empty
check_size(1, 100, 900);

# Branches and tellers of scales whose accounts fit no test machine: loaded
# the way this version's pgbench does, without the accounts.
my $by_copy = $node->safe_psql('postgres', 'SHOW server_version_num') >= 170000;
my $file = $node->data_dir . '/rows';
for my $scale (100, 450, 703, 704, 1111, 5900, 20000, 50000)
{
	my $load = '';
	for (
		[ 'pgbench_branches', "SELECT i, 0, NULL FROM generate_series(1, $scale) i" ],
		[
			'pgbench_tellers',
			"SELECT i, (i - 1) / 10 + 1, 0, NULL FROM generate_series(1, 10 * $scale) i"
		])
	{
		my ($table, $query) = @$_;
		$load .= $by_copy
		  ? "COPY ($query) TO '$file'; COPY $table FROM '$file' (FREEZE);\n"
		  : "INSERT INTO $table $query;\n";
	}
	$node->command_ok([ 'pgbench', '-i', '-q', '-I', 'dt', 'postgres' ],
		"create tables for scale $scale");
	$node->safe_psql('postgres',
		"BEGIN; TRUNCATE pgbench_branches, pgbench_tellers; $load COMMIT;");
	$node->command_ok([ 'pgbench', '-i', '-q', '-I', 'vp', 'postgres' ],
		"vacuum and index for scale $scale");
	$node->safe_psql('postgres', 'DROP TABLE pgbench_accounts');
	is( differences(
			"estimate_pgbench_size($scale) WHERE relation !~ 'accounts|database'"
		),
		'',
		"scale $scale: branches and tellers as estimated");
}

# what the database grew by is the sum of the forks, but for the catalogs
my $sum = $node->safe_psql('postgres', q{
	SELECT added.bytes = (SELECT sum(bytes) FROM estimate_pgbench_size(1, 100, 900)
						  WHERE fork IS NOT NULL),
		   total.bytes - added.bytes - catalogs.bytes = pg_database_size('template1')
	FROM estimate_pgbench_size(1, 100, 900) added,
		 estimate_pgbench_size(1, 100, 900) catalogs,
		 estimate_pgbench_size(1, 100, 900) total
	WHERE added.relation = 'database (added)'
	  AND catalogs.relation = 'catalogs (added)'
	  AND total.relation = 'database (total)'});
is($sum, 't|t', 'database (added) and (total) add up');

# the total against a real database, to within the catalogs' own growth
$node->safe_psql('postgres', 'CREATE DATABASE bench');
$node->command_ok([ 'pgbench', '-i', '-q', '-s', 5, 'bench' ],
	'pgbench -i in a new database');
my ($real, $estimated) = split /\|/, $node->safe_psql('postgres', q{
	SELECT pg_database_size('bench'), bytes
	FROM estimate_pgbench_size(5) WHERE relation = 'database (total)'});
cmp_ok(abs($real - $estimated), '<', 512 * 1024,
	"database size $real is near the estimated $estimated");
is( $node->safe_psql('postgres',
		"SELECT estimate_pgbench_scale('$real')"),
	'5', 'the size of a real database leads back to its scale');

# Catalogs grow with partitions; earlier tests compared a total without any.  A
# database that somebody was connected to has a file more (pg_internal.init).
$node->safe_psql('template1', 'SELECT 1');
for my $partitions (100, 1000)
{
	$node->safe_psql('postgres', 'DROP DATABASE bench');
	$node->safe_psql('postgres', 'CREATE DATABASE bench');
	$node->command_ok(
		[ 'pgbench', '-i', '-q', '-s', 1, "--partitions=$partitions", 'bench' ],
		"pgbench -i with $partitions partitions in a new database");
	my ($grown, $foretold) = split /\|/, $node->safe_psql('postgres', qq{
		SELECT pg_database_size('bench') - pg_database_size('template1') - added.bytes,
			catalogs.bytes
		FROM estimate_pgbench_size(1, 100, $partitions) added,
			estimate_pgbench_size(1, 100, $partitions) catalogs
		WHERE added.relation = 'database (added)' AND catalogs.relation = 'catalogs (added)'});
	cmp_ok(abs($grown - $foretold), '<', 0.02 * $grown + 131072,
		"catalogs grow by $grown with $partitions partitions, $foretold are foretold");
}

# The layout with a bigint "aid", of scale 20000 and more, at a scale that
# fits: the tables are loaded the same way after the column's type is changed.
for my $partitions (0, 3)
{
	my @partitions = $partitions ? ("--partitions=$partitions") : ();

	$node->command_ok(
		[ 'pgbench', '-i', '-q', '-I', 'dt', '-s', 4, @partitions, 'postgres' ],
		'create tables');
	$node->safe_psql('postgres', 'DROP TABLE pgbench_accounts')
	  if $partitions;
	if ($partitions)
	{
		# the type of a partition key cannot be changed
		$node->safe_psql('postgres', q{
			CREATE TABLE pgbench_accounts (aid bigint NOT NULL, bid int,
				abalance int, filler char(84)) PARTITION BY RANGE (aid);
			CREATE TABLE pgbench_accounts_1 PARTITION OF pgbench_accounts
				FOR VALUES FROM (MINVALUE) TO (133335);
			CREATE TABLE pgbench_accounts_2 PARTITION OF pgbench_accounts
				FOR VALUES FROM (133335) TO (266669);
			CREATE TABLE pgbench_accounts_3 PARTITION OF pgbench_accounts
				FOR VALUES FROM (266669) TO (MAXVALUE);
		});
	}
	else
	{
		$node->safe_psql('postgres', q{
			ALTER TABLE pgbench_accounts ALTER aid TYPE bigint;
			ALTER TABLE pgbench_history ALTER aid TYPE bigint});
	}
	$node->command_ok(
		[
			'pgbench', '-i', '-q', '-I', 'gvp', '-s', 4, @partitions,
			'postgres'
		],
		'load tables with a bigint aid');
	is( $node->safe_psql('postgres', q{
			SELECT count(*) FROM pg_attribute a
			JOIN pg_class c ON c.oid = a.attrelid
			WHERE a.attname = 'aid' AND a.atttypid = 'bigint'::regtype
			  AND c.relname ~ '^pgbench_accounts' AND c.relkind IN ('r', 'i')}),
		2 * ($partitions || 1),
		'tables and indexes do have a bigint aid');
	is( differences(
			"tablespace_advisor.pgbench_forks(4, 100, $partitions, 1)"),
		'',
		"bigint aid, $partitions partitions: every fork as estimated");
}

# Few shared buffers limit by how much COPY extends a relation (16 and later).
$node->append_conf('postgresql.conf', "shared_buffers = 8MB\n");
$node->restart;
check_size(1, 100, 3);
check_size(2, 70, 5);

$node->stop;
done_testing();
