# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Programs of Debian with a known fix: what the fix gained, beside what the first findings promised.
# -r says how many pairs; 3 are for the tables of doc/truth.md. SET is the set of cases.

# shellcheck source=tests/bench/fixes.sh
. "$here/fixes.sh"

# found RULES CULPRIT: of findings, the rank, rule, subject and range in percent of the first that is what is sought: a lock without a
# name is told by who takes it.
found()
{
	jq -r --arg rules "$1" --arg culprit "$2" '
		.findings as $f | [range($f | length) | select(
			($f[.].rule | test("^(" + $rules + ")$")) and ("\($f[.].subject.name) \($f[.].where // "")" | test($culprit)))] |
		if length == 0 then "- \($f[0].rule // "nothing") \($f[0].subject.name // "-" | gsub("[^[:graph:]]"; "")) 0 0"
		else .[0] as $i | $f[$i] |
			"\($i + 1) \(.rule) \(.subject.name | gsub("[^[:graph:]]"; "") | .[:40]) \(.gain_low_ppm / 1e4) \(.gain_high_ppm / 1e4)"
		end'
}

# is_within LEAST MOST LOW HIGH: whether what the pairs gained meets what was promised, in percent, to half of one.
is_within()
{
	awk -v least="$1" -v most="$2" -v low="$3" -v high="$4" \
		'BEGIN { print (most + 0.5 >= low + 0 && least - 0.5 <= high + 0 ? "yes" : "no") }'
}

# fix NAME RULES CULPRIT BEFORE AFTER
fix()
{
	local name=$1 rank rule subject low high gain least most before after

	is_wanted "$name" || return 0
	try_fix "$name" "$4" "$5"
	read -r rank rule subject low high < <(advised "$name" "$4" | found "$2" "$3")
	read -r before _ < <(median "$T/$name.before")
	read -r after _ < <(median "$T/$name.after")
	printf '| %s | %s | %s | %s | %.2f | %.2f | %.0f %% (%.0f..%.0f) | %.0f..%.0f %% | %s |\n' \
		"$name" "$rank" "$rule" "$subject" "$before" "$after" "$gain" "$least" "$most" "$low" "$high" \
		"$(is_within "$least" "$most" "$low" "$high")"
}

# well NAME COMMAND: a program with nothing wrong; the greatest gain that is promised.
well()
{
	is_wanted "$1" || return 0
	printf '| %s | %s |\n' "$1" "$(advised "$1" "$2" |
		jq -r '.findings[0] // {rule: "nothing", gain_low_ppm: 0, gain_high_ppm: 0} |
			"\(.rule) \(.subject.name // "") \(.gain_low_ppm / 1e4)..\(.gain_high_ppm / 1e4) %"')"
}

echo '| case | rank | rule | subject | before, s | after, s | gain | range | in it |'
echo '|---|---|---|---|---|---|---|---|---|'
# shellcheck source=tests/bench/truth_second.sh
. "$here/truth_${SET:-second}.sh"
cd "$here/../.." || fail 'the tree is gone'
