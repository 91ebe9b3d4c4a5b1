# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# What it costs to be profiled, or to run beside one who is: pairs of the same work without and
# with a profiler, one after the other, for each profiler and round. Each pair gives one ratio. WORK says which work,
# BESIDE which profilers (all).

read -r -a workloads <<<"${WORK:-compute clock futex-threads futex-processes pipe-threads pipe-processes getppid fork thread}"
declare -A slices=([fork]=25 [thread]=30)
read -r -a profilers <<<"${BESIDE:-timer empty quartzd system woken outside}"
[ -n "${BESIDE-}" ] || ! command -v perf >/dev/null || profilers+=(perf perf-all perf-switch)
declare -A titles=(
	[timer]='interrupt alone, 999 Hz'
	[empty]='two empty programs'
	[quartzd]='quartzd'
	[system]='quartzd --system'
	[woken]='quartzd --woken'
	[outside]='quartzd on another program'
	[perf]='perf record -g -p'
	[perf-all]='perf record -g -a'
	[perf-switch]='perf record -g -a --switch-events'
)
# Highest ratio, by profiler and workload.
declare -A bars=(
	[quartzd compute]=1.01 [quartzd clock]=1.01
	[quartzd futex-threads]=1.15 [quartzd futex-processes]=1.15
	[quartzd pipe-threads]=1.15 [quartzd pipe-processes]=1.15
)

# measure: sets ns[WORKLOAD].
measure()
{
	local workload

	for workload in "${workloads[@]}"; do
		beat "$workload" "${slices[$workload]-40}"
		ns[$workload]=$beaten
	done
}

# Debian 12's perf crashes over build-ids on newer kernels: -B -N.
start_perf()
{
	start perf perf record -q -B -N -e cpu-clock -F 999 -g -D -1 --control "fifo:$T/ask,$T/told" \
		-o "$T/perf.data" "$@"
	echo enable >"$T/ask"
	read -r _ <"$T/told"
}

start_profiler()
{
	case $1 in
	timer)
		start timer "$out/tests/bench/timer" 999
		await timer.out ready
		;;
	empty) start_empty sched_switch sched_waking ;;
	quartzd) start_quartzd --tree "${beats%% *}" ;;
	system) start_quartzd --system --history 0 ;;
	woken) start_quartzd --woken --tree "${beats%% *}" ;;
	outside) start_quartzd --pid "$sleeper" ;;
	perf) start_perf -p "${beats// /,}" ;;
	perf-all) start_perf -a ;;
	perf-switch) start_perf -a --switch-events ;;
	esac
}

take_pair()
{
	local -A ns before
	local workload

	measure
	for workload in "${workloads[@]}"; do
		before[$workload]=${ns[$workload]}
	done
	start_profiler "$1"
	sleep 0.3
	measure
	stop
	for workload in "${workloads[@]}"; do
		echo "${before[$workload]} ${ns[$workload]}" >>"$T/pairs.$1.$workload"
	done
}

verdict()
{
	[ -n "$2" ] || return
	awk -v x="$1" -v bar="$2" 'BEGIN { print bar, x <= bar ? "pass" : "over" }'
}

# print_row PROFILER WORKLOAD
print_row()
{
	local base ratio least most ns bar

	read -r base _ < <(cut -d' ' -f1 "$T/pairs.$1.$2" | median)
	read -r ratio least most < <(awk '{ print $2 / $1 }' "$T/pairs.$1.$2" | median)
	read -r ns _ < <(awk '{ print $2 - $1 }' "$T/pairs.$1.$2" | median)
	bar=$(verdict "$ratio" "${bars["$1 $2"]-}")
	printf '%-15s %-32s %9.0f %8.0f  %6.3f %6.3f..%.3f %s\n' "$2" "${titles[$1]}" \
		"$base" "$ns" "$ratio" "$least" "$most" ${bar:+" $bar"}
}

start_beat
start sleeper sleep infinity
sleeper=$pid
mkfifo "$T/ask" "$T/told"

for ((round = 0; round < rounds; round++)); do
	for profiler in "${profilers[@]}"; do
		take_pair "$profiler"
	done
done
echo "after the rounds: load $(cut -d' ' -f1-3 /proc/loadavg)"
printf '%-15s %-32s %9s %8s  %6s %14s  %s\n' work profiler 'ns alone' '+ ns' ratio min..max bar
for workload in "${workloads[@]}"; do
	for profiler in "${profilers[@]}"; do
		print_row "$profiler" "$workload"
	done
done
end_beat
end "$sleeper"
