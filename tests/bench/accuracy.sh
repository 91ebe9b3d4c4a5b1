# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Normalized times beside the truth that the program phases knows, in percent of the truth. Where one
# thread runs alone, its normalized time is its processor time; where two do, the elapsed time, as
# long as one of them runs: so the program is SCHED_FIFO, for some seconds.

# "PROCEDURE self|total NS" from the lines of phases.
truths()
{
	awk '$1 == "phase" {
		ns = $4 == 1 ? $8 : $6
		split($2, name, "/")
		if (name[1] == "idle")
			next
		total[name[1]] += ns
		self[name[2] ? name[2] : name[1]] += ns
		if (name[2])
			total[name[2]] += ns
	} END {
		for (p in self) print p, "self", self[p]
		for (p in total) print p, "total", total[p]
	}' "$1"
}

measured()
{
	"$out/quartzctl" report -i "$T/profile" --json | jq -r '.scopes[0].rows[] |
		"\(.name) self \(.self.norm_ns)", "\(.name) total \(.total.norm_ns)"'
}

for ((round = 0; round < rounds; round++)); do
	"$out/quartzctl" record -o "$T/profile" -- chrt -f 1 "$out/tests/programs/phases" \
		--time 1:1,2:1,0:0.5,1l:1,2l:1 >"$T/phases" 2>"$T/record.err" || fail 'record'
	truths "$T/phases" >"$T/truths"
	measured >"$T/measured"
	while read -r procedure kind ns; do
		awk -v p="$procedure" -v k="$kind" -v ns="$ns" '
			$1 == p && $2 == k { print 100 * ($3 / ns - 1) }' "$T/measured" \
			>>"$T/errors.$procedure.$kind"
	done <"$T/truths"
done
printf '%-10s %-6s %8s %16s   %s\n' procedure time 'error %' 'min..max' 'bar 3 %'
for name in phase_1 phase_2 leaf; do
	for kind in self total; do
		read -r error least most < <(median "$T/errors.$name.$kind")
		printf '%-10s %-6s %8.2f %16s   %s\n' "$name" "$kind" "$error" \
			"$(printf '%.2f..%.2f' "$least" "$most")" \
			"$(awk -v e="$error" 'BEGIN { print e * e <= 9 ? "pass" : "over" }')"
	done
done
