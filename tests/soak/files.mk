# SPDX-License-Identifier: GPL-2.0-only
# A day's turnover in ten minutes: needs root, BTF and a machine that is otherwise quiet.
soak: all tests
	$(Q)O=$(abspath $(O)) tests/soak/run
