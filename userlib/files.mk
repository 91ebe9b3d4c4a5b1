# SPDX-License-Identifier: GPL-2.0-only
# userlib: libquartz, for programs to link, and libquartz-try, for tries.
# They need only the C library.
USERLIB_SRC := userlib/attach.c userlib/calibrate.c userlib/client.c userlib/hooks.c userlib/knobs.c \
               userlib/memory.c userlib/symbols.c userlib/tasks.c
USERLIB_SONAME := libquartz.so.1
USERLIB_OBJ := $(USERLIB_SRC:%.c=$(O)/%.o)
USERLIB_A   := $(O)/libquartz.a
USERLIB_SO  := $(O)/$(USERLIB_SONAME)
TRY_SO      := $(O)/libquartz-try.so
PROGRAMS += $(USERLIB_A) $(O)/libquartz.so $(O)/libquartz.pc $(TRY_SO)

# Initial-exec: one load to the thread's own data; libquartz.so can still be opened by dlopen.
USERLIB_CFLAGS := -fPIC -fvisibility=hidden -ftls-model=initial-exec
$(USERLIB_OBJ) $(O)/userlib/try.o: ALL_CFLAGS += $(USERLIB_CFLAGS)

# Not sanitized, even if the tests are: programs that link the library need not be.
$(USERLIB_OBJ) $(USERLIB_SO) $(TRY_SO) $(O)/userlib/try.o: \
	CFLAGS := $(filter-out -fsanitize% -fno-sanitize%,$(CFLAGS))

$(USERLIB_A): $(USERLIB_OBJ)
	$(say) AR $@
	$(Q)rm -f $@ && ar rcs $@ $^

# Never unloaded, because threads, fork handlers and programs point into it.
$(USERLIB_SO): $(USERLIB_OBJ) userlib/libquartz.map
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(USERLIB_SONAME) -Wl,-z,nodelete \
		-Wl,-z,now -Wl,--no-undefined -Wl,--version-script,userlib/libquartz.map \
		-o $@ $(filter %.o,$^)

$(O)/libquartz.so: $(USERLIB_SO)
	$(Q)ln -sf $(USERLIB_SONAME) $@

$(TRY_SO): $(O)/userlib/try.o
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,libquartz-try.so -Wl,-z,nodelete -Wl,--no-undefined -o $@ $<

$(O)/libquartz.pc: userlib/libquartz.pc.in Makefile $(DIRECTORIES)
	$(call substitute)

# Its tests, with a quartzd of their own, and the programs that they run.
USERLIB_TESTS := $(addprefix tests/userlib/,fake.c fixture.c programs.c test_library.c \
                   test_library_threads.c test_interface.c test_knobs.c test_programs.c test_try.c)
USERLIB_PROGRAMS := $(addprefix $(O)/tests/userlib/programs/,try calls calls-O0 \
                      calls-clang scopes)
UNIT_SRC += $(USERLIB_TESTS)
UNIT_ARCHIVES += $(USERLIB_A)
TESTS += $(USERLIB_PROGRAMS)
$(O)/tests/unit/unit: | $(USERLIB_PROGRAMS) $(TRY_SO)
$(O)/tests/userlib/test_interface.o: private CPPFLAGS += -DTEST_BUILD='"$(abspath $(O))"' \
	-DTEST_SOURCE='"$(abspath .)"'
$(O)/tests/userlib/programs.o $(O)/tests/userlib/test_try.o: private CPPFLAGS += -DTEST_BUILD='"$(abspath $(O))"'

# program COMPILER FLAGS [LIBRARY]
define userlib_program
	$(say) PROGRAM $@
	$(Q)mkdir -p $(@D)
	$(Q)$(1) $(CPPFLAGS) -Wall -Wextra -Wno-unused-parameter $(WERROR) -g -pthread $(2) \
		-MMD -MP -MF $@.d -MT $@ -o $@ $< $(3)
endef

$(O)/tests/userlib/programs/%: tests/userlib/programs/%.c
	$(call userlib_program,$(CC),-std=gnu11 -O1)

$(O)/tests/userlib/programs/calls: tests/userlib/programs/calls.c | $(O)/libquartz.so
	$(call userlib_program,$(CC),-std=gnu11 -O2 -finstrument-functions,-L$(O) -lquartz)

$(O)/tests/userlib/programs/calls-O0: tests/userlib/programs/calls.c | $(O)/libquartz.so
	$(call userlib_program,$(CC),-std=gnu11 -O0 -finstrument-functions,-L$(O) -lquartz)

$(O)/tests/userlib/programs/calls-clang: tests/userlib/programs/calls.c | $(O)/libquartz.so
	$(call userlib_program,$(CLANG),-std=gnu11 -O2 -finstrument-functions,-L$(O) -lquartz)

$(O)/tests/userlib/programs/scopes: tests/userlib/programs/scopes.cc | $(O)/libquartz.so
	$(call userlib_program,$(CXX),-std=c++11 -O2,-L$(O) -lquartz)
include userlib/bench.mk
