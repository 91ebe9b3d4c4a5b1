# SPDX-License-Identifier: GPL-2.0-only
# symbolizer: the child without privileges. The library is its parsing code, without the process.
SYMBOLIZER_LIB_SRC := symbolizer/cfi.c symbolizer/cfi_machine.c symbolizer/cfi_row.c symbolizer/elf_file.c symbolizer/elf_table.c \
	symbolizer/expression.c symbolizer/fde.c symbolizer/frame.c symbolizer/glibc.c symbolizer/go.c \
	symbolizer/lines.c symbolizer/members.c symbolizer/module.c \
	symbolizer/name.c symbolizer/perf_map.c symbolizer/plt.c symbolizer/symbols.c \
	symbolizer/table.c symbolizer/unwind.c symbolizer/variables.c \
	symbolizer/code_x86.c symbolizer/flow.c symbolizer/leaf.c symbolizer/spin.c symbolizer/turn.c \
	symbolizer/verdict.c
SYMBOLIZER_SRC := symbolizer/main.c symbolizer/sandbox.c
SYMBOLIZER_LIB := $(O)/symbolizer/libsymbolizer.a
SYMBOLIZER_LIBS := -ldw -lelf -liberty -lcapstone

$(SYMBOLIZER_LIB): $(patsubst %.c,$(O)/%.o,$(SYMBOLIZER_LIB_SRC))
	$(say) AR $@
	$(Q)rm -f $@ && ar rcs $@ $^

PROGRAMS += $(O)/quartz-symbolizer
$(O)/quartz-symbolizer: $(patsubst %.c,$(O)/%.o,$(SYMBOLIZER_SRC)) $(SYMBOLIZER_LIB)
	$(call link,$(SYMBOLIZER_LIBS) -lcap -lseccomp)

# ---- unit tests: they start the program, and name the procedures of one fixture built many ways ----

SYMBOLIZER_TEST_SRC := tests/unit/cfi_bytes.c tests/unit/cfi_image.c tests/unit/symbolizer_util.c \
	tests/unit/test_hostile_cfi.c tests/unit/test_hostile_elf.c \
	tests/unit/test_cfi.c tests/unit/test_spin.c tests/unit/test_symbolizer.c tests/unit/test_symbolizer_liar.c \
	tests/unit/test_symbolizer_parts.c tests/unit/test_unwind.c \
	tests/unit/test_go.c tests/unit/test_unwind_table.c tests/unit/test_variables.c
UNIT_SRC += $(SYMBOLIZER_TEST_SRC) daemon/symbolizer.c daemon/symbolizer_child.c \
	daemon/symbolizer_judge.c daemon/symbolizer_variable.c
UNIT_ARCHIVES += $(SYMBOLIZER_LIB)
UNIT_LIBS += $(SYMBOLIZER_LIBS)

SYMBOLIZER_FIXTURE := tests/unit/symbolizer_fixture.c
SYMBOLIZER_FIXTURES := $(addprefix $(O)/tests/unit/symbolizer/,O0 O2 static nopie static-pie clang \
	stripped debug liar cfi cfi_debug cfi_compressed)
fixture_flags_O0 := -O0
fixture_flags_O2 := -O2
fixture_flags_static := -O2 -static
fixture_flags_nopie := -O2 -no-pie
fixture_flags_static-pie := -O2 -static-pie
fixture_flags_clang := -O2
fixture_cc_clang := $(CLANG)

$(filter %/O0 %/O2 %/static %/nopie %/static-pie %/clang,$(SYMBOLIZER_FIXTURES)): \
		$(SYMBOLIZER_FIXTURE)
	$(say) FIXTURE $@
	$(Q)mkdir -p $(@D)
	$(Q)$(or $(fixture_cc_$(@F)),$(CC)) -g $(fixture_flags_$(@F)) -Wl,--build-id -o $@ $< -pthread

VARIABLES_FIXTURES := $(addprefix $(O)/tests/unit/symbolizer/variables_,c clang cc stripped nodebug \
	debug nopie)
SYMBOLIZER_FIXTURES += $(VARIABLES_FIXTURES)
fixture_cc_variables_clang := $(CLANG)
fixture_flags_variables_nopie := -no-pie

$(filter %_c %_clang %_nopie,$(VARIABLES_FIXTURES)): tests/unit/variables_fixture.c \
		tests/unit/variables_namesake.c
	$(say) FIXTURE $@
	$(Q)mkdir -p $(@D)
	$(Q)$(or $(fixture_cc_$(@F)),$(CC)) -g -O1 $(fixture_flags_$(@F)) -Wl,--build-id -o $@ $^ -pthread

$(filter %_cc,$(VARIABLES_FIXTURES)): tests/unit/variables_fixture.cc
	$(say) FIXTURE $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -g -O1 -Wl,--build-id -o $@ $< -pthread

$(O)/tests/unit/symbolizer/variables_nodebug: $(O)/tests/unit/symbolizer/variables_c
	$(Q)strip -g -o $@ $<

$(O)/tests/unit/symbolizer/variables_stripped: $(O)/tests/unit/symbolizer/variables_c
	$(Q)strip -o $@ $<

$(O)/tests/unit/symbolizer/variables_debug: $(O)/tests/unit/symbolizer/variables_c
	$(Q)objcopy --only-keep-debug $< $@

fixture_flags_cfi := -DSECTIONS=.eh_frame
fixture_flags_cfi_debug := -DSECTIONS=.debug_frame
fixture_flags_cfi_compressed := -DSECTIONS=.debug_frame -Wl,--compress-debug-sections=zlib

$(filter %/cfi %/cfi_debug %/cfi_compressed,$(SYMBOLIZER_FIXTURES)): tests/unit/cfi_fixture.S
	$(say) FIXTURE $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(fixture_flags_$(@F)) -shared -nostdlib -Wl,--traditional-format -o $@ $<

$(O)/tests/unit/symbolizer/stripped: $(O)/tests/unit/symbolizer/O2
	$(Q)strip -o $@ $<

$(O)/tests/unit/symbolizer/debug: $(O)/tests/unit/symbolizer/O2
	$(Q)objcopy --only-keep-debug $< $@

$(patsubst %.c,$(O)/%.o,$(SYMBOLIZER_TEST_SRC)): private CPPFLAGS += \
	-DTEST_BUILD='"$(abspath $(O))"' -DTEST_SOURCE='"$(abspath $(SYMBOLIZER_FIXTURE))"'
$(O)/tests/unit/test_unwind.o: private CFLAGS += -fomit-frame-pointer
$(O)/tests/unit/symbolizer/liar: $(O)/tests/unit/symbolizer_liar.o
	$(call link,)

$(O)/tests/unit/unit: | $(O)/quartz-symbolizer $(SYMBOLIZER_FIXTURES)

# Stops of real programs, recorded by tests/unwind/compare.
UNIT_SRC += tests/unit/test_recorded.c tests/unwind/recording.c tests/unwind/unwinder.c
$(O)/tests/unit/test_recorded.o: private CPPFLAGS += \
	-DTEST_RECORDED='"$(abspath tests/unwind/recorded)"'

FUZZ_TARGETS += cfi elf spin
FUZZ_ARCHIVES += $(SYMBOLIZER_LIB)
FUZZ_LIBS += $(SYMBOLIZER_LIBS)
$(O)/tests/fuzz/cfi: $(O)/tests/unit/cfi_image.o
