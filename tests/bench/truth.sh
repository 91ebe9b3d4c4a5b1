# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Programs of Debian with a known fix: what the fix gained, beside what the first findings promised.
# -r says how many pairs; 3 are for the tables of doc/truth.md. WORK keeps what the programs read, and the
# profiles; SET is the set of cases, ONLY a pattern of their names.

[ -d "${WORK-}" ] || fail 'WORK does not name a directory with a gigabyte of room'
cd "$WORK" || fail "$WORK"
# shellcheck source=tests/bench/truth_inputs.sh
. "$here/truth_inputs.sh"
[ "$rounds" -le 9 ] || rounds=3

# seconds COMMAND: that it takes; its own words are kept for when it fails.
seconds()
{
	local began=${EPOCHREALTIME/./}

	bash -c "$(sed 's/^!\w* //' <<<"$1")" >"$T/fix.out" 2>"$T/fix.err" </dev/null || fail "$1: $(tail -n 3 "$T/fix.err")"
	awk "BEGIN { print (${EPOCHREALTIME/./} - $began) / 1e6 }"
}

# advised NAME COMMAND: its findings; of "!PROGRAM COMMAND", those of the program from a profile of the machine.
advised()
{
	local how=(-- bash -c "$2") scope=()

	if [[ $2 == !* ]]; then
		read -r program command <<<"${2#!}"
		bash -c "$command" >/dev/null 2>&1 </dev/null &
		how=(-F 499 --system --duration 3)
		scope=(-s "comm=$program")
	fi
	"$out/quartzctl" record --cpu none -o "$WORK/$1.profile" "${how[@]}" >"$T/fix.out" 2>"$T/fix.err" </dev/null ||
		fail "$2: $(tail -n 3 "$T/fix.err")"
	wait
	"$out/quartzctl" advise -i "$WORK/$1.profile" "${scope[@]}" --json
}

# found RULES CULPRIT: of findings, the rank, rule, subject and range in percent of the first that is what is sought.
found()
{
	jq -r --arg rules "$1" --arg culprit "$2" '
		.findings as $f | [range($f | length) | select(
			($f[.].rule | test("^(" + $rules + ")$")) and ($f[.].subject.name | test($culprit)))] |
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

	[ -z "${ONLY-}" ] || [[ $name =~ $ONLY ]] || return
	: >"$T/$name.before"
	: >"$T/$name.after"
	seconds "$5" >/dev/null # reads its files from the disk
	for ((round = 0; round < rounds; round++)); do
		seconds "$4" >>"$T/$name.before"
		seconds "$5" >>"$T/$name.after"
	done
	read -r rank rule subject low high < <(advised "$name" "$4" | found "$2" "$3")
	read -r gain least most < <(paste "$T/$name.before" "$T/$name.after" |
		awk '{ print 100 * (1 - $2 / $1) }' | median)
	read -r before _ < <(median "$T/$name.before")
	read -r after _ < <(median "$T/$name.after")
	printf '| %s | %s | %s | %s | %.2f | %.2f | %.0f %% (%.0f..%.0f) | %.0f..%.0f %% | %s |\n' \
		"$name" "$rank" "$rule" "$subject" "$before" "$after" "$gain" "$least" "$most" "$low" "$high" \
		"$(is_within "$least" "$most" "$low" "$high")"
}

# well NAME COMMAND: a program with nothing wrong; the greatest gain that is promised.
well()
{
	[ -z "${ONLY-}" ] || [[ $1 =~ $ONLY ]] || return
	printf '| %s | %s |\n' "$1" "$(advised "$1" "$2" |
		jq -r '.findings[0] // {rule: "nothing", gain_low_ppm: 0, gain_high_ppm: 0} |
			"\(.rule) \(.subject.name // "") \(.gain_low_ppm / 1e4)..\(.gain_high_ppm / 1e4) %"')"
}

echo '| case | rank | rule | subject | before, s | after, s | gain | range | in it |'
echo '|---|---|---|---|---|---|---|---|---|'
# shellcheck source=tests/bench/truth_second.sh
. "$here/truth_${SET:-second}.sh"
cd "$here/../.." || fail 'the tree is gone'
