# SPDX-License-Identifier: GPL-2.0-only
# Quartz. `make help` lists the targets; each directory names its files in its own files.mk.

MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:
.SUFFIXES:

VERSION := 0.2.0
# Always by the same name, since what depends on what is kept by name.
override O := $(patsubst $(CURDIR)/%,%,$(abspath $(or $(O),build)))
prefix  ?= /usr
DESTDIR ?=
sbindir    = $(prefix)/sbin
bindir     = $(prefix)/bin
libexecdir = $(prefix)/libexec/quartz
datadir    = $(prefix)/share/quartz
mandir     = $(prefix)/share/man
libdir     = $(prefix)/lib
includedir = $(prefix)/include
docdir     = $(prefix)/share/doc/quartz
bashdir    = $(prefix)/share/bash-completion/completions
zshdir     = $(prefix)/share/zsh/vendor-completions

# A file of where things will be installed, changed when that does: for what is made with it inside.
DIRECTORIES := $(O)/directories
places      = prefix sbindir bindir libexecdir datadir libdir includedir
directories = $(foreach d,$(places),$(d)=$($(d)))

CC      ?= cc
CXX     ?= c++
CLANG   ?= clang
BPFTOOL ?= $(firstword $(shell command -v bpftool 2>/dev/null) /usr/sbin/bpftool)
PROTOC_C ?= protoc-c
SCDOC   ?= scdoc
INSTALL ?= install
LDCONFIG ?= /sbin/ldconfig
VMLINUX ?= /sys/kernel/btf/vmlinux
# As libbpf and the kernel call it: files for it alone are called *_$(CPU_ARCH).
CPU_ARCH := $(patsubst x86_64%,x86,$(patsubst aarch64%,arm64,$(shell $(CC) -dumpmachine)))

CFLAGS   ?= -O2 -g
WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 \
            -Wno-unused-parameter -Wno-missing-field-initializers
CPPFLAGS += -D_GNU_SOURCE -DQUARTZ_VERSION='"$(VERSION)"' -I. -Iinclude -I$(O)
ALL_CFLAGS = -std=gnu11 $(WARN) $(WERROR) $(CFLAGS) -fno-strict-aliasing -MMD -MP
BPF_CFLAGS = -O2 -g -mcpu=v3 -target bpf -Wall -Wextra -Wno-unused-parameter \
             -Wno-missing-declarations $(WERROR) -I. -Iinclude -I$(O)/bpf -D__TARGET_ARCH_$(CPU_ARCH)

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-8s %s\n'
endif

PROGRAMS :=
TESTS :=
.PHONY: all
all: programs

include core/files.mk
include symbolizer/files.mk
include bpf/files.mk
include daemon/files.mk
include web/files.mk
include cli/files.mk
include exporter/files.mk
include userlib/files.mk
include man/files.mk
include scripts/files.mk
include service/files.mk
include kmod/files.mk
include tests/files.mk

.PHONY: programs
programs: $(PROGRAMS)

# Test programs, built and not run.
.PHONY: tests
tests: $(TESTS)

objects = $(patsubst %.c,$(O)/%.o,$(1))

# ---- rules ----

$(O)/%.o: %.c
	$(say) CC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

$(O)/%.o: $(O)/%.c
	$(say) CC $<
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

$(DIRECTORIES): force
	$(Q)mkdir -p $(@D)
	$(Q)echo '$(directories)' | cmp -s - $@ || echo '$(directories)' >$@

define link
	$(say) LINK $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(1)
endef

# What has the version in it, for each file that names it.
$(O)/version: force
	$(Q)mkdir -p $(@D)
	$(Q)echo '$(VERSION)' | cmp -s - $@ || echo '$(VERSION)' >$@
$(call objects,$(shell grep -rl --include='*.c' QUARTZ_VERSION cli daemon exporter userlib symbolizer)): $(O)/version

# A file of its template, with the places in it, and nothing left that looks like one.
define substitute
	$(say) GEN $@
	$(Q)mkdir -p $(@D)
	$(Q)sed -e 's|@version@|$(VERSION)|g' $(foreach d,$(places),-e 's|@$(d)@|$($(d))|g') $< >$@
	$(Q)! grep -n '@[a-z]*@' $@ >&2
endef

LAYERS := unit bpf conduct asan fuzz clock cli vm
.PHONY: force demo check check-all $(LAYERS:%=check-%) bench soak install clean help dist deb deps

# On all processors, unless -j says otherwise; one job more, since some wait for files.
build = $(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell expr $$(nproc) + 1))

# deps first: what is built, and with which tools, is known only after it.
demo:
	$(Q)scripts/deps.sh build
	$(Q)$(build) all $(O)/tests/programs/indexer
	$(Q)O=$(O) scripts/demo.sh

check check-all:
	$(Q)scripts/deps.sh build check
	$(Q)$(build) vm-files all tests fuzz-targets
	$(Q)O=$(O) tests/check $(if $(filter check-all,$@),-a)

# What else a layer needs is in its files.mk.
$(LAYERS:%=check-%): check-%:
	$(Q)O=$(O) tests/check -a $*

bench: all
	$(Q)O=$(O) tests/bench/run

