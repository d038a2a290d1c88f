# Copyright (c) 2026, The tablespace_advisor developers

# A damaged page is never replaced by something else while the original is removed:
# every kind of damage, in every kind of relation, under every setting with which the
# server returns zeros or the damaged page without an error.
#
# Earlier tests of faulty devices (t/137, t/138) made calls fail, which is an error
# under all settings; none had damage that the server can be told to overlook.

use TsaTest;

use constant BLOCK => 8192;

# Kinds of relations: how to make one, what moves, and whose file is damaged, in
# which block.  Tables of an index are elsewhere, so that the index moves alone.
my %kinds = (
	table => {
		make => q{CREATE TABLE %1$s (a int, b text) TABLESPACE slow;
			INSERT INTO %1$s SELECT g, repeat('x', 200) FROM generate_series(1, 3000) g},
		moves => '%s', file => q{'%s'::regclass}, block => 7 },
	toast => {
		make => q{CREATE TABLE %1$s (a int, b text) TABLESPACE slow;
			ALTER TABLE %1$s ALTER b SET STORAGE EXTERNAL;
			INSERT INTO %1$s SELECT g, repeat('x', 5000) FROM generate_series(1, 200) g},
		moves => '%s', block => 7,
		file => q{(SELECT reltoastrelid FROM pg_class WHERE relname = '%s')} },
	toast_index => {
		moves => '%s', block => 1,
		file => q{(SELECT indexrelid FROM pg_index JOIN pg_class c ON c.reltoastrelid = indrelid WHERE c.relname = '%s')} },
	index => {
		make => q{CREATE TABLE %1$s (a int) TABLESPACE pg_default;
			INSERT INTO %1$s SELECT generate_series(1, 20000);
			CREATE INDEX %1$s_i ON %1$s (a) TABLESPACE slow},
		moves => '%s_i', file => q{'%s_i'::regclass}, block => 7 },
	small_index => {
		make => q{CREATE TABLE %1$s (a int) TABLESPACE pg_default;
			INSERT INTO %1$s SELECT generate_series(1, 400);
			CREATE INDEX %1$s_i ON %1$s (a) TABLESPACE slow},
		moves => '%s_i', file => q{'%s_i'::regclass}, block => 1 },
	rebuild => {
		make => q{CREATE UNLOGGED TABLE %1$s (a int, b text) TABLESPACE pg_default;
			INSERT INTO %1$s SELECT g, repeat('x', 200) FROM generate_series(1, 3000) g;
			CREATE INDEX %1$s_i ON %1$s (a) TABLESPACE slow},
		moves => '%s_i', file => q{'%s'::regclass}, block => 7 },
	lock => {
		make => q{CREATE UNLOGGED TABLE %1$s (a int, b text) TABLESPACE slow;
			INSERT INTO %1$s SELECT g, repeat('x', 200) FROM generate_series(1, 3000) g},
		moves => '%s', file => q{'%s'::regclass}, block => 7 });
$kinds{toast_index}{make} = $kinds{toast}{make};

# Kinds of damage: what is done to the file, in the block, and who finds it: the
# server, if it is not told to overlook it ("always", with "checksums"); "we" alone,
# since the server does not look there; or "nobody", since it is no damage.
my %damages = (
	row => { found => 'checksums', do => sub { overwrite(@_, 5000, "\xde\xad\xbe\xef") } },
	torn => { found => 'checksums', do => sub { overwrite(@_, 4096, "\0" x 4096) } },
	header => { found => 'always', do => sub { overwrite(@_, 12, "\xff\xff") } },
	zeros => { found => 'nobody', do => sub { overwrite(@_, 0, "\0" x BLOCK) } },
	part_of_page => { found => 'we', do => sub { append_to_file($_[0], 'x' x 1000) } },
	short_segment => { found => 'we', do => sub { append_to_file("$_[0].1", 'x' x BLOCK) } });

