# Copyright (c) 2026, The tablespace_advisor developers

# bench/published in miniature, as the unprivileged user that tests run as: each
# experiment ends well, and each row is measured or skipped with a reason.  The
# figures themselves are not looked at.

use TsaTest;

plan skip_all => 'bash is needed' if system('bash -c true') != 0;
my $temp = PostgreSQL::Test::Utils::tempdir;
$ENV{PG_CONFIG} //= 'pg_config';
delete $ENV{TALLY_COPY};    # theirs who run these tests

my $list = `bench/published list`;
is($?, 0, 'the experiments are listed');
my @experiments = $list =~ /^(\w+)/mg;
cmp_ok(scalar @experiments, '>=', 11, 'all experiments are listed');

my $output = `bench/published all --small --as-installed --pictures $temp/pictures 2>&1`;
my $status = $?;
is($status, 0, 'all miniatures end well') || diag $output;

foreach my $name (@experiments)
{
	my ($part) = $output =~ /^== \Q$name\E: (.*?)(?=^== |\z)/ms;
	my @rows = grep { /\|/ && !/^quantity / } split /\n/, $part // '';
	my @bad = grep {
		my ($quantity, $published, $here, $ratio, $note) = map { s/^\s+|\s+$//gr } split /\|/;
		!defined $here || $here eq '' || $here eq 'MISSING' ||
		  ($here eq 'skipped' && ($note // '') eq '')
	} @rows;
	ok(@rows && !@bad, "$name: each row is measured, or skipped with a reason")
	  || diag join "\n", @bad;
}

# a picture is a whole SVG
foreach my $picture (glob "$temp/pictures/*.svg")
{
	my $svg = slurp_file($picture);
	like($svg, qr/<svg.*<\/svg>\s*\z/s, (split m{/}, $picture)[-1] . ' is complete');
}
isnt(system('bench/published', 'nothing'), 0, 'an unknown experiment is an error');
done_testing();
