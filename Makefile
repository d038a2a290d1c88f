# Copyright (c) 2026, The tablespace_advisor developers

# tablespace_advisor: PGXS build.
#
#   make            build (libaio-dev and the server's -dev package needed)
#   make install    install into the server that PG_CONFIG names
#   make installcheck   pg_regress, isolation and TAP tests
#   make unit       tests of the pure C modules, no server needed
#   make format     lay the C code out (format-check: only say what differs)
#   make lint       static analysis, layering, documentation
#
# The install script is concatenated from the stages' own SQL files, in the
# order in which data flows, so that C and SQL of a stage lie side by side.

# Out of tree: make -f PATH/Makefile in another directory.

PG_CONFIG ?= pg_config

# What clients would take from whoever runs the tests.
unexport PGOPTIONS PGTZ PGDATESTYLE PGCLIENTENCODING PGAPPNAME PGGEQO

# where this file is; PGXS has srcdir, but says so only further down
TOP := $(patsubst %/,%,$(dir $(firstword $(MAKEFILE_LIST))))
# the files that match patterns, as seen from there
in_top = $(patsubst $(TOP)/%,%,$(sort $(wildcard $(addprefix $(TOP)/,$(1)))))

EXTENSION = tablespace_advisor
CONTROL = $(TOP)/$(EXTENSION).control
EXTVERSION := $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" $(CONTROL))

STAGES = state probe size wait sample cost journal advise move tier apply report

MODULE_big = $(EXTENSION)
OBJS := $(EXTENSION).o $(foreach stage,$(STAGES),\
	$(patsubst %.c,%.o,$(call in_top,src/$(stage)/*.c src/$(stage)/*/*.c)))
SRC_HEADERS := $(addprefix $(TOP)/,$(call in_top,src/*.h src/*/*.h src/*/*/*.h))

# An update makes every view and function anew; the tables it already has.
SQL_TABLES := $(foreach stage,$(STAGES),$(call in_top,src/$(stage)/tables.sql))
# a stage's SQL but its tables of 1.0: first its tables that 1.0 lacks
other_sql = $(call in_top,src/$(1)/*_tables.sql) \
	$(filter-out %/tables.sql %_tables.sql,$(call in_top,src/$(1)/*.sql))
SQL_ALL := $(foreach stage,$(STAGES),\
	$(call in_top,src/$(stage)/tables.sql) $(call other_sql,$(stage)))
INSTALL_SQL = $(EXTENSION)--$(EXTVERSION).sql
INSTALL_PARTS = $(addprefix $(TOP)/,src/extension.sql $(SQL_ALL) src/finish.sql)
UPDATE_SQL = $(EXTENSION)--1.0--$(EXTVERSION).sql
UPDATE_PARTS = $(addprefix $(TOP)/,src/update.sql \
	$(filter-out $(SQL_TABLES),$(SQL_ALL)) src/finish.sql)

DATA_built = $(INSTALL_SQL) $(UPDATE_SQL)
# install scripts of released versions, and the updates between versions
DATA := $(call in_top,releases/*.sql)
EXTRA_CLEAN = build/unit

# The server's headers count as system headers: they are not ours to warn of.
PG_CPPFLAGS = -I$(TOP)/src -DTSA_VERSION='"$(EXTVERSION)"' \
	-isystem $(shell $(PG_CONFIG) --includedir-server)
PG_CFLAGS = -Wall -Wextra -Werror
# calls within the library go directly, not through tables that the hooks would
# fetch into the processor's cache in every execution
SHLIB_LINK = -laio -Wl,-Bsymbolic

REGRESS_OPTS = --load-extension=$(EXTENSION)
# a server without contrib modules has no pgstattuple to measure bloat with
NO_CONTRIB := $(if $(wildcard $(shell $(PG_CONFIG) --sharedir)/extension/pgstattuple.control),,advise_bloat)
REGRESS := $(filter-out $(NO_CONTRIB),$(patsubst sql/%.sql,%,$(call in_top,sql/*.sql)))
ISOLATION := $(patsubst specs/%.spec,%,$(call in_top,specs/*.spec))
ISOLATION_OPTS = --load-extension=$(EXTENSION)
TAP_TESTS := $(if $(call in_top,t/*.pl),1)

PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# where the tests' harness is; the tests run in the directory of this file
PG_PROVE_FLAGS += -I t

# PGXS does not track headers, nor that the version is compiled in; out of tree
# it makes no directories.
$(OBJS): $(SRC_HEADERS) $(CONTROL)
ifneq ($(TOP),.)
$(shell mkdir -p $(sort $(dir $(OBJS))))
endif

$(INSTALL_SQL): $(INSTALL_PARTS) $(CONTROL) $(TOP)/Makefile
	cat $(INSTALL_PARTS) > $@
$(UPDATE_SQL): $(UPDATE_PARTS) $(CONTROL) $(TOP)/Makefile
	cat $(UPDATE_PARTS) > $@

# Everything that is committed: a zip, which PGXN takes, and a tarball.
DISTNAME = $(EXTENSION)-$(shell sed -n 's/^\t"version": "\(.*\)",/\1/p' $(TOP)/META.json)
.PHONY: dist
dist:
	mkdir -p build
	for format in zip tar.gz; do \
		git archive --prefix=$(DISTNAME)/ -o build/$(DISTNAME).$$format HEAD || exit; \
	done

# Unit tests: each is a program of its own that includes the modules it tests.
UNIT_TESTS := $(patsubst test/%.c,build/%,$(call in_top,test/unit/test_*.c))
UNIT_CFLAGS = -std=gnu99 -g1 -O1 -Wall -Wextra -Werror -fno-omit-frame-pointer \
	-fsanitize=address,undefined -fno-sanitize-recover=all

build/unit/%: test/unit/%.c $(addprefix $(TOP)/,$(call in_top,test/unit/*.h \
		src/*.h src/*/*.[ch] src/*/*/*.[ch]))
	@mkdir -p $(@D)
	$(CC) $(UNIT_CFLAGS) -I$(TOP)/src -I$(TOP)/test/unit -o $@ $< -laio -lm

.PHONY: unit lint format format-check
unit: $(UNIT_TESTS)
	$(or $(PROVE),prove) --exec '' $(PROVE_FLAGS) $(UNIT_TESTS)

lint:
	tools/lint
format:
	tools/format
format-check:
	tools/format --check
