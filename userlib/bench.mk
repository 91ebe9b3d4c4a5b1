# SPDX-License-Identifier: GPL-2.0-only
# What tests/bench/library.sh measures: each program in the ways that it is compared in.
LB := $(O)/tests/bench/library
LB_SRC := tests/bench/library
LB_FLAGS = $(CPPFLAGS) -std=gnu11 -O2 -g -fno-strict-aliasing -Wall -pthread
LB_PROGRAMS := $(addprefix $(LB)/,operations events listen scopes scopes-disabled calls calls-pg \
                 calls-floor calls-hooks calls-clang calls-clang-pg calls-clang-floor calls-clang-hooks)
LB_UNWIND := $(addprefix $(LB)/unwind_table,-clang -clang-pg -clang-floor -clang-hooks \
               -gcc -gcc-pg -gcc-floor -gcc-hooks)
# The part of quartz-symbolizer that is compiled in these ways, too.
LB_UNWIND_SRC := $(LB_SRC)/unwind_table.c $(wildcard symbolizer/cfi/*.c) $(addprefix symbolizer/, \
                   elf/elf_file.c names/glibc_x86.c names/procedure_table.c util/address_table.c)

# gcc's hooks are in inlined functions, too; clang can leave those out, as -pg does.
lb_compiler = $(if $(findstring -clang,$@),$(CLANG),$(CC))
lb_way = $(if $(findstring -pg,$@),-pg)$(if $(findstring -hooks,$@)$(findstring -floor,$@),$(if \
	$(findstring -clang,$@),-finstrument-functions-after-inlining,-finstrument-functions))

# -pg is gprof as it is, without libquartz.
lb_library = $(if $(findstring -pg,$@),,$(if $(findstring -floor,$@),$(LB)/floor.o,$(USERLIB_A)))

$(LB)/floor.o: $(LB_SRC)/floor.c
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O2 -c -o $@ $<

# lb_program FLAGS [LIBRARIES]
define lb_program
	$(say) PROGRAM $@
	$(Q)mkdir -p $(@D)
	$(Q)$(lb_compiler) $(LB_FLAGS) $(lb_way) $(1) -o $@ $(filter %.c,$^) $(lb_library) $(2)
endef

$(LB)/operations $(LB)/events $(LB)/listen: $(LB)/%: $(LB_SRC)/%.c tests/userlib/fake.c $(USERLIB_A)
	$(call lb_program)

$(LB)/scopes: $(LB_SRC)/scopes.c $(USERLIB_A)
	$(call lb_program)

$(LB)/scopes-disabled: $(LB_SRC)/scopes.c $(USERLIB_A)
	$(call lb_program,-DQUARTZ_DISABLE)

$(filter $(LB)/calls%,$(LB_PROGRAMS)): $(LB_SRC)/calls.c $(USERLIB_A) $(LB)/floor.o
	$(call lb_program)

$(LB_UNWIND): $(LB_UNWIND_SRC) $(USERLIB_A) $(LB)/floor.o $(SYMBOLIZER_LIB)
	$(call lb_program,,$(SYMBOLIZER_LIB) $(SYMBOLIZER_LIBS))

.PHONY: bench-library
bench-library: $(LB_PROGRAMS) $(LB_UNWIND)
bench: bench-library
