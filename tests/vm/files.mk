# SPDX-License-Identifier: GPL-2.0-only
# Debian kernels with 8 processors in QEMU: tests/vm/run -h says more.
check-vm: programs tests
	$(Q)tests/vm/check $(abspath $(O))
