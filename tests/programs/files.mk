# SPDX-License-Identifier: GPL-2.0-only
# Programs to be profiled: one source file each. Built apart from the rest's flags, so that their
# stacks have frame pointers and their procedures stay what the source says. A program that needs
# more says so by CFLAGS_name and LIBS_name.
TEST_PROGRAMS := $(patsubst %.c,$(O)/%,$(wildcard tests/programs/*.c))
TEST_PROGRAM_CFLAGS := -std=gnu11 -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -pthread
CFLAGS_omp_work := -fopenmp
CFLAGS_omp_wait := -fopenmp
CFLAGS_turns := -fopenmp
TEST_LIBRARIES := $(addprefix $(O)/tests/programs/library/,first.so second.so)
TESTS += $(TEST_PROGRAMS) $(TEST_LIBRARIES)
CFLAGS_called := -finstrument-functions
LIBS_event_loop := -lm
LIBS_profiled := $(O)/libquartz.a
LIBS_called := $(O)/libquartz.a
LIBS_knobs := $(O)/libquartz.a
LIBS_crew := $(O)/libquartz.a
# They export what CPython and Ruby do.
LIBS_python_liar := -rdynamic
LIBS_ruby_liar := -rdynamic
# Its code begins the file: it is mapped first as if all of the file were.
LIBS_deleted_exe := -Wl,-z,noseparate-code

$(addprefix $(O)/tests/programs/,profiled called knobs crew): $(O)/libquartz.a

$(TEST_PROGRAMS): $(O)/%: %.c
	$(say) PROGRAM $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(WARN) $(WERROR) $(TEST_PROGRAM_CFLAGS) $(CFLAGS_$(@F)) \
		-MMD -MP -MF $@.d -MT $@ -o $@ $< $(LIBS_$(@F))

# An example, which includes the header as it is installed.
TESTS += $(O)/tests/programs/pool
$(O)/tests/programs/pool: examples/pool.c userlib/quartz.h $(O)/libquartz.a
	$(say) PROGRAM $@
	$(Q)mkdir -p $@.include/quartz && ln -sf $(abspath userlib/quartz.h) $@.include/quartz/quartz.h
	$(Q)$(CC) $(CPPFLAGS) -I$@.include $(WARN) $(WERROR) $(TEST_PROGRAM_CFLAGS) -o $@ $< $(O)/libquartz.a

# Without frame pointers, and so that the one's descriptions are wrong for the other.
library_flags_first := -DLIBRARY=first -DROOM=5 -DNEVER_FIRST=1
library_flags_second := -DLIBRARY=second -DROOM=18 -DNEVER_FIRST=0 -falign-functions=64 \
	$(if $(findstring clang,$(CC)),,-fno-reorder-functions)

$(TEST_LIBRARIES): $(O)/tests/programs/library/%.so: tests/programs/library/swapped.c
	$(say) LIBRARY $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(WARN) $(WERROR) -std=gnu11 -O1 -g -fomit-frame-pointer -fno-optimize-sibling-calls \
		$(if $(findstring clang,$(CC)),,-fno-toplevel-reorder) -shared -fPIC $(library_flags_$*) -o $@ $<
