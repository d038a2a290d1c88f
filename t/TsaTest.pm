# The harness of the tests.  `use TsaTest;` imports all of it; what there is, by
# subject, in TsaTest/.

package TsaTest;

use strict;
use warnings;

use TsaTest::Judge;
use TsaTest::Load;
use TsaTest::Move;
use TsaTest::Placement;
use TsaTest::Power;
use TsaTest::Recipe;
use TsaTest::Routines;
use TsaTest::Server;
use TsaTest::Session;
use TsaTest::Table;
use TsaTest::Tier;
use TsaTest::Travel;

our @EXPORT = (
	@TsaTest::Judge::EXPORT, @TsaTest::Load::EXPORT,
	@TsaTest::Move::EXPORT, @TsaTest::Placement::EXPORT,
	@TsaTest::Power::EXPORT, @TsaTest::Recipe::EXPORT,
	@TsaTest::Routines::EXPORT, @TsaTest::Server::EXPORT,
	@TsaTest::Session::EXPORT, @TsaTest::Table::EXPORT,
	@TsaTest::Tier::EXPORT, @TsaTest::Travel::EXPORT);

use Exporter 'import';

1;
