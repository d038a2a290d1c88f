# Copyright (c) 2026, The tablespace_advisor developers

# Containers: no /sys, a seccomp filter that refuses asynchronous I/O, and a data
# directory that is a layer of an image (t/190: so is the extension).

use TsaTest;

my $node = new_node('main');
my $filter = "$PostgreSQL::Test::Utils::tmp_check/no_aio";
my $layers;

# the kernel makes it such that nobody can remove it
END { chmod 0700, "$layers/overlay/work" if $layers; }

# --- neither /sys nor asynchronous I/O -----------------------------------------------

SKIP:
{
	my @namespace = with_small_file_system('/sys', 1);

	skip 'no name spaces of users here', 9 unless @namespace;
	skip 'no C compiler to build test/no_aio.c with', 9
	  if system("cc -O1 -o $filter test/no_aio.c") != 0;
	skip 'no seccomp filter can be set here', 9 if system($filter, 'true') != 0;

	start_by($node, @namespace, $filter);
	prepare_node($node);
	is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_ls_dir('/sys')}), '0', 'the server has no /sys');
	is($node->safe_psql('postgres', q{
			SELECT media, translate(warnings::text, E'\n', ' ') ~ 'is not visible: run ' FROM tablespace_devices() WHERE tablespace = 'slow'}),
		'unknown|t', 'what the device is, is unknown, and why is said');
	my ($rc, $out, $err) = $node->psql('postgres', q{
		SELECT workload, queue_depth, samples > 0, conditions
		FROM probe_tablespace('slow', '200 ms', '16 MB', '{1,4}', '{random read,sequential read}')});
	is($rc, 0, 'a probe measures');
	like($out, qr/^random read\|1\|t\|/m, 'a probe without asynchronous I/O measures one request at a time');
	unlike($out, qr/^random read\|4\|/m, 'a probe without asynchronous I/O does not measure four requests at a time');
	like($err, qr/NOTICE:.*asynchronous.*HINT: .*seccomp/s, 'a notice says that asynchronous I/O is refused, and by what');
	$node->safe_psql('postgres', q{
		CREATE TABLE orders TABLESPACE slow AS SELECT i AS id, repeat('x', 100) AS note FROM generate_series(1, 10000) i;
		CALL sample_activity()});
	my ($job) = $node->safe_psql('postgres', q{CALL move_table_concurrently('orders', 'fast')}) =~ /(\d+)/;
	is(wait_for_job($node, $job), 'done', 'a move needs neither');
	is($node->safe_psql('postgres', q{SELECT count(*) > 0 FROM tablespace_advisor_health()}), 't', 'tablespace_advisor_health() needs no /sys');
	is($node->safe_psql('postgres', q{SELECT length(tablespace_report()) > 1000}), 't', 'tablespace_report() needs no /sys');
	$node->stop;
}

# --- files of an image, which are copied to another layer when they are written ---------

SKIP:
{
	$layers = PostgreSQL::Test::Utils::tempdir;
	my $image = "$layers/image";
	my @namespace = ('unshare', '--mount', '--map-current-user', '--keep-caps', 'sh', '-c',
		"mount -t overlay -o userxattr,lowerdir=$image,upperdir=$layers/upper,workdir=$layers/overlay overlay $image"
		  . ' && exec "$@"', 'sh');

	foreach my $dir ($image, "$layers/upper", "$layers/overlay") { mkdir $dir or die; }
	skip 'no overlay file system can be mounted here', 8 if system(@namespace, 'true') != 0;

	$node->start;
	prepare_node($node)
	  if $node->safe_psql('postgres', q{SELECT count(*) FROM pg_tablespace WHERE spcname = 'fast'}) eq '0';
	$node->safe_psql('postgres', "CREATE TABLESPACE image LOCATION '$image'");
	$node->safe_psql('postgres', q{
		CREATE TABLE item (id int, note text) TABLESPACE image;
		INSERT INTO item SELECT i, repeat('x', 100) FROM generate_series(1, 20000) i;
		CREATE INDEX item_id ON item (id) TABLESPACE image});
	$node->stop;
	start_by($node, @namespace);
	is($node->safe_psql('postgres', q{
			SELECT filesystem FROM tablespace_devices() WHERE tablespace = 'image'}),
		'overlay', 'the tablespace is on an overlay');
	is($node->safe_psql('postgres', q{
			SELECT bool_and(samples > 0)
			FROM probe_tablespace('image', '200 ms', '16 MB', '{1}', '{random read,sequential read}')}),
		't', 'a probe of it measures');
	foreach my $end ('fast', 'image')
	{
		my ($job) = $node->safe_psql('postgres', "CALL move_table_concurrently('item', '$end')") =~ /(\d+)/;
		is(wait_for_job($node, $job), 'done', "a table of the image moves to $end");
	}
	my ($job) = $node->safe_psql('postgres', q{CALL move_indexes_concurrently('item', 'fast')}) =~ /(\d+)/;
	is(wait_for_job($node, $job), 'done', 'an index of the image moves');
	$node->stop('immediate');
	start_by($node, @namespace);
	is($node->safe_psql('postgres', q{
			SELECT count(*), sum(id), (SELECT bt_index_check('item_id', true)) FROM item}),
		'20000|200010000|', 'after a crash the rows are there, and in the index');
	is($node->safe_psql('postgres', q{
			SELECT count(*) FROM tablespace_contents('image') WHERE how = 'orphan'}),
		'0', 'no file is left');
	$node->safe_psql('postgres', q{DROP TABLE item; DROP TABLESPACE image});
	$node->stop;
	check_no_crash($node, 'overlay');
}

done_testing();
