# SPDX-License-Identifier: GPL-2.0-only
# Debian kernels with 8 processors in QEMU: tests/vm/run -h says more.
check-vm check-clock: programs tests

# While others compile. What cannot be had is told by the layer.
.PHONY: vm-files
vm-files:
	$(Q)tests/vm/fetch $(O)/vm 2>/dev/null || :

# The whole layer of tests/bpf there, which takes long.
.PHONY: check-guests
check-guests: programs tests
	$(Q)tests/vm/guests $(abspath $(O))

# The module on kernels that watch themselves. Building these takes half an hour of processor time, once.
.PHONY: check-debug-kernel
check-debug-kernel: programs tests
	$(Q)scripts/deps.sh debug
	$(Q)tests/vm/debug/check $(abspath $(O))
