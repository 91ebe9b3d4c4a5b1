# SPDX-License-Identifier: GPL-2.0-only
# Debian kernels with 8 processors in QEMU: tests/vm/run -h says more.
check-vm: programs tests
	$(Q)tests/vm/check $(abspath $(O))

# The whole layer of tests/bpf there, which takes long.
.PHONY: check-guests
check-guests: programs tests
	$(Q)tests/vm/guests $(abspath $(O))

# The module on kernels that watch themselves. Building these takes half an hour of processor time, once.
.PHONY: check-debug-kernel
check-debug-kernel: programs tests
	$(Q)scripts/deps.sh debug
	$(Q)tests/vm/debug/check $(abspath $(O))

# Ten thousand processes, then a hundred thousand threads. Takes hours on a busy machine.
.PHONY: check-crowd
check-crowd: programs tests
	$(Q)tests/vm/fetch $(abspath $(O))/vm
	$(Q)for threads in 1 10; do \
		tests/vm/run -d $(abspath $(O))/vm -c 2 -m 7G -t 6000 -- \
			tests/vm/crowd.sh $(abspath $(O)) 10000 $$threads || exit 1; \
	done
