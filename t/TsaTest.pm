# Copyright (c) 2026, The tablespace_advisor developers

# The harness of the tests.  `use TsaTest;` is all that a test needs to begin: it
# turns strict and warnings on, and imports Test::More, the server's own modules
# for tests, and what there is, by subject, in TsaTest/.

package TsaTest;

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use TsaTest::Judge;
use TsaTest::Load;
use TsaTest::Move;
use TsaTest::Placement;
use TsaTest::Plan;
use TsaTest::Power;
use TsaTest::Recipe;
use TsaTest::Routines;
use TsaTest::Server;
use TsaTest::Session;
use TsaTest::Table;
use TsaTest::Tier;
use TsaTest::Travel;

our @EXPORT = (
	@PostgreSQL::Test::Utils::EXPORT, @Test::More::EXPORT,
	@TsaTest::Judge::EXPORT, @TsaTest::Load::EXPORT,
	@TsaTest::Move::EXPORT, @TsaTest::Placement::EXPORT,
	@TsaTest::Plan::EXPORT, @TsaTest::Power::EXPORT, @TsaTest::Recipe::EXPORT,
	@TsaTest::Routines::EXPORT, @TsaTest::Server::EXPORT,
	@TsaTest::Session::EXPORT, @TsaTest::Table::EXPORT,
	@TsaTest::Tier::EXPORT, @TsaTest::Travel::EXPORT);

use Exporter ();

sub import
{
	strict->import;
	warnings->import;
	goto &Exporter::import;
}

1;