# What makes the server overlook it: in the configuration, for database and role, or
# in a session that reads the page before the move does.
my @settings = (
	{ name => 'no setting' },
	{ name => 'zeros, configured', conf => 'zero_damaged_pages' },
	{ name => 'zeros, of database and role', alter => 'zero_damaged_pages', checksums => 1 },
	{ name => 'zeros, read before', session => 'zero_damaged_pages' },
	{ name => 'ignored, configured', conf => 'ignore_checksum_failure', checksums => 1 },
	{ name => 'ignored, read before', session => 'ignore_checksum_failure', checksums => 1 });

sub overwrite
{
	my ($file, $block, $offset, $bytes) = @_;

	open(my $handle, '+<', $file) or die "$file: $!";
	binmode $handle;
	seek $handle, $block * BLOCK + $offset, 0;
	print $handle $bytes;
	close $handle or die "$file: $!";
	return;
}

# The pages of a file but for what a copy need not have: LSN and checksum.
sub pages_of
{
	my ($file) = @_;
	my $pages = slurp_file($file);

	substr($pages, $_ * BLOCK, 10) = "\0" x 10
	  foreach 0 .. int(length($pages) / BLOCK) - 1;
	return $pages;
}

# The files of relations, each a regclass.
sub files_of
{
	my ($node, @relations) = @_;

	return map { $node->data_dir . "/$_" } split /\n/, $node->safe_psql('postgres',
		join ';', map { "SELECT pg_relation_filepath($_)" } @relations);
}

# Relations of all kinds with all kinds of damage, and a sound one.
sub make_cases
{
	my ($node) = @_;
	my @cases;

	foreach my $kind (sort keys %kinds)
	{
		foreach my $damage ('none', sort keys %damages)
		{
			my $name = "${kind}_with_$damage";
			my %case = (name => $name, kind => $kind, damage => $damage,
				block => $kinds{$kind}{block});

			$case{$_} = sprintf $kinds{$kind}{$_}, $name foreach qw(make moves file);
			push @cases, \%case;
		}
	}
	$node->safe_psql('postgres', join ';', map { $_->{make} } @cases);
	$node->safe_psql('postgres', 'VACUUM (FREEZE)');
	my @files = files_of($node, map { $_->{file} } @cases);
	$_->{path} = shift @files foreach @cases;
	return @cases;
}

# Damages the files of a server that is down.  One change in 65536 leaves a page's
# checksum as it was: so there are two that only a checksum finds.
sub damage_files
{
	foreach my $case (@_)
	{
		my $damage = $damages{ $case->{damage} };

		$damage->{do}->($case->{path}, $case->{block}) if $damage;
		$damage->{do}->($case->{path}, $case->{block} + 1)
		  if $damage && $damage->{found} eq 'checksums';
		$case->{before} = pages_of($case->{path});
	}
	return;
}

sub is_found
{
	my ($case, $checksums) = @_;
	my $found = $case->{damage} eq 'none' ? 'nobody' : $damages{ $case->{damage} }{found};

	return $found eq 'always' || $found eq 'we' || ($found eq 'checksums' && $checksums);
}

# A session with this setting reads all pages of all relations.
sub read_all
{
	my ($node, $setting, @cases) = @_;

	$node->psql('postgres', join(";\n", "SET $setting = on",
		map { "SELECT pg_prewarm($_->{file})" } @cases), on_error_stop => 0);
	return;
}

