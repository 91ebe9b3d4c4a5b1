# SPDX-License-Identifier: GPL-2.0-only
# symbolizer: the child without privileges. The library is its parsing code, without the process.
SYMBOLIZER_LIB_SRC := $(sort $(wildcard symbolizer/*/*.c))
SYMBOLIZER_SRC := $(sort $(wildcard symbolizer/*.c))
SYMBOLIZER_LIB := $(O)/symbolizer/libsymbolizer.a
SYMBOLIZER_LIBS := -ldw -lelf -lz -liberty -lcapstone

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
