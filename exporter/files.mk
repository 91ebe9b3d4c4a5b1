# SPDX-License-Identifier: GPL-2.0-only
# exporter: quartz-exporter, the one program that speaks with the network. It asks quartzd as quartzctl does.
EXPORTER_SRC := $(sort $(wildcard exporter/*.c)) client/live.c
PROGRAMS += $(O)/quartz-exporter

$(O)/quartz-exporter: $(EXPORTER_SRC:%.c=$(O)/%.o) $(CORE_LIB)
	$(call link,-lmicrohttpd $(CORE_LIBS) -lpthread)

# The names that it is called by, the password, and the names that it gives, tested without the network.
UNIT_SRC += exporter/credentials.c exporter/host.c exporter/label.c
