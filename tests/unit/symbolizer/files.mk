# SPDX-License-Identifier: GPL-2.0-only
# The tests of the symbolizer start the program, and name the procedures of one fixture built many ways.
SYMBOLIZER_TEST_SRC := $(wildcard tests/unit/symbolizer/*.c)


SYMBOLIZER_FIXTURE := tests/unit/symbolizer/fixtures/symbolizer_fixture.c
SYMBOLIZER_FIXTURES := $(addprefix $(O)/tests/unit/symbolizer/,O0 O2 static nopie static-pie relr clang \
	split split4 split_clang split4_clang split_gone split_other split_link split_names split_broken \
	split_called linked linked_unnumbered linked_changed stripped debug shared shared_stripped shared_other liar cfi cfi_debug cfi_compressed)
fixture_flags_O0 := -O0
fixture_flags_O2 := -O2
fixture_flags_static := -O2 -static
fixture_flags_nopie := -O2 -no-pie
fixture_flags_static-pie := -O2 -static-pie
fixture_flags_clang := -O2
fixture_flags_relr := -O2 -Wl,-z,pack-relative-relocs
fixture_cc_clang := $(CLANG)

$(filter %/O0 %/O2 %/static %/nopie %/static-pie %/relr %/clang,$(SYMBOLIZER_FIXTURES)): \
		$(SYMBOLIZER_FIXTURE) tests/unit/symbolizer/fixtures/included_body.inc
	$(say) FIXTURE $@
	$(Q)mkdir -p $(@D)
	$(Q)$(or $(fixture_cc_$(@F)),$(CC)) -g $(fixture_flags_$(@F)) -Wl,--build-id -o $@ $< -pthread

# Their procedures are in a .dwo file beside the object file; which is then made one that is not to be read.
SPLIT_FIXTURES := $(filter $(O)/tests/unit/symbolizer/split%,$(SYMBOLIZER_FIXTURES))
fixture_cc_split_clang := $(CLANG)
fixture_cc_split4_clang := $(CLANG)
fixture_flags_split4 := -gdwarf-4
fixture_flags_split4_clang := -gdwarf-4
spoil_split_gone = rm $@.dwo
spoil_split_other = $(CC) -g -O0 -gsplit-dwarf -c -o $@.o $<
spoil_split_link = mv $@.dwo $@.kept && ln -s $@.kept $@.dwo
spoil_split_names = ln -f $@.dwo $@.kept
spoil_split_broken = head -c 1000 $@.dwo >$@.kept && mv $@.kept $@.dwo
spoil_split_called = cp $@.dwo $@.dw_ && sed -i 's/$(@F)\.dwo/$(@F).dw_/' $@

$(SPLIT_FIXTURES): $(SYMBOLIZER_FIXTURE) tests/unit/symbolizer/fixtures/included_body.inc
	$(say) FIXTURE $@
	$(Q)mkdir -p $(@D) && rm -f $@.*
	$(Q)$(or $(fixture_cc_$(@F)),$(CC)) -g $(fixture_flags_$(@F)) -O2 -gsplit-dwarf -c -o $@.o $<
	$(Q)$(CC) -Wl,--build-id -o $@ $@.o -pthread
	$(Q)$(spoil_$(@F))

# Their debug file is named in them, with its checksum.
fixture_flags_linked := -Wl,--build-id
fixture_flags_linked_unnumbered := -Wl,--build-id=none
fixture_flags_linked_changed := -Wl,--build-id=none
spoil_linked_changed = printf x >>$@.debug

$(O)/tests/unit/symbolizer/linked $(O)/tests/unit/symbolizer/linked_unnumbered \
		$(O)/tests/unit/symbolizer/linked_changed: $(SYMBOLIZER_FIXTURE) tests/unit/symbolizer/fixtures/included_body.inc
	$(say) FIXTURE $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -g -O2 $(fixture_flags_$(@F)) -o $@ $< -pthread
	$(Q)objcopy --only-keep-debug $@ $@.debug && strip $@
	$(Q)objcopy --add-gnu-debuglink=$@.debug $@
	$(Q)$(spoil_$(@F))

# Two files that share entries of their DWARF in a third, and those of another build. dwz reads no DWARF 5 of clang's.
fixture_flags_shared := -O2
fixture_flags_shared_other := -O0
$(O)/tests/unit/symbolizer/shared $(O)/tests/unit/symbolizer/shared_other: $(SYMBOLIZER_FIXTURE) \
		tests/unit/symbolizer/fixtures/included_body.inc
	$(say) FIXTURE $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -gdwarf-4 $(fixture_flags_$(@F)) -Wl,--build-id -o $@ $< -pthread
	$(Q)cp $@ $@_too && dwz -m $@_entries $@ $@_too

VARIABLES_FIXTURES := $(addprefix $(O)/tests/unit/symbolizer/variables_,c clang cc stripped nodebug \
	debug nopie)
SYMBOLIZER_FIXTURES += $(VARIABLES_FIXTURES)
fixture_cc_variables_clang := $(CLANG)
fixture_flags_variables_nopie := -no-pie

$(filter %_c %_clang %_nopie,$(VARIABLES_FIXTURES)): tests/unit/symbolizer/fixtures/variables_fixture.c \
		tests/unit/symbolizer/fixtures/variables_namesake.c
	$(say) FIXTURE $@
	$(Q)mkdir -p $(@D)
	$(Q)$(or $(fixture_cc_$(@F)),$(CC)) -g -O1 $(fixture_flags_$(@F)) -Wl,--build-id -o $@ $^ -pthread

$(filter %_cc,$(VARIABLES_FIXTURES)): tests/unit/symbolizer/fixtures/variables_fixture.cc
	$(say) FIXTURE $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -g -O1 -Wl,--build-id -o $@ $< -pthread

$(O)/tests/unit/symbolizer/variables_nodebug: $(O)/tests/unit/symbolizer/variables_c
	$(Q)strip -g -o $@ $<

$(O)/tests/unit/symbolizer/variables_stripped: $(O)/tests/unit/symbolizer/variables_c
	$(Q)strip -o $@ $<

$(O)/tests/unit/symbolizer/variables_debug: $(O)/tests/unit/symbolizer/variables_c
	$(Q)objcopy --only-keep-debug $< $@

# Files by which the layout of CPython is found, by version; and one that lies.
PYTHON_FIXTURES := $(addprefix $(O)/tests/unit/symbolizer/python_,0x307 0x308 0x30a 0x30b 0x30c 0x30d 0x30e lie)
SYMBOLIZER_FIXTURES += $(PYTHON_FIXTURES)
fixture_flags_python_lie := -DPYTHON=0x30d -DPREVIOUS=4096

$(PYTHON_FIXTURES): tests/unit/symbolizer/fixtures/python_fixture.c
	$(say) FIXTURE $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O1 -fPIC -shared $(or $(fixture_flags_$(@F)),-DPYTHON=$(@F:python_%=%)) -Wl,--build-id -o $@ $<

# The same of Ruby.
RUBY_FIXTURES := $(addprefix $(O)/tests/unit/symbolizer/ruby_,2.6 2.7 3.0 3.1 3.2 3.3 3.4 3.5)
SYMBOLIZER_FIXTURES += $(RUBY_FIXTURES)

$(RUBY_FIXTURES): tests/unit/symbolizer/fixtures/ruby_fixture.c
	$(say) FIXTURE $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O1 -fPIC -shared -DMAJOR=$(basename $(@F:ruby_%=%)) -DMINOR=$(subst .,,$(suffix $(@F))) -Wl,--build-id -o $@ $<

fixture_flags_cfi := -DSECTIONS=.eh_frame
fixture_flags_cfi_debug := -DSECTIONS=.debug_frame
fixture_flags_cfi_compressed := -DSECTIONS=.debug_frame -Wl,--compress-debug-sections=zlib

$(filter %/cfi %/cfi_debug %/cfi_compressed,$(SYMBOLIZER_FIXTURES)): tests/unit/symbolizer/fixtures/cfi_fixture.S
	$(say) FIXTURE $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(fixture_flags_$(@F)) -shared -nostdlib -Wl,--traditional-format -o $@ $<

$(O)/tests/unit/symbolizer/shared_stripped: $(O)/tests/unit/symbolizer/shared
	$(Q)strip -o $@ $<

$(O)/tests/unit/symbolizer/stripped: $(O)/tests/unit/symbolizer/O2
	$(Q)strip -o $@ $<

$(O)/tests/unit/symbolizer/debug: $(O)/tests/unit/symbolizer/O2
	$(Q)objcopy --only-keep-debug $< $@

$(patsubst %.c,$(O)/%.o,$(SYMBOLIZER_TEST_SRC)): private CPPFLAGS += \
	-DTEST_BUILD='"$(abspath $(O))"' -DTEST_SOURCE='"$(abspath $(SYMBOLIZER_FIXTURE))"'
$(O)/tests/unit/symbolizer/test_stack_copies.o: private CFLAGS += -fomit-frame-pointer
$(O)/tests/unit/symbolizer/liar: $(O)/tests/unit/symbolizer/fixtures/symbolizer_liar.o
	$(call link,)

$(O)/tests/unit/unit: | $(O)/quartz-symbolizer $(SYMBOLIZER_FIXTURES)

# Stops of real programs, recorded by tests/unwind/compare.
UNIT_SRC += tests/unwind/recording.c
$(O)/tests/unit/symbolizer/test_recorded.o: private CPPFLAGS += \
	-DTEST_RECORDED='"$(abspath tests/unwind/recorded)"'
