# SPDX-License-Identifier: GPL-2.0-only
# core: pure logic, no system calls beyond read and write of a given descriptor, but for core/util/save_file.c.
CORE_SRC := $(sort $(wildcard core/*/*.c))
CORE_PB  := $(O)/core/format/profile.pb-c
CORE_LIB := $(O)/core/libcore.a
CORE_LIBS := -lprotobuf-c -ljansson -lunistring -lz -lm

$(CORE_LIB): $(patsubst %.c,$(O)/%.o,$(CORE_SRC)) $(CORE_PB).o
	$(say) AR $@
	$(Q)rm -f $@ && ar rcs $@ $^

$(CORE_PB).c $(CORE_PB).h &: core/format/profile.proto
	$(say) PROTOC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(PROTOC_C) --c_out=$(O) $<

$(O)/core/format/pprof_read.o $(O)/core/format/pprof_size.o $(O)/core/format/pprof_write.o: | $(CORE_PB).h

# The names of system calls, by number, from the kernel's own header.
$(O)/core/model/syscall_names.inc:
	$(say) GEN $@
	$(Q)mkdir -p $(@D)
	$(Q)printf '#include <asm/unistd.h>\n' | $(CC) -E -dM - | \
		sed -n 's/^#define __NR_\([a-z0-9_]*\) \([0-9]*\)$$/\t[\2] = "\1",/p' > $@
$(O)/core/model/syscall_names.o: $(O)/core/model/syscall_names.inc
