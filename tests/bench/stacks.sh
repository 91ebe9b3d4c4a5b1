# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# What a sample costs by how its stack is walked: by tables, or, of a program that has frame pointers, by
# those (the same without its call frame information), and what perf keeps of it. As in programs.sh, by
# the kernel's statistics; what samples of other programs cost, which are refused at once, is taken off.
# Then the tables of some processes, how long they are missing after quartzd has attached, and what it
# is to have perf copy stacks instead.

# sampling PROGRAM...: sets calls and ns of the sampler while the program runs, and accepted of them.
sampling()
{
	local program name

	start work "$@"
	program=$pid
	sleep 0.3
	echo 1 >/proc/sys/kernel/bpf_stats_enabled
	start_quartzd --pid "$program"
	sleep 6
	calls=0 ns=0
	while read -r name calls ns; do
		[ "$name" != on_sample ] || break
	done < <(programs_of "$pid")
	stop
	echo "$stats" >/proc/sys/kernel/bpf_stats_enabled
	end "$program"
	accepted=$("$out/quartzctl" report -i "$T/profile" --json 2>/dev/null |
		jq .ledger.accepted)
}

# cost_of PROGRAM...: ns per sample that was accepted.
cost_of()
{
	sampling "$@"
	awk -v calls="$calls" -v ns="$ns" -v accepted="$accepted" -v refused="$refused" \
		'BEGIN { printf "%.0f", accepted ? (ns - (calls - accepted) * refused) / accepted : 0 }'
}

# perf_sample GRAPH PROGRAM...: bytes per sample.
perf_sample()
{
	local graph=$1 n

	shift
	perf record -q -B -N -e cpu-clock -F 999 --call-graph "$graph" -o "$T/perf.data" -- \
		timeout 2 "$@" >/dev/null 2>&1
	n=$(perf script -i "$T/perf.data" -F pid -G 2>/dev/null | wc -l)
	echo $(($(stat -c %s "$T/perf.data") / (n ? n : 1)))
}

# sampling_row NAME POINTERS PROGRAM...: POINTERS is yes for a program that has frame pointers.
sampling_row()
{
	local name=$1 pointers=- program=$3

	if [ "$2" = yes ]; then
		objcopy --remove-section .eh_frame --remove-section .eh_frame_hdr "$program" "$T/plain" 2>/dev/null
		pointers=$(cost_of "$T/plain" "${@:4}")
	fi
	shift 3
	printf '%-12s %8s %9s' "$name" "$(cost_of "$program" "$@")" "$pointers"
	! command -v perf >/dev/null ||
		printf ' %9s %10s' "$(perf_sample fp "$program" "$@")" "$(perf_sample dwarf "$program" "$@")"
	printf '\n'
}

# ---- tables ----

# without_tables: samples of the profile before the tables were there, and all of them.
without_tables()
{
	"$out/quartzctl" report -i "$T/profile" --json | jq -r '.scopes[0] |
		"\(.stack_ends | (.not_ready // 0) + (.stale // 0)) \(.samples)"'
}

# tables_row NAME PROGRAM...: quartzd attaches to the program, which is at work.
tables_row()
{
	local name=$1 n text
	local missing=() ready=() program

	shift
	for ((n = 0; n < 5; n++)); do
		start work "$@"
		program=$pid
		sleep 1
		start_quartzd --verbose --pid "$program"
		sleep 3
		stop
		end "$program"
		text=$(grep "unwind tables of process $program:" "$T/quartzd.err" | tail -n 1)
		[ -n "$text" ] || fail "no tables of $*"
		ready+=("$(sed 's/.*, \([0-9.]*\) ms after.*/\1/' <<<"$text")")
		missing+=("$(without_tables)")
	done
	read -r n _ < <(printf '%s\n' "${missing[@]%% *}" | median)
	text=$(sed 's/.*: \([0-9]*\) regions, \([0-9]*\) modules, \([0-9]*\) rows, \([0-9]*\) bytes.*/\1 \2 \3 \4/' \
		<<<"$text")
	# shellcheck disable=SC2086
	printf '%-12s %8s %8s %8s %9s %9.0f %9.0f %7s\n' "$name" $text \
		"$(printf '%s\n' "${ready[@]}" | median | cut -d' ' -f1)" \
		"$(awk -v n="$n" 'BEGIN { print n / 0.999 }')" "${missing[-1]#* }"
}

