# SPDX-License-Identifier: GPL-2.0-only
# What `make bench` measures with; built as the test programs are.
BENCH_PROGRAMS := $(patsubst %.c,$(O)/%,$(wildcard tests/bench/*.c))
TESTS += $(BENCH_PROGRAMS)
BENCH_OBJECTS_slots := $(O)/daemon/shm/poll_table.o $(O)/daemon/attribution/shm_reader.o
BENCH_OBJECTS_scopes := $(O)/libquartz.a
BENCH_OBJECTS_tables := $(O)/tests/unit/symbolizer/cfi_bytes.o $(O)/tests/unit/symbolizer/cfi_image.o $(SYMBOLIZER_LIB)
BENCH_LIBS_tables := $(SYMBOLIZER_LIBS)
BENCH_OBJECTS_replay := $(CORE_LIB)
BENCH_LIBS_redis_rate := -lm
BENCH_LIBS_empty := -lbpf

$(O)/tests/bench/slots: $(BENCH_OBJECTS_slots)
$(O)/tests/bench/scopes: $(BENCH_OBJECTS_scopes)
$(O)/tests/bench/tables: $(BENCH_OBJECTS_tables)
$(O)/tests/bench/replay: $(BENCH_OBJECTS_replay)

$(O)/tests/bench/balanced: TEST_PROGRAM_CFLAGS += -fopenmp

$(BENCH_PROGRAMS): $(O)/%: %.c
	$(say) PROGRAM $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(WARN) $(WERROR) $(TEST_PROGRAM_CFLAGS) -MMD -MP -MF $@.d -MT $@ -o $@ $< \
		$(BENCH_OBJECTS_$(@F)) $(BENCH_LIBS_$(@F))

bench: tests
