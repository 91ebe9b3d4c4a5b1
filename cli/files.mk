# SPDX-License-Identifier: GPL-2.0-only
# cli: quartzctl, a reader of profiles.
CLI_SRC := $(sort $(wildcard cli/*.c cli/*/*.c)) client/live.c
PROGRAMS += $(O)/quartzctl

$(O)/quartzctl: $(CLI_SRC:%.c=$(O)/%.o) $(SYMBOLIZER_LIB) $(CORE_LIB)
	$(call link,-lbpf -lelf -liberty $(CORE_LIBS) -lncursesw -ltinfo)
