# Copyright (c) 2026, The tablespace_advisor developers

# Calls of all functions and procedures of the extension that SQL can call, as
# the catalog has them: one that is added is among them by itself.

package TsaTest::Routines;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Cluster;
use Test::More;

our @EXPORT = qw(routines_of harmless literal call_of state_of);

# Each routine: name (with its schema), kind (f or p), schema, types and names of
# the arguments that a caller gives.  Trigger functions cannot be called.
sub routines_of
{
	my ($node, $dbname) = @_;
	my $rows = $node->safe_psql($dbname // 'postgres', q{
		SET search_path = pg_catalog;
		SELECT p.oid::regproc, p.prokind, n.nspname, p.provariadic <> 0,
			(SELECT string_agg(CASE a WHEN 'anyarray'::regtype THEN 'integer[]'
					ELSE format_type(a, NULL) END, '/' ORDER BY i)
				FROM unnest(p.proargtypes) WITH ORDINALITY AS u(a, i)),
			(SELECT string_agg(p.proargnames[i], '/' ORDER BY i)
				FROM generate_subscripts(p.proargnames, 1) i
				WHERE p.proargmodes IS NULL OR p.proargmodes[i] IN ('i', 'b', 'v'))
		FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
			JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
				AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
			JOIN pg_extension e ON e.oid = d.refobjid
		WHERE e.extname = 'tablespace_advisor' AND p.prokind IN ('f', 'p')
			AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype)
		ORDER BY 1, 5});
	my @routines;

	foreach my $row (split /\n/, $rows)
	{
		my ($name, $kind, $schema, $is_variadic, $types, $names) = split /\|/, $row;

		push @routines,
		  {
			name => $name,
			kind => $kind,
			schema => $schema,
			is_variadic => $is_variadic eq 't',
			types => [ split m{/}, $types // '' ],
			names => [ split m{/}, $names // '' ]
		  };
	}
	return @routines;
}

my %harmless = (
	integer => '1',
	bigint => '1',
	smallint => '1',
	'double precision' => '1',
	real => '1',
	numeric => '1',
	boolean => 'false',
	name => 'fast',
	interval => '1 ms',
	regclass => 't',
	oid => '1663',
	'"char"' => 'r',
	'timestamp with time zone' => 'now',
	pg_lsn => '0/0',
	jsonb => '{}');

# Arguments for which these values mean nothing, by their names.
my %meaningful = (
	during => undef,
	fillfactor => '100',
	file_size => '1 MB',
	finish_by => undef,
	lock_up_to => '1 GB',
	method => 'auto',
	indexes => undef,
	object => 'table',
	observe => undef,
	partitions => '0',
	query => 'SELECT 1',
	target_size => '1 GB',
	to_tablespace => 'slow',
	mode => 'scratch',
	workloads => undef,
	until => undef,
	wait => 'true');

# A value of a type that does no harm; undef, which is NULL, for text and for a row
# type of the extension.  With the argument's name one that it takes.
sub harmless
{
	my ($type, $name) = @_;

	return $meaningful{$name}
	  if defined $name && exists $meaningful{$name} && $type !~ /^(?:oid|bigint)$/;
	return $harmless{$type} unless $type =~ /^(.*)\[\]$/;
	my $one = harmless($1) // 'NULL';
	return $one eq '{}' ? $one : "{$one}";
}

sub literal
{
	my ($value, $type) = @_;

	return "NULL::$type" if !defined $value;
	$value =~ s/'/''/g;
	return "'$value'::$type";
}

# The statement that calls a routine.  arguments: others than the harmless ones;
# wrap: the name of a function that each argument goes through; more: an
# expression that is evaluated before a function without arguments.
sub call_of
{
	my ($routine, %args) = @_;
	my @types = @{ $routine->{types} };
	my @arguments = @{ $args{arguments}
		  // [ map { literal(harmless($types[$_], $routine->{names}[$_]), $types[$_]) } 0 .. $#types ] };

	@arguments = map { "$args{wrap}($_)" } @arguments if $args{wrap};
	$arguments[-1] = "VARIADIC $arguments[-1]" if $routine->{is_variadic};
	my $call = "$routine->{name}(" . join(', ', @arguments) . ')';
	return "CALL $call" if $routine->{kind} eq 'p';
	$call = "$args{more}, $call" if $args{more} && !@arguments;
	return "SELECT $call";
}

# What the extension's tables and sequences have in them, as a digest for each.
sub state_of
{
	my ($node, $dbname) = @_;

	return $node->safe_psql($dbname // 'postgres', q{
		SELECT format('SELECT %L, md5(string_agg(%s::text, chr(10) ORDER BY %2$s::text)) FROM %1$s t',
			c.oid::regclass, CASE c.relkind WHEN 'S' THEN 'last_value' ELSE 't' END)
		FROM pg_extension e
			JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
				AND d.classid = 'pg_class'::regclass AND d.deptype IN ('e', 'i')
			JOIN pg_class c ON c.oid = d.objid
		WHERE e.extname = 'tablespace_advisor' AND c.relkind IN ('r', 'S')
		ORDER BY c.oid::regclass::text
		\gexec
	});
}

1;
