# SPDX-License-Identifier: GPL-2.0-only
# The whole path on the running kernel: needs root and BTF.
check-bpf: programs tests
	$(Q)O=$(abspath $(O)) tests/bpf/run
