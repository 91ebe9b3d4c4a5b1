# SPDX-License-Identifier: GPL-2.0-only
# Spin verdicts on real code: tests/spin/run measures them, doc/spinning.md has the figures.
SPIN_JUDGE := $(O)/tests/spin/judge
TESTS += $(SPIN_JUDGE)

$(SPIN_JUDGE): $(O)/tests/spin/judge.o $(O)/tests/spin/recorder.o $(SPIN_BUILTIN).o \
		$(SYMBOLIZER_LIB) $(CORE_LIB)
	$(call link,$(SYMBOLIZER_LIBS) $(CORE_LIBS))
