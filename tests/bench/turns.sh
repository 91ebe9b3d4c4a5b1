# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Threads that take turns in a lock: at each moment one computes and the others spin, so the normalized time of the
# holder is the time held, which the program measures. TURNS_THREADS (2), TURNS_SECONDS (3) and TURNS (words
# KIND:HOLD_US) choose others.

: "${TURNS:=spin:1 spin:10 spin:20 spin:100 spin:300 spin:1000 spin:5000 ticket:20 mcs:20 pass:20 barrier:20}"

# Of the run just recorded, with the truth in ns: error in percent, 1 where the interval covers it, what main's total
# and idle time lack of the elapsed time in percent, what self and unattributed lack of the busy time, spun s.
turns_figures()
{
	"$out/quartzctl" report -i "$T/profile" --json | jq -r --argjson held "$1" '
		.scopes[0] as $s |
		def row($name): [$s.rows[] | select(.name == $name)][0];
		row("hold_lock").self as $h |
		(row("main").total.norm_ns + $s.idle_ns + $s.instrumentation_ns) as $all |
		[100 * ($h.norm_ns / $held - 1),
		 (if ($h.norm_ns - $held | fabs) <= $h.ci_ns then 1 else 0 end),
		 100 * ($all / $s.elapsed_ns - 1),
		 100 * (([$s.rows[].self.norm_ns] | add) / $s.busy_ns - 1),
		 $h.cpu_ns / $held * 100 - 100] | map(tostring) | join(" ")'
}

for ((round = 0; round < rounds; round++)); do
	for turn in $TURNS; do
		OMP_WAIT_POLICY=active "$out/quartzctl" record -o "$T/profile" -- "$out/tests/programs/turns" \
			"${turn%:*}" "${turn#*:}" "${TURNS_SECONDS:-3}" "${TURNS_THREADS:-2}" >"$T/turns" \
			2>"$T/record.err" || fail 'record'
		turns_figures "$(awk '$2 == "hold_lock" { print $4 }' "$T/turns")" >>"$T/turns.$turn"
	done
done
printf '%-12s  %26s  %8s  %22s  %22s  %22s\n' 'lock:us held' 'holder: norm, error %' 'in 95 %' \
	'main + idle, %' 'self / busy, %' 'holder: CPU, error %'
for turn in $TURNS; do
	printf '%-12s' "$turn"
	for column in 1 3 4 5; do
		read -r middle least most < <(cut -d ' ' -f $column "$T/turns.$turn" | median)
		printf '  %8.2f, %6.2f..%-6.2f' "$middle" "$least" "$most"
		[ $column != 1 ] || printf '  %3d/%-3d' \
			"$(awk '$2 == 1' "$T/turns.$turn" | wc -l)" "$rounds"
	done
	echo
done
