# SPDX-License-Identifier: GPL-2.0-only
# bpf: the object that measures, $(O)/bpf/quartz.bpf.o, that of the text tables, and their skeletons. vmlinux.h comes
# from the running kernel's BTF; where there is none, from the types in bpf/vmlinux_fallback.h.
BPF_OBJECTS := $(O)/bpf/quartz.bpf.o $(O)/bpf/text_tables.bpf.o
BPF_SKEL := $(BPF_OBJECTS:%.bpf.o=%.skel.h)

$(O)/bpf/vmlinux.h: bpf/vmlinux_fallback.h
	$(say) BTF $@
	$(Q)mkdir -p $(@D)
	$(Q)if [ -r $(VMLINUX) ]; then $(BPFTOOL) btf dump file $(VMLINUX) format c > $@; \
		else cp $< $@; fi

$(BPF_OBJECTS): $(O)/%.bpf.o: %.bpf.c $(O)/bpf/vmlinux.h
	$(say) BPF $@
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<
	$(Q)V=$(V) bpf/count-instructions $@

$(BPF_SKEL): %.skel.h: %.bpf.o
	$(say) SKEL $@
	$(Q)$(BPFTOOL) gen skeleton $< name $(*F) > $@