# What has become of each relation: its job's state, whether it is listed, and whether
# what it has is what it had.
sub check_cases
{
	my ($node, $checksums, $err, $name, @cases) = @_;
	my %job = map { split /=/ } split /\n/, $node->safe_psql('postgres', q{
		SELECT concat(split_part(relation_name, '.', 2), '=', state, ' ', sqlstate)
		FROM tablespace_moves});

	$node->safe_psql('postgres', 'CHECKPOINT');
	my @files = files_of($node, map { $_->{file} } @cases);
	foreach my $case (@cases)
	{
		my $found = is_found($case, $checksums);
		my $block = $case->{damage} =~ /^(part|short)/ ? '\d+' :
		  "(?:$case->{block}|" . ($case->{block} + 1) . ')';
		my $page = qr/invalid page in block $block of|among blocks.* Block $block held the first invalid page/;
		my $file = shift @files;
		my $listed = $err =~ /WARNING: .*could not move \w+ public\.$case->{moves} .*\n.*DETAIL: .*$page/;

		is(join(', ', $job{ $case->{moves} } // 'no job', $listed ? 'listed' : 'not listed',
				$case->{kind} eq 'rebuild' || pages_of($file) eq $case->{before} ?
				'unchanged' : 'changed'),
			$found ? 'failed XX001, listed, unchanged' : 'done , not listed, unchanged',
			"$name: $case->{name}");
	}
	return;
}

sub check_setting
{
	my ($node, $setting, $checksums) = @_;
	my $name = ($checksums ? 'checksums' : 'no checksums') . ", $setting->{name}";
	my @cases = make_cases($node);

	$node->safe_psql('postgres', 'TRUNCATE tablespace_advisor.job CASCADE');
	$node->append_conf('postgresql.conf', "$setting->{conf} = on") if $setting->{conf};
	if ($setting->{alter})
	{
		$node->safe_psql('postgres', "ALTER $_ SET $setting->{alter} = on")
		  foreach 'DATABASE postgres', 'ROLE CURRENT_USER';
	}
	$node->stop;
	damage_files(@cases);
	$node->start;
	read_all($node, $setting->{session}, @cases) if $setting->{session};

	my ($rc, undef, $err) = $node->psql('postgres',
		q{CALL evacuate_tablespace('slow', 'fast', lock_up_to => '1 GB')}, timeout => 180);
	is($rc, 0, "$name: the evacuation goes on") or diag $err;
	check_cases($node, $checksums, $err, $name, @cases);

	$node->append_conf('postgresql.conf', "$setting->{conf} = off") if $setting->{conf};
	$node->safe_psql('postgres', "ALTER $_ RESET ALL")
	  foreach 'DATABASE postgres', 'ROLE CURRENT_USER';
	$node->reload;
	$node->safe_psql('postgres', 'DROP TABLE ' . join ', ', map { $_->{name} } @cases);
	return;
}

# The maps are read as the server reads them: what is damaged counts as zeros.
sub check_maps
{
	my ($node, $checksums) = @_;
	my $name = $checksums ? 'checksums' : 'no checksums';

	$node->safe_psql('postgres', q{
		CREATE TABLE maps (a int PRIMARY KEY) TABLESPACE slow;
		INSERT INTO maps SELECT generate_series(1, 20000);
		DELETE FROM maps WHERE a % 2 = 0});
	$node->safe_psql('postgres', 'VACUUM (FREEZE) maps');
	my ($file) = files_of($node, q{'maps'});
	$node->stop;
	overwrite($file . $_, 0, 12, "\xff\xff") foreach '_vm', '_fsm';
	$node->start;
	$node->safe_psql('postgres', q{CALL move_table_concurrently('maps', 'fast')});
	is($node->safe_psql('postgres', q{SELECT pg_relation_size('maps', 'vm') > 0, count(*) FROM maps}),
		't|10000', "$name: a table with damaged maps moves");
	$node->safe_psql('postgres', 'DROP TABLE maps');
	return;
}

