# SPDX-License-Identifier: GPL-2.0-only
# quartz.ko for the kernel whose build tree is KDIR. That writes beside its sources, so it gets copies
# of its own, one for each kernel.
KDIR ?= /lib/modules/$(shell uname -r)/build
KMOD_RELEASE = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' \
	$(KDIR)/include/generated/utsrelease.h 2>/dev/null)
KMOD_BUILD = $(abspath $(O))/kmod/$(KMOD_RELEASE)
# BTF of a module needs pahole, and the module does not need BTF.
KMOD_BTF = $(if $(shell command -v pahole),,CONFIG_DEBUG_INFO_BTF_MODULES=)
# O is the output directory of the kernel's makefiles, too.
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
