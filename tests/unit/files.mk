# SPDX-License-Identifier: GPL-2.0-only
# One Check runner for all unit tests: a file here, in the folder that is called as what it tests, and its
# suite in suites.h. Tests elsewhere append to UNIT_SRC, UNIT_ARCHIVES (libraries built here) and UNIT_LIBS.
UNIT := $(O)/tests/unit/unit
TESTS += $(UNIT)
UNIT_SRC += $(wildcard tests/unit/*.c tests/unit/*/*.c tests/unit/core/*/*.c) cli/knobs/knob_page.c cli/complain.c cli/experiment/own_directory.c cli/experiment/programs.c cli/experiment/sends.c
UNIT_ARCHIVES += $(DAEMON_LIB) $(SYMBOLIZER_LIB) $(CORE_LIB)
UNIT_LIBS += $(SYMBOLIZER_LIBS) $(CORE_LIBS) -lbpf -lcap -lseccomp -lcheck_pic -lsubunit -lrt -lpthread
UNIT_WRAP := malloc calloc realloc reallocarray strdup asprintf open_memstream gzdopen inflateInit2_ _tcase_add_test address_spaces__get

$(UNIT): $(patsubst %.c,$(O)/%.o,$(UNIT_SRC)) $(UNIT_ARCHIVES)
	$(call link,$(UNIT_WRAP:%=-Wl$(comma)--wrap=%) $(UNIT_LIBS))

$(patsubst %.c,$(O)/%.o,$(UNIT_SRC)): | $(CORE_PB).h
$(O)/tests/unit/daemon/test_object_naming.o: private CPPFLAGS += -DTEST_BUILD='"$(abspath $(O))"'
$(O)/tests/unit/daemon/test_config_file.o: private CPPFLAGS += -DTEST_TREE='"$(CURDIR)"'
$(O)/tests/unit/core/util/test_exit_status.o: private CPPFLAGS += -DTEST_TREE='"$(CURDIR)"'
$(O)/tests/unit/core/advise/recorded.o: private CPPFLAGS += -DTEST_TREE='"$(CURDIR)"'

comma := ,

check-unit: $(UNIT)

# All of it again, and the fuzz targets, under ASan and UBSan. CFLAGS by the environment, so that files.mk can add to it.
.PHONY: asan
asan:
	$(Q)CFLAGS='-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all' \
		$(MAKE) --no-print-directory O=$(O)/asan sanitized

.PHONY: sanitized
sanitized: $(UNIT) fuzz-targets

check-asan: asan
