# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Cache lines that threads take from each other: by which variable, whether they use the same words, and that no thread does
# who uses lines of his own, only reads, or runs alone. How often two threads run at once is the machine's affair.

# lines HOW: the program of that name, whose classes of processor time add up.
lines()
{
	launch "$programs/lines" "$1" 800
	lawful
	"$out/quartzctl" report --costs --json -i profile >costs.json || fail 'no classes'
	# samples without a procedure are unattributed, and in a class all the same
	jq -e --slurpfile report report.json '.scopes[0] | $report[0].scopes[0].busy_ns as $busy |
		[.classes[].norm_ns] | add | . <= $busy and . + $report[0].scopes[0].unattributed_ns >= $busy' \
		costs.json >/dev/null || fail 'classes do not add up' "$(jq -c '.scopes[0].classes' costs.json)" "$(essence)"
}

# shared NAME CONDITION: if the threads ran at once for long enough to be seen, the line of these words was shared, and so.
shared()
{
	jq -e '.scopes[0].level_ns[2] // 0 | . >= 4e8' report.json >/dev/null || return 0
	expect "the line of $1 was shared" '[.scopes[0].rows[] | select(.object_kind == "cache line" and .samples >= 16)] |
		length == 1 and (.[0] | .name == $name and .waits == 0 and '"$2"')' --arg name "$1"
	jq -e '.scopes[0].classes.shared_lines.rows | length > 0' costs.json >/dev/null || fail 'not a class of its own'
}

private()
{
	expect 'no line was shared' '[.scopes[0].rows[] | select(.object_kind == "cache line" and .samples >= 16)] | length == 0'
}

one_word()
{
	lines word
	shared counters.word '.line_same >= 0.9 * .samples'
}

neighbours()
{
	lines neighbours
	shared 'counters.word to counters.next' '.line_same == 0'
}

lines_of_their_own()
{
	lines apart
	private
}

only_read()
{
	lines read
	private
}

one_after_the_other()
{
	lines turns
	private
}

try 'two threads add to one word' one_word
try 'two threads write neighbouring words' neighbours
try 'lines of their own' lines_of_their_own
try 'a word that is only read' only_read
try 'one word, one thread after the other' one_after_the_other
