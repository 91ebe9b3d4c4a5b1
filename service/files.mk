# SPDX-License-Identifier: GPL-2.0-only
# quartzd and quartz-exporter as services of systemd.
sysconfdir ?= /etc
unitdir     = $(prefix)/lib/systemd/system
sysusersdir = $(prefix)/lib/sysusers.d

UNITS := $(O)/service/quartzd.service $(O)/service/quartz-exporter.service
PROGRAMS += $(UNITS)

$(O)/service/%.service: service/%.service.in $(DIRECTORIES)
	$(say) GEN $@
	$(Q)mkdir -p $(@D)
	$(Q)sed -e 's|@sbindir@|$(sbindir)|' -e 's|@bindir@|$(bindir)|' $< >$@

# Settings that are there already are the administrator's.
.PHONY: install-service
install-service: $(UNITS)
	$(INSTALL) -D -m 644 -t $(DESTDIR)$(unitdir) $(UNITS)
	$(INSTALL) -D -m 644 service/quartz.sysusers $(DESTDIR)$(sysusersdir)/quartz.conf
	$(INSTALL) -d -m 755 $(DESTDIR)$(sysconfdir)/quartz/quartzd.conf.d
	test -e $(DESTDIR)$(sysconfdir)/quartz/quartzd.conf || \
		$(INSTALL) -m 644 service/quartzd.conf $(DESTDIR)$(sysconfdir)/quartz/quartzd.conf

install: install-service
