# SPDX-License-Identifier: GPL-2.0-only
# daemon: quartzd. It links neither libdw nor libelf's users: parsing is the symbolizer's.
DAEMON_SRC := daemon/main.c daemon/config.c daemon/settings.c daemon/service.c daemon/notify.c \
              daemon/session.c daemon/session_start.c daemon/session_figures.c daemon/session_slices.c \
              daemon/log.c daemon/target.c daemon/command.c daemon/reserve.c daemon/paths.c daemon/proc.c \
              daemon/messages.c daemon/opener.c daemon/opener_work.c daemon/keeper.c daemon/privileges.c \
              daemon/filter.c daemon/engine.c daemon/sampler.c daemon/sample_event.c daemon/collector.c \
              daemon/collector_events.c daemon/collector_half.c daemon/collector_figures.c daemon/scopes.c daemon/ended.c \
              daemon/ledger.c daemon/costs.c daemon/shares.c daemon/reports.c daemon/threads.c daemon/images.c \
              daemon/reloads.c daemon/regions.c daemon/modules.c daemon/places.c daemon/stacks.c \
              daemon/creation.c daemon/asleep.c daemon/objname.c daemon/descriptors.c \
              daemon/symbolizer_variable.c daemon/waiting.c daemon/waits.c daemon/wait_stacks.c \
              daemon/objects.c daemon/syscalls.c daemon/intake.c daemon/builder.c daemon/tables.c \
              daemon/pool.c daemon/spinning.c daemon/late.c daemon/undecided.c daemon/pages.c \
              daemon/page_server.c daemon/page_device.c daemon/device.c daemon/page_directory.c \
              daemon/page_reader.c daemon/selfreport.c daemon/page_figures.c daemon/page_calls.c \
              daemon/page_wake.c daemon/poller.c daemon/polling.c daemon/poll_join.c daemon/poll_table.c \
              daemon/event_log.c daemon/kallsyms.c daemon/symbolizer.c daemon/symbolizer_child.c \
              daemon/symbolizer_judge.c daemon/verdicts.c daemon/spin_symbols.c daemon/instants.c \
              daemon/moments.c daemon/snapshot.c daemon/owned.c daemon/history.c daemon/listener.c daemon/server.c \
              daemon/text.c daemon/publisher.c
PROGRAMS += $(O)/quartzd

$(O)/daemon/engine.o $(O)/daemon/text.o: $(BPF_SKEL)

INSTALLED := $(O)/daemon/symbolizer.o $(O)/daemon/spin_symbols.o
$(INSTALLED): $(DIRECTORIES)
$(INSTALLED): private CPPFLAGS += -DQUARTZ_LIBEXECDIR='"$(libexecdir)"' -DQUARTZ_DATADIR='"$(datadir)"'

# The rules as a string, each line of the file one of the program.
SPIN_BUILTIN := $(O)/daemon/spin_builtin
$(SPIN_BUILTIN).c: daemon/spin-symbols.txt
	$(say) GEN $@
	$(Q)mkdir -p $(@D)
	$(Q){ echo '#include "daemon/spin_symbols.h"'; \
		echo 'const char spin_symbols_builtin[] ='; \
		sed -e 's/[\\"?]/\\&/g' -e 's/.*/	"&\\n"/' $<; echo '	;'; \
		echo 'const size_t spin_symbols_builtin_size = sizeof(spin_symbols_builtin) - 1;'; \
	} >$@

# The names of system calls, by number, from the kernel's own header.
$(O)/daemon/syscalls.inc:
	$(say) GEN $@
	$(Q)mkdir -p $(@D)
	$(Q)printf '#include <asm/unistd_64.h>\n' | $(CC) -E -dM - | \
		sed -n 's/^#define __NR_\([a-z0-9_]*\) \([0-9]*\)$$/\t[\2] = "\1",/p' > $@
$(O)/daemon/syscalls.o: $(O)/daemon/syscalls.inc

$(O)/quartzd: $(DAEMON_SRC:%.c=$(O)/%.o) $(SPIN_BUILTIN).o $(CORE_LIB)
	$(call link,-lbpf -lcap -lseccomp $(CORE_LIBS))

# The pure parts are tested without root.
UNIT_SRC += daemon/page_reader.c tests/unit/test_page_reader.c tests/unit/test_events.c \
            daemon/poll_join.c tests/unit/test_poll_join.c
UNIT_SRC += daemon/regions.c daemon/pool.c tests/unit/test_regions.c tests/unit/test_nominal.c tests/unit/test_pool.c \
            daemon/reports.c tests/unit/test_reports.c \
            daemon/late.c tests/unit/test_late.c \
            $(SPIN_BUILTIN).c tests/unit/test_spin_rules.c
UNIT_SRC += daemon/objname.c daemon/descriptors.c daemon/waiting.c daemon/modules.c daemon/proc.c \
            daemon/messages.c daemon/opener.c daemon/opener_work.c daemon/page_wake.c daemon/log.c \
            tests/unit/test_objname.c
UNIT_SRC += daemon/wait_stacks.c tests/unit/test_wait_stacks.c
$(O)/tests/unit/test_objname.o: private CPPFLAGS += -DTEST_BUILD='"$(abspath $(O))"'