# A visibility map that a session has read in spite of its checksum.  Its bits say that
# rows are there which are gone: index-only scans count them.
sub check_ignored_map
{
	my ($node) = @_;
	my $count = q{SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT count(*) FROM ignored WHERE a > 0};

	$node->safe_psql('postgres', q{
		CREATE TABLE ignored (a int PRIMARY KEY) TABLESPACE slow;
		INSERT INTO ignored SELECT generate_series(1, 3000)});
	$node->safe_psql('postgres', 'VACUUM (FREEZE) ignored');
	$node->safe_psql('postgres', 'DELETE FROM ignored WHERE a % 3 = 0');
	my ($file) = files_of($node, q{'ignored'});
	$node->stop;
	overwrite($file . '_vm', 0, 24, "\xff" x 8);
	$node->start;
	is($node->safe_psql('postgres', "SET ignore_checksum_failure = on; $count"), '3000',
		'ignored map: the damage counts rows that are gone');
	$node->safe_psql('postgres', q{CALL move_table_concurrently('ignored', 'fast')});
	is($node->safe_psql('postgres', $count), '2000', 'ignored map: the copy does not count them');
	$node->safe_psql('postgres', 'DROP TABLE ignored');
	return;
}

# The file of a copy under way.
sub file_of_copy
{
	my ($node, $job) = @_;
	my $number = $node->safe_psql('postgres',
		"SELECT new_filenumbers[1] FROM tablespace_advisor.job WHERE job_id = $job");

	return glob $node->data_dir . "/pg_tblspc/*/*/*/$number";
}

# Files that something other than the server cuts while it runs.  Earlier tests damaged
# files of a server that was down, whose buffers are empty then.
sub check_cut_files
{
	my ($node) = @_;

	foreach my $how ('clean', 'dirty')
	{
		$node->safe_psql('postgres', q{
			CREATE TABLE cut (a int PRIMARY KEY, b text) TABLESPACE slow;
			INSERT INTO cut SELECT g, repeat('x', 200) FROM generate_series(1, 3000) g});
		$node->safe_psql('postgres', 'CHECKPOINT') if $how eq 'clean';
		my ($file) = files_of($node, q{'cut'});
		truncate $file, 40 * BLOCK or die "$file: $!";
		my ($rc, undef, $err) = $node->psql('postgres', q{
			\set VERBOSITY verbose
			CALL move_table_concurrently('cut', 'fast')});
		like($err, qr/XX001.*invalid page in block \d+ of.*shared buffers/s,
			"cut file, $how pages in shared buffers: the move is refused");
		is($node->safe_psql('postgres', q{SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT count(b) FROM cut WHERE a > 0}),
			'3000', "cut file, $how pages in shared buffers: the original has them");
		$node->safe_psql('postgres', 'DROP TABLE cut');
	}

	foreach my $rows (0, 3000)
	{
		$node->safe_psql('postgres', q{
			CREATE TABLE cut (a int PRIMARY KEY, b text) TABLESPACE slow;
			INSERT INTO cut SELECT g, repeat('x', 200) FROM generate_series(1, 3000) g});
		my $job = start_stopped_table_move($node, 'copied', 'cut', 'fast');
		my ($file) = file_of_copy($node, $job);
		truncate $file, 40 * BLOCK or die "copy: $!";
		$node->safe_psql('postgres', qq{
			INSERT INTO cut SELECT g, repeat('y', 200) FROM generate_series(3001, 3000 + $rows) g});
		stop_at($node, '');
		is(wait_for_job($node, $job), 'failed', "cut copy, $rows rows more: the move fails");
		is($node->safe_psql('postgres', 'SELECT count(b) FROM cut'), 3000 + $rows,
			"cut copy, $rows rows more: the original has all rows");
		like($node->safe_psql('postgres', "SELECT error FROM tablespace_moves WHERE job_id = $job"),
			qr/has \d+ blocks instead of \d+/, "cut copy, $rows rows more: the error says why");
		wait_for_workers($node);
		$node->safe_psql('postgres', 'DROP TABLE cut');
	}
	return;
}

