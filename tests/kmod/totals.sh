# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# totals: the same figures in every place where they are shown; tests/bpf/lib.sh runs it, with quartz.ko
# loaded. The program has ended, while quartzd goes on for another one, so that none of them changes.

sysfs=/sys/kernel/quartz/scopes
text=/sys/fs/bpf/quartz

# One figure a line, the same lines of each: elapsed time, processor time, levels, the leading rows.
of_sysfs()
{
	local scope=$sysfs/pid-$target row

	cat "$scope/elapsed_ns" "$scope/cpu_ns" "$scope/normalized_ns" "$scope/serial_ns"
	tr ' ' '\n' <"$scope/level_ns" | head -n "$1"
	for row in 0 1; do
		cat "$scope/top/$row/name" "$scope/top/$row/normalized_ns" \
			"$scope/top/$row/self_normalized_ns" "$scope/top/$row/cpu_ns"
	done
}

# of_report COUNT ARG...: of quartzctl report, of a snapshot or of the running quartzd.
of_report()
{
	local levels=$1

	shift
	"$out/quartzctl" report --json -s "pid=$target" --kind procedure "$@" | jq -r --argjson n "$levels" '
		.scopes[0] | .elapsed_ns, .cpu_ns, .busy_ns, .serial_ns, .level_ns[:$n][],
		(.rows[:2][] | .name, .total.norm_ns, .self.norm_ns, .total.cpu_ns)'
}

# The tables that the kernel prints have no sums of their own: levels, and the leading rows.
of_text()
{
	awk -F '\t' -v pid="$target" '$2 == pid { print $6 }' $text/parallelism | tr ',' '\n' | head -n "$1"
	awk -F '\t' '$1 == 0 { print $6; print $2; print $3 } $1 == 0 && ++n == 2 { exit }' $text/procedures
}

text_part()
{
	sed "1,4d" | awk -v levels="$1" 'NR <= levels || (NR - levels) % 4'
}

totals()
{
	local levels=2 i

	start target "$programs/phases" --time 2:600
	target=$pid
	start other sleep 1000
	attach_to "$target" --pid "$pid"
	for ((i = 0; i < 600; i++)); do
		! cat "$sysfs/pid-$target"/top/*/name 2>/dev/null | grep -qx phase_2 || break
		sleep 0.1
	done
	[ $i -lt 600 ] || fail 'phase_2 is never shown'
	kill_now "$target"
	# What quartzd shows follows within some seconds, and then stays.
	for ((i = 0; i < 120; i++)); do
		# as many as the program reached
		levels=$("$out/quartzctl" report --json -s "pid=$target" 2>/dev/null | jq '.scopes[0].level_ns | length') ||
			levels=2
		of_sysfs $levels >sysfs 2>/dev/null
		of_text $levels >text 2>/dev/null
		of_report $levels >live 2>/dev/null
		! cmp -s sysfs live || ! text_part $levels <live | cmp -s text - || break
		sleep 0.5
	done
	diff sysfs live || fail 'sysfs and the running quartzd differ'
	text_part $levels <live | diff text - || fail 'the text tables and the running quartzd differ'
	[ "$(sed -n 1p live)" = "$(sed -n "5,$((4 + levels))p" live | awk '{ s += $1 } END { printf "%.0f", s }')" ] ||
		fail 'levels do not add up'
	detach
	of_report $levels -i profile >saved
	diff live saved || fail 'the running quartzd and its snapshot differ'
	! command -v go >/dev/null || foreign
}

# A reader that knows nothing of Quartz: all time is that of the one program that computed.
foreign()
{
	local total

	export HOME=$T PPROF_TMPDIR=$T GOFLAGS=-mod=mod GOTOOLCHAIN=local
	total=$(go tool pprof -top -unit=ns -sample_index=norm_cpu profile 2>&1 |
		sed -nE 's/.* of ([0-9]+)ns total.*/\1/p')
	[ "$total" = "$(sed -n 3p saved)" ] || fail "pprof says $total ns" "$(cat saved)"
}

try 'the same totals in text, sysfs, JSON and pprof' totals
