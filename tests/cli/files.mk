# SPDX-License-Identifier: GPL-2.0-only
# Golden tests of quartzctl, on recorded profiles.
TESTS += $(O)/tests/cli/make_profiles

$(O)/tests/cli/make_profiles: $(O)/tests/cli/make_profiles.o $(CORE_LIB)
	$(call link,$(CORE_LIBS))

check-cli: programs man completion $(O)/tests/cli/make_profiles
