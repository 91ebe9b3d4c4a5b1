# SPDX-License-Identifier: GPL-2.0-only
# core: pure logic, no system calls beyond read and write of a given descriptor.
CORE_SRC := core/bring.c core/bring_code.c core/calls.c core/difference.c core/edges.c core/escape.c \
            core/estimate.c core/events.c core/fields.c core/fields_profile.c core/figures.c core/find.c \
            core/governor.c core/gzip.c core/json.c core/merge.c core/moments.c core/moments_meta.c \
            core/objects.c core/options.c core/overhead.c core/part.c core/polled.c core/pprof_meta.c core/pprof_read.c \
            core/pprof_write.c core/processes.c core/profile.c core/ranking.c core/report.c core/slices.c \
            core/spin_rules.c core/states.c core/strings.c core/summary.c core/table.c core/together.c \
            core/unit.c core/utf8.c core/view.c core/waiting.c core/waits.c core/wakings.c
CORE_PB  := $(O)/core/profile.pb-c
CORE_LIB := $(O)/core/libcore.a
CORE_LIBS := -lprotobuf-c -ljansson -lz -lm

$(CORE_LIB): $(patsubst %.c,$(O)/%.o,$(CORE_SRC)) $(CORE_PB).o
	$(say) AR $@
	$(Q)rm -f $@ && ar rcs $@ $^

$(CORE_PB).c $(CORE_PB).h &: core/profile.proto
	$(say) PROTOC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(PROTOC_C) --c_out=$(O) $<

$(O)/core/pprof_read.o $(O)/core/pprof_write.o: | $(CORE_PB).h
