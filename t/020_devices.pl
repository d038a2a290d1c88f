# Copyright (c) 2026, The tablespace_advisor developers

# tablespace_devices() against what other tools say of the same directories:
# df for mount point, type and size, lsblk for the disks, and a memory file
# system where there is one.  Links, a directory that has gone, and names that
# are not ASCII.

use utf8;
use TsaTest;

my $node = start_plain('devices');

sub column
{
	my ($tablespace, $expression) = @_;

	$expression = q{translate(warnings::text, E'\n', ' ')} if $expression eq 'warnings';
	return $node->safe_psql('postgres',
		"SELECT $expression FROM tablespace_devices() WHERE tablespace = '$tablespace'"
	);
}

# What df says of a directory, in bytes.
sub df
{
	my ($directory, $what) = @_;
	my @lines = split /\n/, `df -B1 --output=$what '$directory'`;
	my $value = $lines[1] // '';
	$value =~ s/^\s+|\s+$//g;
	return $value;
}

# a tablespace behind two symbolic links
my $temp = PostgreSQL::Test::Utils::tempdir;
mkdir "$temp/real" or die $!;
symlink "$temp/real", "$temp/link" or die $!;
$node->safe_psql('postgres',
	"CREATE TABLESPACE linked LOCATION '$temp/link'");
is(column('linked', 'location'), "$temp/link", 'location as the user gave it');

foreach my $case ([ 'linked', "$temp/real" ],
	[ 'pg_default', $node->data_dir . '/base' ])
{
	my ($tablespace, $directory) = @$case;
	is(column($tablespace, 'mount_point'),
		df($directory, 'target'), "$tablespace: mount point as df says");
	is(column($tablespace, 'filesystem'),
		df($directory, 'fstype'), "$tablespace: file system as df says");
	is(column($tablespace, 'size_bytes'),
		df($directory, 'size'), "$tablespace: size as df says");
}
is( column('linked', "'pg_default' = ANY (shares_device_with)"),
	df("$temp/real", 'source') eq df($node->data_dir, 'source') ? 't' : 'f',
	'two tablespaces on one device share it');

# pg_wal on the data directory's device, then behind a link on another one
like(column('pg_default', 'warnings'),
	qr/same device as pg_wal/, 'pg_wal beside pg_default is warned of');
unlike(column('pg_global', 'warnings'),
	qr/same device as pg_wal/, 'pg_global is too small for that');
SKIP:
{
	skip '/dev/shm is on the device of the data directory, or closed', 2
	  unless -d '/dev/shm' && -w '/dev/shm' &&
	  df('/dev/shm', 'target') ne df($node->data_dir, 'target');
	my $wal = "/dev/shm/tablespace_advisor.wal.$$";
	my $in_data = $node->data_dir . '/pg_wal';
	$node->stop;
	system_or_bail('cp', '-a', $in_data, $wal);
	rename $in_data, "$in_data.before" or die $!;
	symlink $wal, $in_data or die $!;
	$node->start;
	unlike(column('pg_default', 'warnings'),
		qr/same device as pg_wal/, 'pg_wal elsewhere is no reason to warn');
	is( $node->safe_psql('postgres',
			'SELECT location FROM tablespace_advisor.tablespace_device(0)'),
		$wal, 'pg_wal is followed through its link');
	$node->stop;
	unlink $in_data or die $!;
	rename "$in_data.before", $in_data or die $!;
	# what was written meanwhile
	system_or_bail('cp', '-a', glob("$wal/0*"), $in_data);
	system_or_bail('rm', '-r', $wal);
	$node->start;
}

# the disks at the bottom, as lsblk finds them from its own reading of /sys
SKIP:
{
	my $device = column('pg_default', 'device');
	my $leaves = $node->safe_psql('postgres',
		q{SELECT string_agg(leaf, ' ' ORDER BY leaf COLLATE "C")
		  FROM tablespace_advisor.tablespace_device(1663), unnest(leaves) AS leaf}
	);
	my $below = -b $device ? `lsblk -nrso NAME,TYPE $device 2>/dev/null` : '';
	my %disks = map { $_ => 1 } $below =~ /^(\S+) disk$/mg;

	skip "lsblk knows no disk under $device", 1 unless %disks;
	skip 'of several paths to a disk one is followed', 1 if $below =~ / mpath$/m;
	is($leaves, join(' ', sort keys %disks), 'disks as lsblk says');
}

# memory
SKIP:
{
	skip '/dev/shm is no tmpfs that this user may write to', 4
	  unless -d '/dev/shm' && -w '/dev/shm' && df('/dev/shm', 'fstype') eq 'tmpfs';
	my $shm = "/dev/shm/tablespace_advisor.$$";
	mkdir $shm or die $!;
	$node->safe_psql('postgres', "CREATE TABLESPACE memory LOCATION '$shm'");
	is(column('memory', 'media'), 'memory', 'tmpfs is memory');
	is(column('memory', 'volatile'), 't', 'tmpfs is volatile');
	like(column('memory', 'warnings'),
		qr/volatile storage/, 'tmpfs is warned of');
	is(column('memory', "'pg_default' = ANY (shares_device_with)"),
		df($node->data_dir, 'target') eq df($shm, 'target') ? 't' : 'f',
		'tmpfs shares a device with its own mount only');
	$node->safe_psql('postgres', 'DROP TABLESPACE memory');
	rmdir $shm;
}

# a name that the database's encoding cannot hold
$node->safe_psql('postgres',
	q{CREATE DATABASE utf ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0}
);
$node->safe_psql('utf', 'CREATE EXTENSION tablespace_advisor');
my $odd = "$temp/bad\xff name";
utf8::downgrade($odd);
mkdir $odd or die $!;
my $oid = $node->safe_psql('postgres',
	"SELECT oid FROM pg_tablespace WHERE spcname = 'linked'");
my $in_data = $node->data_dir . "/pg_tblspc/$oid";
unlink $in_data or die $!;
symlink $odd, $in_data or die $!;
is( $node->safe_psql(
		'utf',
		"SELECT right(location, 9) FROM tablespace_devices() WHERE tablespace = 'linked'"
	),
	'bad? name',
	'bytes that are no text of the database are shown as question marks');

# the directory has gone: a row with a warning, no error
unlink $in_data or die $!;
symlink "$temp/gone", $in_data or die $!;
is( column('linked', 'filesystem IS NULL AND size_bytes IS NULL'),
	't', 'nothing is known of a directory that has gone');
is(column('linked', 'media'), 'unknown', 'the medium of a directory that has gone is unknown');
is(column('linked', 'location'), "$temp/gone", 'the link to a directory that has gone is shown');
like(
	column('linked', 'warnings'),
	qr/could not open directory: No such file or directory/,
	'a warning says why');
is($node->safe_psql('postgres', 'SELECT count(*) FROM tablespace_devices()'),
	3, 'the other tablespaces are still listed');

# a directory that the server may not read
unlink $in_data or die $!;
mkdir "$temp/closed", 0000 or die $!;
symlink "$temp/closed", $in_data or die $!;
like(
	column('linked', 'warnings'),
	qr/could not open directory: Permission denied/,
	'a directory that the server may not read');
chmod 0700, "$temp/closed";

$node->stop;
done_testing();
