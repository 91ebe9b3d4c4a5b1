# SPDX-License-Identifier: GPL-2.0-only
# One Check runner for all unit tests. A directory with tests of its own appends to UNIT_SRC,
# UNIT_ARCHIVES (libraries built here) and UNIT_LIBS in its files.mk, and its suite to suites.h.
UNIT := $(O)/tests/unit/unit
TESTS += $(UNIT)
UNIT_CORE_SRC := $(addprefix tests/unit/,main.c bytes.c failing.c fixture.c fixture_equal.c test_damage.c test_difference.c \
                   test_edges.c test_effective.c test_escape.c test_estimate.c test_governor.c test_json.c test_merge.c test_overhead.c test_part.c \
                   test_polled.c test_pprof.c test_processes.c test_profile.c test_report.c test_slices.c test_summary.c test_together.c test_utf8.c test_waiting.c test_waits.c)
UNIT_SRC += $(UNIT_CORE_SRC)
UNIT_ARCHIVES += $(CORE_LIB)
UNIT_LIBS += $(CORE_LIBS) -lcheck_pic -lsubunit -lrt -lpthread
UNIT_WRAP := malloc calloc realloc strdup asprintf deflateInit2_ inflateInit2_

$(UNIT): $(patsubst %.c,$(O)/%.o,$(UNIT_SRC)) $(UNIT_ARCHIVES)
	$(call link,$(UNIT_WRAP:%=-Wl$(comma)--wrap=%) $(UNIT_LIBS))

$(patsubst %.c,$(O)/%.o,$(UNIT_CORE_SRC)): | $(CORE_PB).h

comma := ,

check-unit: $(UNIT)
	$(Q)$(UNIT)
