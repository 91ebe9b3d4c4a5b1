# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# What quartzd itself needs while real programs run, and how long a report of that takes.

# memory_of PID: sets peak, its greatest resident size in KiB so far, and own, what of its present
# size is neither files nor BPF maps; false when it has ended.
memory_of()
{
	local key value

	own=
	while read -r key value _; do
		case $key in
		VmHWM:) peak=$value ;;
		RssAnon:) own=$value ;;
		esac
	done <"/proc/$1/status"
	[ -n "$own" ]
} 2>/dev/null

# processor_time_of PID: sets used, in ns; false when it has ended.
processor_time_of()
{
	local task ns

	used=0
	for task in /proc/"$1"/task/*/schedstat; do
		read -r ns _ <"$task" || return 1
		used=$((used + ns))
	done
} 2>/dev/null

# watch_daemon: until the quartzd that was started last has ended: sets daemon_peak, daemon_own,
# daemon_used, child_peak and child_used.
watch_daemon()
{
	local child=

	daemon_peak=0 daemon_own=0 daemon_used=0 child_peak=0 child_used=0
	while memory_of "$pid"; do
		daemon_peak=$peak
		[ "$own" -lt "$daemon_own" ] || daemon_own=$own
		! processor_time_of "$pid" || daemon_used=$used
		[ -n "$child" ] || child=$(pgrep -P "$(pgrep -P "$pid" -x quartzd-keeper)" -f quartz-symbolizer)
		if [ -n "$child" ] && memory_of "$child"; then
			child_peak=$peak
			! processor_time_of "$child" || child_used=$used
		fi
		sleep 0.02
	done
	wait "$pid"
}

# report_times: of the snapshot, eleven times, in ms, with a bar.
report_times()
{
	local i begin end

	for ((i = 0; i < 11; i++)); do
		begin=${EPOCHREALTIME/./}
		"$out/quartzctl" report -i "$T/profile" >"$T/report" || fail 'report'
		end=${EPOCHREALTIME/./}
		echo $(((end - begin) / 1000))
	done | median
}

# under_quartzd NAME ARG...: a row about quartzd with these arguments.
under_quartzd()
{
	local name=$1 begin=${EPOCHREALTIME/./} elapsed bytes report

	shift
	start quartzd "$out/quartzd" --private -o "$T/profile" "$@"
	watch_daemon || fail "quartzd: $(cat "$T/quartzd.err")"
	elapsed=$(((${EPOCHREALTIME/./} - begin) / 1000))
	bytes=$(stat -c %s "$T/profile")
	report=$(report_times)
	awk -v name="$name" -v ms="$elapsed" -v rss="$daemon_peak" -v own="$daemon_own" -v cpu="$daemon_used" \
		-v child_rss="$child_peak" -v child_cpu="$child_used" -v bytes="$bytes" \
		-v report="${report%% *}" 'BEGIN {
		printf "%-16s %5.1f %7.2f%% %6.1f %6.1f %8.2f%% %6.1f %9d %9.0f %7d\n", name, ms / 1000,
			cpu / ms / 1e4, rss / 1024, own / 1024, child_cpu / ms / 1e4, child_rss / 1024, bytes,
			bytes / ms * 60000, report }'
}

# perf_bytes COMMAND...: what perf keeps of the same.
perf_bytes()
{
	local begin=${EPOCHREALTIME/./}

	command -v perf >/dev/null || return
	perf record -q -B -N -e cpu-clock -F 999 -g -o "$T/perf.data" -- "$@" >/dev/null 2>&1
	echo "perf record -g of $1: $(($(stat -c %s "$T/perf.data") * 60000000 /
		(${EPOCHREALTIME/./} - begin))) bytes/min"
}

# Something to compile for ten seconds or more.
awk 'BEGIN {
	for (i = 0; i < 3000; i++)
		printf "int f%d(int *a, int n) { int s = %d; for (int i = 0; i < n; i++) " \
			"s += a[i] * s ^ a[n - i] / (i + %d); return s; }\n", i, i, i + 1
}' >"$T/source.c"
seq 15000000 >"$T/text"
compile=("${CLANG:-clang}" -O2 -c -o "$T/source.o" "$T/source.c")
compress=(pigz -9 -k -f "$T/text")

printf '%-16s %5s %8s %6s %6s %9s %6s %9s %9s %7s\n' '' '' quartzd peak own symbol. peak snapshot \
	bytes report
printf '%-16s %5s %8s %6s %6s %9s %6s %9s %9s %7s\n' run s cpu MiB MiB cpu MiB bytes /min ms
under_quartzd 'sleep' -- sleep 10
under_quartzd 'clang' -- "${compile[@]}"
! command -v pigz >/dev/null || under_quartzd 'pigz' -- "${compress[@]}"
start compile "${compile[@]}"
compiler=$pid
under_quartzd '--system (clang)' --system --duration 15
wait "$compiler"
echo 'bars: quartzd peak 30 MiB for one program, report 200 ms'
perf_bytes "${compile[@]}"
! command -v pigz >/dev/null || perf_bytes "${compress[@]}"
