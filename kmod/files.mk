# SPDX-License-Identifier: GPL-2.0-only
# quartz.ko for the kernel whose build tree is KDIR. kbuild writes beside the sources, so each kernel gets a
# copy of them.
KDIR ?= /lib/modules/$(shell uname -r)/build
KMOD_RELEASE = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' \
	$(KDIR)/include/generated/utsrelease.h 2>/dev/null)
KMOD_BUILD = $(abspath $(O))/kmod/$(KMOD_RELEASE)
# BTF of a module needs pahole and the kernel's vmlinux, which Debian's headers have since 6.12; the module does
# not need BTF.
KMOD_BTF = $(if $(and $(shell command -v pahole),$(wildcard $(KDIR)/vmlinux)),,CONFIG_DEBUG_INFO_BTF_MODULES=)
# The kernel's makefiles also use O as their output directory.
KMAKE = $(MAKE) --no-print-directory -C $(KDIR) O= M=$(KMOD_BUILD) $(KMOD_BTF)

.PHONY: kmod modules_install
kmod:
	$(Q)[ -n "$(KMOD_RELEASE)" ] || { echo "$(KDIR): no build tree of a kernel;" \
		"install linux-headers-$$(uname -r), or give KDIR=" >&2; exit 1; }
	$(Q)mkdir -p $(KMOD_BUILD)
	$(Q)cp -ru Kbuild kmod include $(KMOD_BUILD)/
	$(Q)$(KMAKE) modules

modules_install: kmod
	$(Q)$(KMAKE) INSTALL_MOD_PATH=$(DESTDIR) modules_install
