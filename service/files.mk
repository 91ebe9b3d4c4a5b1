# SPDX-License-Identifier: GPL-2.0-only
# systemd units of quartzd and quartz-exporter, and files for Prometheus and Grafana.
sysconfdir ?= /etc
unitdir     = $(prefix)/lib/systemd/system
sysusersdir = $(prefix)/lib/sysusers.d

UNITS := $(O)/service/quartzd.service $(O)/service/quartz-exporter.service
PROGRAMS += $(UNITS)

$(O)/service/%.service: service/%.service.in Makefile $(DIRECTORIES)
	$(call substitute)

# Do not overwrite the administrator's settings.
.PHONY: install-service
install-service: $(UNITS)
	$(INSTALL) -D -m 644 -t $(DESTDIR)$(unitdir) $(UNITS)
	$(INSTALL) -D -m 644 service/quartz.sysusers $(DESTDIR)$(sysusersdir)/quartz.conf
	$(INSTALL) -D -m 644 -t $(DESTDIR)$(datadir)/grafana service/grafana/quartz.json
	$(INSTALL) -D -m 644 -t $(DESTDIR)$(datadir)/prometheus service/prometheus/quartz.rules.yml
	$(INSTALL) -d -m 755 $(DESTDIR)$(sysconfdir)/quartz/quartzd.conf.d
	test -e $(DESTDIR)$(sysconfdir)/quartz/quartzd.conf || \
		$(INSTALL) -m 644 service/quartzd.conf $(DESTDIR)$(sysconfdir)/quartz/quartzd.conf

install: install-service
