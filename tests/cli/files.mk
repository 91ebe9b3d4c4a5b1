# SPDX-License-Identifier: GPL-2.0-only
# Golden tests of quartzctl, on recorded profiles, and tests of the page in a browser.
CLI_MAKERS := $(O)/tests/cli/make_profiles $(O)/tests/cli/make_large
TESTS += $(CLI_MAKERS)

$(CLI_MAKERS): %: %.o $(CORE_LIB)
	$(call link,$(CORE_LIBS))

check-cli: programs man completion $(CLI_MAKERS) $(addprefix $(O)/tests/programs/,knobs pool)
