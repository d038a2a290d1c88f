# Copyright (c) 2026, The tablespace_advisor developers

# A whole database to new storage: what is large moves while it is in use, then
# ALTER DATABASE takes the rest, for which it needs a third tablespace.

use TsaTest;

my $node = new_node('database');
$node->start;
$node->safe_psql('postgres', q{
	SET allow_in_place_tablespaces = on;
	CREATE TABLESPACE old LOCATION '';
	CREATE TABLESPACE new LOCATION ''});
$node->safe_psql('postgres', 'CREATE EXTENSION tablespace_advisor');
$node->safe_psql('postgres', 'CREATE DATABASE shop TABLESPACE old');
$node->safe_psql('shop', q{
	CREATE EXTENSION tablespace_advisor;
	CREATE SEQUENCE number;
	CREATE TABLE article (id int PRIMARY KEY, body text);
	INSERT INTO article SELECT g, repeat(md5(g::text), 10) FROM generate_series(1, 5000) g;
	CREATE UNLOGGED TABLE cart (a int);
	INSERT INTO cart SELECT generate_series(1, 100);
	CREATE TABLE event (at date) PARTITION BY RANGE (at)});
my $digest = "SELECT md5(string_agg(x::text, ',' ORDER BY id)) FROM article x";
my $before = $node->safe_psql('shop', $digest);

is( $node->safe_psql('shop', q{
	SELECT string_agg(DISTINCT how, ' ' ORDER BY how) FROM plan_evacuation('old', 'new')
	WHERE relation IN ('article'::regclass, 'number'::regclass, 'cart'::regclass)}),
	'live lock with database', 'how the relations leave');
my ($out, $err) = ('', '');
$node->psql('shop', q{CALL evacuate_tablespace('old', 'new')},
	stdout => \$out, stderr => \$err);
like($err, qr/NOTICE:  moved table public\.article /, 'the large table moves');
like($err, qr/left in tablespace "old": sequence public\.number \(8192 bytes\)\nDETAIL:  Sequences are always in their database's default tablespace/,
	'a sequence is named with its size');
like($err, qr/left in tablespace "old": database .*\nDETAIL:  Its default tablespace is "old": .* needs a tablespace in which the database has no relation yet/,
	'what is left says what the database needs');
# Earlier tests ran the statement in another database, whatever the hint said.
like($err, qr/HINT:  In another database: ALTER DATABASE shop SET TABLESPACE pg_default;/,
	'the hint has the statement that moves the database, and where to run it');
my $target = $node->psql('postgres', 'ALTER DATABASE shop SET TABLESPACE new',
	stderr => \$err);
like($err, qr/some relations of database "shop" are already in tablespace "new"/,
	'the target itself will not do');

$node->safe_psql('postgres', q{
	SET allow_in_place_tablespaces = on; CREATE TABLESPACE new_default LOCATION ''});
my @statements = grep { $_->[1] =~ /^ALTER DATABASE/ }
  statements_of($node, 'old', 'new');
is_deeply(\@statements, [ [ 'shop', 'ALTER DATABASE shop SET TABLESPACE new_default;' ] ],
	'a third tablespace is found');
wait_until($node, q{NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = 'shop')}, 'nobody is connected');
run_statements($node, @statements);
is(contents($node, 'old'), '', 'nothing is left');
drop_tablespace($node, 'old', 'database');
is($node->safe_psql('shop', $digest), $before, 'the contents are the same');
is($node->safe_psql('shop', 'SELECT count(*) FROM cart'), '100', 'the unlogged table is there');
is( $node->safe_psql('shop', q{
	SELECT state FROM tablespace_moves WHERE relation_name = 'public.article'}),
	'done', 'the journal has moved with the database');

# A partitioned table that moves to the default keeps no tablespace.
$node->safe_psql('shop', 'ALTER TABLE event SET TABLESPACE new');
like( $node->safe_psql('shop', q{
	SELECT reason FROM plan_evacuation('new', 'new_default') WHERE kind = 'partitioned table'}),
	qr/it\s+keeps\s+none:\s+new\s+partitions\s+then\s+follow\s+default_tablespace/, 'a warning');
$node->safe_psql('shop', q{CALL evacuate_tablespace('new', 'new_default')});
is($node->safe_psql('shop', q{SELECT reltablespace FROM pg_class WHERE relname = 'event'}),
	'0', 'a partitioned table that moves to the default tablespace keeps none');
drop_tablespace($node, 'new', 'database');

# A tablespace that was just emptied is not suggested; no earlier test emptied two.
$node->safe_psql('postgres', q{
	SET allow_in_place_tablespaces = on;
	CREATE TABLESPACE emptied LOCATION '';
	CREATE TABLESPACE target LOCATION ''});
$node->safe_psql('shop', 'CREATE TABLE moved (a int) TABLESPACE emptied');
$node->safe_psql('shop', q{CALL evacuate_tablespace('emptied', 'target')});
$node->psql('shop', q{CALL evacuate_tablespace('new_default', 'target')}, stderr => \$err);
like($err, qr/HINT:  In another database: ALTER DATABASE shop SET TABLESPACE pg_default;/,
	'what was just emptied is not filled again');
$node->stop;

done_testing();
