# SPDX-License-Identifier: GPL-2.0-only
# Manual pages.
MAN := $(O)/man/quartz.3 $(O)/man/quartzctl.1 $(O)/man/quartzd.8 $(O)/man/quartzd.conf.5 $(O)/man/quartz-exporter.8

all: man
.PHONY: man
man: $(MAN)

$(O)/man/%: man/%.scd
	$(say) MAN $@
	$(Q)mkdir -p $(@D)
	$(Q)$(SCDOC) <$< >$@