# A copy that somebody takes for left over, since no relation has it yet, and removes.
# Other tests remove copies of interrupted moves only.
sub check_removed_copy
{
	my ($node) = @_;

	$node->safe_psql('postgres', q{
		CREATE TABLE removed (a int PRIMARY KEY, b text) TABLESPACE slow;
		INSERT INTO removed SELECT g, repeat('x', 200) FROM generate_series(1, 3000) g});
	my $job = start_stopped_table_move($node, 'window', 'removed', 'fast');
	unlink file_of_copy($node, $job) or die "copy: $!";
	stop_at($node, '');
	is(wait_for_job($node, $job), 'failed', 'removed copy: the move fails');
	like($node->safe_psql('postgres', "SELECT sqlstate, error FROM tablespace_moves WHERE job_id = $job"),
		qr/^58P01\|could not open file ".*": No such file or directory$/, 'removed copy: the error says why');
	wait_for_workers($node);
	$node->safe_psql('postgres', 'CHECKPOINT');
	is($node->safe_psql('postgres', 'SELECT count(b) FROM removed'), '3000', 'removed copy: the original has all rows');
	$node->safe_psql('postgres', q{CALL move_table_concurrently('removed', 'fast')});
	check_orphans($node, 'removed copy, moved again');
	$node->safe_psql('postgres', 'DROP TABLE removed');
	return;
}

# Zeros in place of a page of pg_class would make files of relations nobody's.
sub check_catalog
{
	my ($node) = @_;

	$node->safe_psql('postgres', 'CREATE DATABASE broken TEMPLATE template0');
	$node->safe_psql('broken', 'CREATE EXTENSION tablespace_advisor');
	$node->safe_psql('broken', "CREATE TABLE filler_$_ (a int)") foreach 1 .. 100;
	$node->safe_psql('broken', 'CREATE TABLE hidden (a int) TABLESPACE slow; INSERT INTO hidden VALUES (1)');
	my $block = $node->safe_psql('broken', q{
		SELECT split_part(trim(both '()' from ctid::text), ',', 1) FROM pg_class WHERE relname = 'hidden'});
	my $file = $node->data_dir . '/'
	  . $node->safe_psql('broken', q{SELECT pg_relation_filepath('pg_class')});
	$node->stop;
	overwrite($file, $block, 12, "\xff\xff");
	$node->start;
	foreach my $setting ('SET zero_damaged_pages = on;', '')
	{
		foreach my $database ('broken', 'postgres')
		{
			my ($rc, $out, $err) = $node->psql($database,
				"\\set VERBOSITY verbose\n$setting SELECT how, reason FROM tablespace_contents('slow')");
			my $name = "damaged pg_class, from $database, '$setting'";

			unlike($out, qr/orphan/, "$name: nothing is called an orphan");
			isnt($rc, 0, "$name: the call fails");
		}
		$node->psql('broken', 'SET zero_damaged_pages = on; SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off; SELECT count(*) FROM pg_class');
	}
	$node->safe_psql('postgres', 'DROP DATABASE broken');
	return;
}

foreach my $checksums (1, 0)
{
	my $version = `pg_config --version` =~ /(\d+)/ ? $1 : die 'no version';
	my $node = new_node($checksums ? 'checksums' : 'none', checksums => $checksums,
		conf => qq{
autovacuum = off
checkpoint_timeout = 1h
bgwriter_lru_maxpages = 0
shared_buffers = 64MB
tablespace_advisor.min_wal_space = 0
}, $checksums || $version < 18 ? () : (init => { extra => ['--no-data-checksums'] }));

	$node->start;
	prepare_node($node);
	my ($has_prewarm) = $node->psql('postgres', 'CREATE EXTENSION pg_prewarm');
	foreach my $setting (@settings)
	{
		next if $setting->{checksums} && !$checksums;
		SKIP:
		{
			skip 'the server has no pg_prewarm', 1
			  if $setting->{session} && $has_prewarm != 0;
			check_setting($node, $setting, $checksums);
		}
	}
	check_maps($node, $checksums);
	check_ignored_map($node) if $checksums;
	check_cut_files($node);
	check_removed_copy($node);
	check_catalog($node) if $checksums;
	check_no_crash($node, $checksums ? 'checksums' : 'no checksums');
	$node->stop;
}

done_testing();
