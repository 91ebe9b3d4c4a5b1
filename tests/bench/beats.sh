# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# A program that computes in two procedures in turn, by the clock, with periods near the sampler's own, near those that
# are common, and their neighbours. BEATS (us) chooses others.

: "${BEATS:=900 990 1000 1001.001 1010 1100 1990 2000 2002.002 2010 3990 4000 4004.004 4010 9990 10000 10010.01 10100}"

for ((round = 0; round < rounds; round++)); do
	for period in $BEATS; do
		"$out/quartzctl" record -o "$T/profile" -- "$out/tests/bench/periodic" "$period" 3 \
			>"$T/beats" 2>"$T/record.err" || fail 'record'
		read -r early late < <(awk '$1 == "truth" { print $4 }' "$T/beats" | paste -sd ' ')
		"$out/quartzctl" report -i "$T/profile" --json | jq --argjson early "$early" \
			--argjson late "$late" '
			def cpu($name): [.scopes[0].rows[] | select(.name == $name).self.cpu_ns][0] // 0;
			100 * (cpu("early") / (cpu("early") + cpu("late") + 1) / ($early / ($early + $late)) - 1)' \
			>>"$T/beats.$period"
	done
done
printf '%-12s  %28s\n' 'period, us' 'share of early, error %'
for period in $BEATS; do
	read -r middle least most < <(median "$T/beats.$period")
	printf '%-12s  %8.2f, %7.2f..%-7.2f\n' "$period" "$middle" "$least" "$most"
done
