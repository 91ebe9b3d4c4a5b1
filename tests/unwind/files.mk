# SPDX-License-Identifier: GPL-2.0-only
# The unwinder of bpf/ as ordinary C, beside libdw's on live programs: see tests/unwind/run.
UNWIND_SRC := $(addprefix tests/unwind/,compare.c process.c recording.c) daemon/unwind/unwinder.c
UNWIND_COMPARE := $(O)/tests/unwind/compare
TESTS += $(UNWIND_COMPARE)

$(UNWIND_COMPARE): $(patsubst %.c,$(O)/%.o,$(UNWIND_SRC)) $(SYMBOLIZER_LIB)
	$(call link,$(SYMBOLIZER_LIBS) -lz)

# One program, made in several ways.
UNWIND_SUBJECTS := $(addprefix $(O)/tests/unwind/subject-,O0 O2 clang static-pie)
TESTS += $(UNWIND_SUBJECTS)
subject_flags_O0 := -O0
subject_flags_O2 := -O2
subject_flags_clang := -O2
subject_flags_static-pie := -O2 -static-pie
subject_cc_clang := $(CLANG)

$(UNWIND_SUBJECTS): $(O)/tests/unwind/subject-%: tests/unwind/subject.c
	$(say) PROGRAM $@
	$(Q)mkdir -p $(@D)
	$(Q)$(or $(subject_cc_$*),$(CC)) $(CPPFLAGS) -std=gnu11 $(WARN) $(WERROR) $(subject_flags_$*) \
		-fomit-frame-pointer -s -pthread -o $@ $<
