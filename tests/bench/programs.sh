# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# How long each BPF program runs, by the kernel's own statistics. They cost two looks at the clock
# per call, which are in the figures; the way into a program is not.

start_beat
echo 1 >/proc/sys/kernel/bpf_stats_enabled
start_quartzd --tree "${beats%% *}"
for workload in ${WORK:-compute futex-threads pipe-processes fork thread}; do
	beat $workload 60
done
printf '%-16s %9s %8s\n' program calls 'ns each'
programs_of "$pid" | awk '$1 ~ /^(on|log)_/ { printf "%-16s %9d %8.0f\n", $1, $2, $3 / $2 }'
stop
echo "$stats" >/proc/sys/kernel/bpf_stats_enabled
end_beat
