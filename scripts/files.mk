# SPDX-License-Identifier: GPL-2.0-only
# Completion for bash (NAME) and zsh (_NAME), made of what the built programs say of their options.
COMPLETED := quartzctl quartzd quartz-exporter
COMPLETION := $(addprefix $(O)/completion/,$(COMPLETED) $(COMPLETED:%=_%))

all: completion
.PHONY: completion
completion: $(COMPLETION)

$(COMPLETED:%=$(O)/completion/%): $(O)/completion/%: $(O)/% scripts/completion.sh
	$(say) GEN $@
	$(Q)mkdir -p $(@D)
	$(Q)scripts/completion.sh bash $< >$@

$(COMPLETED:%=$(O)/completion/_%): $(O)/completion/_%: $(O)/% scripts/completion.sh
	$(say) GEN $@
	$(Q)mkdir -p $(@D)
	$(Q)scripts/completion.sh zsh $< >$@

# For editors and clangd: how each file is compiled.
.PHONY: compile_commands.json
compile_commands.json:
	$(Q)scripts/deps.sh build editor
	$(Q)bear --output $@ -- $(MAKE) --no-print-directory -B O=$(O)/editor all tests

# Of a recorded profile, in a headless Chromium.
.PHONY: screenshots
screenshots: $(O)/quartzctl
	$(Q)O=$(O) scripts/screenshots.sh

# What the documentation shows is what the programs print of the profiles in doc/profiles: written anew, and compared by CI.
.PHONY: doc-outputs check-doc-outputs
doc-outputs: $(O)/quartzctl
	$(Q)O=$(O) scripts/doc-outputs

check-doc-outputs: $(O)/quartzctl
	$(Q)O=$(O) scripts/doc-outputs --check

# Linux 6.1 adds up the stack of a program and of all that it calls; newer kernels do not always.
.PHONY: bpf-stack
bpf-stack: $(BPF_OBJECTS)
	$(Q)for object in $^; do scripts/bpf-stack $$object || exit; done

# What programs at switches, wake-ups, forks and samples write, and what of it is shared by processors.
.PHONY: bpf-writes
bpf-writes: $(O)/bpf/quartz.bpf.o
	$(Q)scripts/bpf-writes $< log_switch log_waking log_fork on_sample

# What the running kernel's verifier does with each program, and how long that takes it; as root.
.PHONY: bpf-verifier
bpf-verifier: $(O)/quartzd
	$(Q)scripts/bpf-verifier $<
