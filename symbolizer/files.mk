# SPDX-License-Identifier: GPL-2.0-only
# symbolizer: the child without privileges. The library is its parsing code, without the process.
SYMBOLIZER_LIB_SRC := $(sort $(wildcard symbolizer/*/*.c))
SYMBOLIZER_SRC := $(sort $(wildcard symbolizer/*.c))

# The library has tables of eleven more architectures, whose 75,000 pointers the loader writes at each start, on 370 pages. Linked
# statically it has only what is used: without an initializer, cs_open() refuses an architecture, as where it was built without.
CAPSTONE_OTHERS := ARM AArch64 EVM M680X M68K Mips PPC Sparc SystemZ TMS320C64x XCore
CAPSTONE := $(foreach a,$(CAPSTONE_OTHERS),-Xlinker --defsym=$(a)_global_init=0 -Xlinker --defsym=$(a)_option=0) \
	-l:libcapstone.a

SYMBOLIZER_LIB := $(O)/symbolizer/libsymbolizer.a
SYMBOLIZER_LIBS := -ldw -lelf -lz -liberty $(CAPSTONE)

$(SYMBOLIZER_LIB): $(patsubst %.c,$(O)/%.o,$(SYMBOLIZER_LIB_SRC))
	$(say) AR $@
	$(Q)rm -f $@ && ar rcs $@ $^

PROGRAMS += $(O)/quartz-symbolizer
$(O)/quartz-symbolizer: $(patsubst %.c,$(O)/%.o,$(SYMBOLIZER_SRC)) $(SYMBOLIZER_LIB)
	$(call link,-Xlinker --defsym=open=split_file__open $(SYMBOLIZER_LIBS) -lcap -lseccomp)

FUZZ_TARGETS += cfi elf spin
FUZZ_ARCHIVES += $(SYMBOLIZER_LIB)
FUZZ_LIBS += $(SYMBOLIZER_LIBS)
$(O)/tests/fuzz/cfi: $(O)/tests/unit/symbolizer/cfi_image.o
