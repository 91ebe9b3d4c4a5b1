# SPDX-License-Identifier: GPL-2.0-only
# exporter: quartz-exporter, the one program that speaks with the network. It asks quartzd as quartzctl does.
EXPORTER_SRC := exporter/main.c exporter/http.c exporter/metrics.c exporter/sums.c exporter/source.c \
                cli/live.c
PROGRAMS += $(O)/quartz-exporter

$(O)/quartz-exporter: $(EXPORTER_SRC:%.c=$(O)/%.o) $(CORE_LIB)
	$(call link,-lmicrohttpd $(CORE_LIBS) -lpthread)