install: all
	$(INSTALL) -D -m 755 -t $(DESTDIR)$(sbindir) $(O)/quartzd $(O)/quartz-exporter
	$(INSTALL) -D -m 755 -t $(DESTDIR)$(bindir) $(O)/quartzctl
	$(INSTALL) -D -m 755 -t $(DESTDIR)$(libexecdir) $(O)/quartz-symbolizer
	$(INSTALL) -D -m 644 daemon/spin/spin-symbols.txt $(DESTDIR)$(datadir)/spin-symbols
	$(INSTALL) -D -m 644 -t $(DESTDIR)$(mandir)/man1 $(O)/man/quartzctl.1
	$(INSTALL) -D -m 644 -t $(DESTDIR)$(mandir)/man5 $(O)/man/quartzd.conf.5
	$(INSTALL) -D -m 644 -t $(DESTDIR)$(mandir)/man8 $(O)/man/quartzd.8 $(O)/man/quartz-exporter.8
	$(INSTALL) -D -m 644 -t $(DESTDIR)$(mandir)/man3 $(O)/man/quartz.3
	$(INSTALL) -D -m 644 -t $(DESTDIR)$(docdir) README.md NEWS.md SECURITY.md
	$(INSTALL) -D -m 644 -t $(DESTDIR)$(docdir)/doc doc/*.md doc/*.png
	$(INSTALL) -D -m 644 -t $(DESTDIR)$(includedir)/quartz userlib/quartz.h
	$(INSTALL) -D -m 644 -t $(DESTDIR)$(libdir) $(O)/libquartz.a
	$(INSTALL) -D -m 755 -t $(DESTDIR)$(libdir) $(O)/libquartz.so.1 $(O)/libquartz-try.so
	ln -sf libquartz.so.1 $(DESTDIR)$(libdir)/libquartz.so
	$(INSTALL) -D -m 644 -t $(DESTDIR)$(libdir)/pkgconfig $(O)/libquartz.pc
	$(INSTALL) -D -m 644 -t $(DESTDIR)$(bashdir) $(COMPLETED:%=$(O)/completion/%)
	$(INSTALL) -D -m 644 -t $(DESTDIR)$(zshdir) $(COMPLETED:%=$(O)/completion/_%)
	[ -n '$(DESTDIR)' ] || [ "$$(id -u)" != 0 ] || $(LDCONFIG)

# All files that git knows, or of a tree without git all that are not built; the same files give the same bytes.
DIST := $(O)/quartz-$(VERSION).tar.gz
dist_files = git ls-files -z 2>/dev/null | grep -z . || find . -path './$(O)' -prune -o ! -type d -printf '%P\0'
dist:
	$(Q)mkdir -p $(O)
	$(Q)($(dist_files)) | LC_ALL=C sort -z | tar -c --no-recursion --owner=0 --group=0 --numeric-owner \
		--mode=go=rX,u+rw --mtime=@$${SOURCE_DATE_EPOCH-$$(stat -c %Y NEWS.md)} --transform='s,^,quartz-$(VERSION)/,S' --null -T - | gzip -9n >$(DIST)
	@ls $(DIST)

# In a copy of the tree below $(O), where debhelper may write; the packages are in $(O)/deb.
deb: dist
	$(Q)scripts/deps.sh build deb
	$(Q)rm -rf $(O)/deb && mkdir -p $(O)/deb
	$(Q)tar -xz -f $(DIST) -C $(O)/deb
	$(Q)cd $(O)/deb/quartz-$(VERSION) && env -u MAKEFLAGS -u MAKELEVEL -u O dpkg-buildpackage -us -uc -b
	@ls $(O)/deb/*.deb

deps:
	$(Q)scripts/deps.sh

clean:
	rm -rf $(O)

help:
	@echo 'Quartz $(VERSION)'
	@echo '  make           build everything into $(O)/'
	@echo '  make demo      install what is missing, build, profile a program with something to find'
	@echo '  make check     install what is missing, build, test: every layer, in ten minutes'
	@echo '  make check-all with the tests that take longer'
	@echo '  make check-unit | check-bpf | check-conduct | check-asan | check-fuzz | check-clock | check-cli | check-vm   one layer, all of its tests'
	@echo '  make check-guests   the layer bpf on other kernels with 8 processors; takes long'
	@echo '  make check-debug-kernel   the module on kernels that watch themselves, built once of Debian'"'"'s sources'
	@echo '  make screenshots   the pictures of doc/, of a recorded profile'
	@echo '  make bench     overhead and accuracy beside perf, printed as ratios'
	@echo '  make soak      quartzd under the turnover of a day, in ten minutes'
	@echo '  make install   DESTDIR= prefix=/usr'
	@echo '  make dist      the source as $(DIST)'
	@echo '  make deb       Debian packages in $(O)/deb'
	@echo '  make kmod      KDIR=/lib/modules/RELEASE/build: the optional module; make modules_install'
	@echo '  make clean     remove $(O)/'
	@echo '  V=1 shows the commands, O=DIR builds elsewhere, WERROR=-Werror stops at warnings'

-include $(shell find $(O) -path $(O)/vm -prune -o -type f -name '*.d' -print 2>/dev/null)
