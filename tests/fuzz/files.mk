# SPDX-License-Identifier: GPL-2.0-only
# Fuzz targets: tests/fuzz/NAME.c with a corpus in tests/fuzz/corpus/NAME. check-fuzz replays the
# corpora. A directory with a target of its own appends to FUZZ_TARGETS, FUZZ_ARCHIVES and
# FUZZ_LIBS in its files.mk. To look for new inputs:
#
#   make O=/tmp/fuzz CC=clang CFLAGS='-O1 -g -fsanitize=fuzzer-no-link,address,undefined' \
#        FUZZ_ENGINE=-fsanitize=fuzzer /tmp/fuzz/tests/fuzz/NAME
#   /tmp/fuzz/tests/fuzz/NAME /tmp/new-inputs tests/fuzz/corpus/NAME
FUZZ_TARGETS += pprof page knobs log_records python_lines
FUZZ_ARCHIVES += $(CORE_LIB)
FUZZ_LIBS += $(CORE_LIBS)
FUZZ_ENGINE ?=
FUZZ_PROGRAMS := $(FUZZ_TARGETS:%=$(O)/tests/fuzz/%)

$(FUZZ_PROGRAMS): %: %.o $(if $(FUZZ_ENGINE),,$(O)/tests/fuzz/replay.o) $(FUZZ_ARCHIVES)
	$(call link,$(FUZZ_ENGINE) $(FUZZ_LIBS))

$(O)/tests/fuzz/knobs: $(O)/cli/knobs/knob_page.o
$(O)/tests/fuzz/log_records: $(O)/tests/unit/core/replay/laws.o
$(O)/tests/fuzz/python_lines: $(O)/daemon/attribution/python_lines.o
$(O)/tests/fuzz/page: $(O)/daemon/attribution/shm_reader.o

.PHONY: fuzz-targets
fuzz-targets: $(FUZZ_PROGRAMS)

check-fuzz: fuzz-targets
