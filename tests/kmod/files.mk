# SPDX-License-Identifier: GPL-2.0-only
# What tests/kmod/guest runs on a kernel with quartz.ko.
KMOD_TESTS := $(O)/tests/kmod/device $(O)/tests/kmod/hold $(O)/tests/kmod/faults
TESTS += $(KMOD_TESTS)

$(O)/tests/kmod/device: $(patsubst %.c,$(O)/%.o,tests/kmod/device.c tests/kmod/results.c \
		tests/kmod/snapshot.c tests/kmod/main.c)
	$(call link,-lcheck_pic -lsubunit -lrt -lpthread -lm)

$(O)/tests/kmod/hold: $(O)/tests/kmod/hold.o
	$(call link,-lpthread)

$(O)/tests/kmod/faults: $(O)/tests/kmod/faults.o
	$(call link)
