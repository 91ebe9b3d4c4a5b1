# SPDX-License-Identifier: GPL-2.0-only
# A day's turnover in ten minutes: needs root, BTF and a machine that is otherwise quiet.
soak: all tests
	$(Q)O=$(abspath $(O)) tests/soak/run

# Storms of programs that know who they are, for an hour.
.PHONY: check-storm
check-storm: programs tests
	$(Q)O=$(abspath $(O)) tests/soak/storm

# Ten thousand processes with a hundred thousand threads, for a minute, in some 4 GiB.
.PHONY: check-crowd
check-crowd: programs tests
	$(Q)tests/soak/crowd $(abspath $(O)) 10000 10
