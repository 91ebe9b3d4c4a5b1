# SPDX-License-Identifier: GPL-2.0-only
# What `make bench` measures with; built as the test programs are.
BENCH_PROGRAMS := $(patsubst %.c,$(O)/%,$(wildcard tests/bench/*.c))
TESTS += $(BENCH_PROGRAMS)
BENCH_OBJECTS_slots := $(O)/daemon/poll_table.o $(O)/daemon/page_reader.o
BENCH_OBJECTS_scopes := $(O)/libquartz.a

$(O)/tests/bench/slots: $(BENCH_OBJECTS_slots)
$(O)/tests/bench/scopes: $(BENCH_OBJECTS_scopes)

$(BENCH_PROGRAMS): $(O)/%: %.c
	$(say) PROGRAM $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(WARN) $(WERROR) $(TEST_PROGRAM_CFLAGS) -MMD -MP -MF $@.d -MT $@ -o $@ $< \
		$(BENCH_OBJECTS_$(@F))

bench: tests
