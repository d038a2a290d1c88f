# Copyright (c) 2026, The tablespace_advisor developers

# Every function and procedure of the extension with arguments that nobody
# should give: NULL, nothing, negative, huge, NaN, infinite, unicode, relations of
# other kinds, OIDs of what is gone.  Each call may fail; none may crash the
# server, fail with an internal error (XX000), or leave a job or a file.

use TsaTest;

my $node = start_node('main', conf => qq(
autovacuum = off
log_error_verbosity = verbose
log_min_messages = error
log_min_error_statement = error
tablespace_advisor.probe_max_iops = 2000
));
$node->safe_psql('postgres', q{
	CREATE TABLE t (a int PRIMARY KEY, b text);
	INSERT INTO t SELECT i, 'b' || i FROM generate_series(1, 2000) i;
	CREATE INDEX t_b ON t (b);
	CREATE TABLE parted (a timestamptz PRIMARY KEY) PARTITION BY RANGE (a);
	CREATE TABLE parted_1 PARTITION OF parted DEFAULT;
	CREATE VIEW v AS SELECT * FROM t;
	CREATE MATERIALIZED VIEW mv AS SELECT * FROM t;
	CREATE SEQUENCE s;
	CREATE TYPE composite AS (a int);
	CREATE UNLOGGED TABLE u (a int PRIMARY KEY);
	CREATE FOREIGN DATA WRAPPER w;
	CREATE SERVER fs FOREIGN DATA WRAPPER w;
	CREATE FOREIGN TABLE ft (a int) SERVER fs;
	CREATE TABLE gone (a int PRIMARY KEY);
	SELECT 'gone'::regclass::oid AS gone \gset
	DROP TABLE gone;
	CREATE TABLE oids AS SELECT :gone::oid AS gone;
	CREATE ROLE guest;
	GRANT pg_monitor TO guest;
	ANALYZE});
my $gone = $node->safe_psql('postgres', 'SELECT gone FROM oids');

# Values by type; the first is a harmless one, which the other arguments get
# meanwhile.  undef is NULL.
my @numbers = (1, undef, 0, -1, 2147483647, -2147483648);
my @texts = (
	undef, '', ' ', "\x{e4}\x{1F4BE}", 'x' x 3000, '-1', '1e400', 'NaN', '0',
	'50 GB', '9223372036854775807 TB', q{a'b"c\\%s%n;--}, 'copy', 'fast');
my %corpus = (
	integer => \@numbers,
	bigint => [ @numbers, '9223372036854775807', '-9223372036854775808' ],
	smallint => [ 1, undef, 0, -1, 32767 ],
	'double precision' =>
	  [ 1, undef, 0, '-0', -1, 'NaN', 'Infinity', '-Infinity', '1e308', '1e-308' ],
	real => [ 1, undef, 'NaN', 'Infinity' ],
	numeric => [ 1, undef, 'NaN', '-1' ],
	boolean => [ 'false', 'true', undef ],
	text => \@texts,
	name => [ 'fast', undef, '', 'pg_global', 'pg_default', 'slow', 'nobody', "\x{e4}", 'x' x 63 ],
	interval => [ '1 ms', undef, '0', '-1 s', '170000000 years', '-170000000 years', 'infinity' ],
	regclass => [
		't', undef, 0, 4294967295, $gone, qw(t_b parted parted_1 v mv s composite u ft
		  pg_class pg_toast.pg_toast_1255 pg_stats pg_database)
	],
	oid => [ 1663, undef, 0, 1, 4294967295, $gone ],
	'"char"' => [ 'r', undef, '' ],
	'timestamp with time zone' => [ 'now', undef, 'infinity', '-infinity', '4714-11-24 BC' ],
	'pg_lsn' => [ '0/0', undef, 'FFFFFFFF/FFFFFFFF' ]);

sub values_of
{
	my ($type) = @_;

	return @{ $corpus{$type} } if $corpus{$type};
	if ($type =~ /^(.*)\[\]$/)
	{
		my ($harmless, @rest) = values_of($1);
		my $one = defined $harmless ? $harmless : 'NULL';

		return ("{$one}", undef, '{}', '{NULL}', "{{$one,$one},{$one,NULL}}", "[5:6]={$one,$one}",
			map { defined $_ && /^[-\w.]+$/ ? "{$_}" : () } @rest);
	}
	return (undef);		# a row type of the extension
}

my @functions = routines_of($node);
cmp_ok(scalar @functions, '>', 50, 'the catalog names the functions to call');

# As a superuser all of them; as somebody else what people call.
my $calls = '';
my $n = 0;
foreach my $role ('', 'guest')
{
	$calls .= "SET ROLE $role;\n" if $role;
	foreach my $function (@functions)
	{
		my @types = @{ $function->{types} };
		my @harmless = map { literal((values_of($_))[0], $_) } @types;
		my @lists = (\@harmless);

		next if $role && $function->{schema} ne 'public';
		for my $i (0 .. $#types)
		{
			my (undef, @rest) = values_of($types[$i]);

			foreach my $value (@rest)
			{
				my @list = @harmless;

				$list[$i] = literal($value, $types[$i]);
				push @lists, \@list;
			}
		}
		push @lists, [ map { "NULL::$_" } @types ];
		foreach my $list (@lists)
		{
			$calls .= call_of($function, arguments => $list) . ";\n";
			$n++;
		}
	}
}
$node->safe_psql('postgres', q{
	SELECT format('GRANT EXECUTE ON ROUTINE %s TO guest', p.oid::regprocedure)
	FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.prokind IN ('f', 'p')
	\gexec
	GRANT USAGE ON SCHEMA tablespace_advisor TO guest});

my $checkpointer = checkpointer_pid($node);
my $file = "$PostgreSQL::Test::Utils::tmp_check/calls.sql";
open my $out, '>:encoding(UTF-8)', $file or die $!;
print $out "SET client_encoding = 'UTF8';\nSET client_min_messages = error;\nSET statement_timeout = '500 ms';\n",
  $calls;
close $out;
$node->command_ok(
	[ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-o', '/dev/null', '-f', $file ],
	"$n calls");

is(checkpointer_pid($node), $checkpointer, 'none has crashed the server');
my $log = slurp_file($node->logfile);
# the server's own, for a path of 3 000 characters
$log =~ s/^.*could not open directory.*File name too long\n//mg;
my %internal;
$internal{"$1: $2"}++ while $log =~ /ERROR:  XX\w\w\w: (.*)\n(?:.*\n){0,3}?.*STATEMENT:  (.*)/g;
is(join("\n", sort keys %internal), '', 'none was an internal error');
unlike($log, qr/TRAP:|PANIC/, 'no assertion has failed and no process has panicked');

$node->safe_psql('postgres', q{
	SELECT cancel_move(job_id) FROM tablespace_moves WHERE state IN ('queued', 'running', 'paused')});
ok($node->poll_query_until('postgres', q{
		SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type LIKE 'tablespace_advisor%'}),
	'no worker is left');
is($node->safe_psql('postgres', q{
		SELECT count(*) FROM tablespace_moves WHERE state IN ('queued', 'running', 'paused')}),
	'0', 'no job is left');
check_orphans($node, 'after all calls');
check_locks($node, 'after all calls');
my $data = $node->data_dir;
is(join(' ', glob("$data/base/pgsql_tmp/* $data/pg_tblspc/*/PG_*/pgsql_tmp/*")), '',
	'no scratch file is left');
is($node->safe_psql('postgres', 'SELECT count(*) FROM t WHERE b IS NOT NULL'), '2000', 'the table is whole');

$node->stop;
done_testing();