# ---- perf, with copies of the stack ----

# used_by PID: its processor time so far in ns.
used_by()
{
	cat /proc/"$1"/task/*/schedstat | awk '{ ns += $1 } END { printf "%.0f", ns }'
}

# copying PROFILER: its pair of beats for each work, and what it took itself. quartzd, or the kind of
# call graph of perf.
copying()
{
	local profiler=$1 kind began used elapsed before=()

	for kind in clock compute futex-threads; do
		beat "$kind" 40
		before+=("$beaten")
	done
	case $profiler in
	quartzd) start_quartzd --tree "${beats%% *}" ;;
	*) start perf perf record -q -B -N -e cpu-clock -F 999 --call-graph "$profiler" \
		-p "${beats// /,}" -o "$T/perf.data" ;;
	esac
	sleep 1
	used=$(used_by "$pid")
	began=${EPOCHREALTIME/./}
	for kind in clock compute futex-threads; do
		beat "$kind" 40
		echo "${before[0]} $beaten" >>"$T/copying.$profiler.$kind"
		before=("${before[@]:1}")
	done
	used=$(($(used_by "$pid") - used))
	elapsed=$((${EPOCHREALTIME/./} - began))
	awk -v ns="$used" -v us="$elapsed" 'BEGIN { print ns / us / 10 }' >>"$T/copying.$profiler.own"
	stop
}

copying_row()
{
	local profiler=$1 kind middle least most

	printf '%-12s' "$profiler"
	for kind in clock compute futex-threads; do
		read -r middle least most < <(awk '{ print $2 / $1 }' "$T/copying.$profiler.$kind" | median)
		printf ' %6.3f %6.3f..%-6.3f' "$middle" "$least" "$most"
	done
	read -r middle _ < <(median "$T/copying.$profiler.own")
	printf ' %6.2f\n' "$middle"
}

printf '%-12s %8s %9s %9s %10s\n' 'stack' 'tables' 'pointers' 'perf fp' 'perf dwarf'
printf '%-12s %8s %9s %9s %10s\n' '' 'ns' 'ns' 'bytes' 'bytes'
sampling sleep 1000
refused=$(awk -v calls="$calls" -v ns="$ns" 'BEGIN { printf "%.1f", calls ? ns / calls : 0 }')
sampling_row '4 frames' yes "$out/tests/programs/spin_cpu" 100000
sampling_row '45 frames' no "$out/tests/unwind/subject-O0" deep
sampling_row '350 frames' no "$out/tests/unwind/subject-O0" deeper
echo "a sample of another program: $refused ns"

echo
printf '%-12s %8s %8s %8s %9s %9s %9s %7s\n' process regions modules rows bytes 'tables' 'without' samples
printf '%-12s %8s %8s %8s %9s %9s %9s %7s\n' '' '' '' '' '' 'wall ms' 'cpu ms' ''
tables_row spin_cpu "$out/tests/programs/spin_cpu" 100000
tables_row xz sh -c 'exec xz -9 --stdout </dev/urandom >/dev/null'
tables_row python3 /usr/bin/python3 -c 'while True: sum(i * i for i in range(1000))'
! command -v ffmpeg >/dev/null || tables_row ffmpeg ffmpeg -nostdin -v error -threads 1 -f lavfi \
	-i testsrc=size=640x360 -c:v mpeg4 -f null -

echo
shopt -s nullglob
"$out/tests/bench/tables" /lib/x86_64-linux-gnu/libc.so.6 /usr/lib/x86_64-linux-gnu/{libavcodec.so.??,libLLVM-??.so.1}

echo
start_beat
copiers=(quartzd)
! command -v perf >/dev/null || copiers+=(fp dwarf)
for ((round = 0; round < rounds; round++)); do
	for profiler in "${copiers[@]}"; do
		copying "$profiler"
	done
done
printf '%-12s %-21s %-21s %-21s %s\n' 'with' 'clock: ratio' 'compute: ratio' 'futex-threads: ratio' 'own cpu %'
for profiler in "${copiers[@]}"; do
	copying_row "$profiler"
done
end_beat
