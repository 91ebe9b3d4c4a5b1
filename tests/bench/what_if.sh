# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# What `record --what-if` predicts, beside what the fix gained; see doc/what-if.md. -r says how many pairs.

# shellcheck source=tests/bench/fixes.sh
. "$here/fixes.sh"

# Fixes that divide one thread's work between two. The candidate, half of which is to be gone, is what the first finding
# names that is right about the case; but for two, where it names code that does other work besides (the last merge, and
# what calls the decoder).
divided=' zstd sort povray-threads git-repack ffmpeg-decode 7z plzip lbzip2 par2 tar-xz '
declare -A candidates=([sort]=sort+0x9ad0 [ffmpeg-decode]=avcodec_send_packet)

# predicted NAME PERCENT CANDIDATE COMMAND...: without so many percent of the candidate, in percent of the run; and the bounds.
predicted()
{
	local name=$1 percent=$2 candidate=$3

	shift 3
	record_case "$name" --what-if "$candidate" -- "$@"
	"$out/quartzctl" what-if -i "$WORK/$name.profile" --json | jq -r --arg name "$candidate" --argjson percent "$percent" '
		[.scopes[] | .elapsed_ns as $run | .candidates[] | select(.name == $name) |
			[.gains[] | select(.percent == $percent) | .gain_ns, .low_ns, .high_ns] +
			[.gain_low_ns * $percent / 100, .gain_high_ns * $percent / 100] | map(. * 100 / $run)] |
		max // [0, 0, 0, 0, 0] | @tsv'
}

# compare NAME PERCENT CANDIDATE COMMAND...: a row, with what try_fix has set.
compare()
{
	local name=$1 figure low high bound_low bound_high

	predicted "$@" >"$T/predicted"
	read -r figure low high bound_low bound_high <"$T/predicted"
	printf '| %s | %s | %s | %.1f %% (%.0f..%.0f) | %.1f %% (%.1f..%.1f) | %.1f | %.0f..%.0f |\n' \
		"$name" "$3" "$2" "$gain" "$least" "$most" "$figure" "$low" "$high" \
		"$(awk "BEGIN { print $figure - $gain }")" "$bound_low" "$bound_high"
}

# fix NAME RULES CULPRIT BEFORE AFTER
fix()
{
	local candidate=${candidates[$1]-}

	[[ $divided == *" $1 "* ]] && is_wanted "$1" || return 0
	try_fix "$1" "$4" "$5"
	[ -n "$candidate" ] || candidate=$(advised "$1" "$4" | jq -r --arg rules "^($2)$" --arg culprit "$3" '
		first(.findings[] | select((.rule | test($rules)) and (.subject.name | test($culprit)))).subject.name')
	compare "$1" 50 "${candidate:--}" bash -c "$4"
}

well()
{
	:
}

# chains SHAPE LEFT: with so many percent of its candidate left.
chains()
{
	local program="$out/tests/programs/chains $1"

	is_wanted "$1" || return 0
	try_fix "$1" "$program 100 2 2000" "$program $2 2 2000"
	# shellcheck disable=SC2086 # words
	compare "$1" $((100 - $2)) candidate $program 100 2 2000
}

echo '| case | candidate | gone, % | gained | predicted | off | bounds, % |'
echo '|---|---|---|---|---|---|---|'
for shape in chain pipe; do
	chains $shape 0
	chains $shape 50
done
for shape in lock other barrier even fork crowd; do
	chains $shape 0
done
for set in first second; do
	# shellcheck disable=SC1090
	. "$here/truth_$set.sh" >"$T/rows"
	grep '%' "$T/rows"
done
cd "$here/../.." || fail 'the tree is gone'
