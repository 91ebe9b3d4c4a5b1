# SPDX-License-Identifier: GPL-2.0-only
# bpf: one object, $(O)/bpf/quartz.bpf.o, and its skeleton. vmlinux.h comes from the running kernel's
# BTF; where there is none, from the types in bpf/vmlinux_fallback.h.
BPF_SKEL := $(O)/bpf/quartz.skel.h

$(O)/bpf/vmlinux.h: bpf/vmlinux_fallback.h
	$(say) BTF $@
	$(Q)mkdir -p $(@D)
	$(Q)if [ -r $(VMLINUX) ]; then $(BPFTOOL) btf dump file $(VMLINUX) format c > $@; \
		else cp $< $@; fi

$(O)/bpf/quartz.bpf.o: bpf/quartz.bpf.c $(O)/bpf/vmlinux.h
	$(say) BPF $@
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<
	$(Q)bpf/count-instructions $@

$(BPF_SKEL): $(O)/bpf/quartz.bpf.o
	$(say) SKEL $@
	$(Q)$(BPFTOOL) gen skeleton $< name quartz > $@
