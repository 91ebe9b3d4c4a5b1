# SPDX-License-Identifier: GPL-2.0-only
# The whole path on the running kernel: needs root and BTF.
TESTS += $(O)/tests/bpf/whose

$(O)/tests/bpf/whose: $(O)/tests/bpf/whose.o $(CORE_LIB)
	$(call link,$(CORE_LIBS))

check-bpf check-conduct: programs tests
