# TsaTest::Tier under its short name.
package TsaTier;

use strict;
use warnings;

use Exporter 'import';
use TsaTest::Tier;

our @EXPORT = @TsaTest::Tier::EXPORT;

1;
