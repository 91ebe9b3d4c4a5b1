# SPDX-License-Identifier: GPL-2.0-only
# daemon: quartzd. It links neither libdw nor libelf's users: parsing is the symbolizer's.
DAEMON_SRC := $(sort $(wildcard daemon/*/*.c))
PROGRAMS += $(O)/quartzd

$(O)/daemon/kernel/bpf_runtime.o $(O)/daemon/kernel/bpf_log.o $(O)/daemon/kernel/bpf_candidates.o $(O)/daemon/kernel/bpf_python.o $(O)/daemon/kernel/bpf_rows.o $(O)/daemon/kernel/bpf_scopes.o $(O)/daemon/kernel/kernel_names.o $(O)/daemon/output/bpffs_tables.o: $(BPF_SKEL)

INSTALLED := $(O)/daemon/symbolizer/symbolizer.o $(O)/daemon/spin/spin_symbols.o
$(INSTALLED): $(DIRECTORIES)
$(INSTALLED): private CPPFLAGS += -DQUARTZ_LIBEXECDIR='"$(libexecdir)"' -DQUARTZ_DATADIR='"$(datadir)"'

# The rules as a string, each line of the file one of the program.
SPIN_BUILTIN := $(O)/daemon/spin/spin_builtin
$(SPIN_BUILTIN).c: daemon/spin/spin-symbols.txt
	$(say) GEN $@
	$(Q)mkdir -p $(@D)
	$(Q){ echo '#include "daemon/spin/spin_symbols.h"'; \
		echo 'const char spin_symbols_builtin[] ='; \
		sed -e 's/[\\"?]/\\&/g' -e 's/.*/	"&\\n"/' $<; echo '	;'; \
		echo 'const size_t spin_symbols_builtin_size = sizeof(spin_symbols_builtin) - 1;'; \
	} >$@

# All but main(), for tests to link what they need of it.
DAEMON_MAIN := daemon/session/main.c
DAEMON_LIB := $(O)/daemon/libdaemon.a

$(DAEMON_LIB): $(patsubst %.c,$(O)/%.o,$(filter-out $(DAEMON_MAIN),$(DAEMON_SRC))) $(SPIN_BUILTIN).o
	$(say) AR $@
	$(Q)rm -f $@ && ar rcs $@ $^

$(O)/quartzd: $(DAEMON_MAIN:%.c=$(O)/%.o) $(DAEMON_LIB) $(CORE_LIB)
	$(call link,-lbpf -lcap -lseccomp $(CORE_LIBS))
