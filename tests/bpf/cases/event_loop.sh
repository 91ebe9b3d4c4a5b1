# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2154
# Turns of event loops, and those that take 10 ms or longer: as many as the program itself counts.

# loop ARGUMENT...: the figures of the thread and the program's own, as truth.json; the log of the same run gives the same ones.
loop()
{
	local figures='[.scopes[0].threads, .scopes[0].rows | arrays | .[] | .event_loop // empty]'

	"$out/quartzctl" record --cpu none --log log -o profile -- "$programs/event_loop" "$@" >program.out 2>record.err ||
		fail "record ended with status $?"
	"$out/quartzctl" threads --each --json -i profile 2>warnings | jq -c "$figures" >loops.json || fail 'no threads'
	gaps=$("$out/quartzctl" report --json -i profile | jq '.ledger.events | .implicit_switches + .waits_without_wake_up')
	"$out/quartzctl" replay -o replayed.pb.gz log 2>replay.err || fail "replay ended with status $?"
	"$out/quartzctl" threads --each --json -i replayed.pb.gz 2>warnings | jq -c "$figures" >replayed.json || fail 'no threads of the replay'
	cmp -s loops.json replayed.json || fail 'the log says otherwise' "$(cat loops.json replayed.json)"
	"$out/quartzctl" advise --json -i profile 2>warnings | jq -c '[.. | objects | select(.rule? == "event-loop")]' >found.json ||
		fail 'no advice'
	awk '/^event_loop/ { print "{\"turns\":" $3 ",\"blocks\":" $5 ",\"block_ns\":" $7 ",\"longest_ns\":" $9 "}" }' program.out >truth.json
}

# so FILTER: of the one loop, as $l, and the truth, as $t.
so()
{
	jq -ne --slurpfile loops loops.json --slurpfile truths truth.json '
		$loops[0] | length == 1 and (.[0] as $l | $truths[0] as $t | '"$1"')' >/dev/null ||
		fail "not so: $1" "$(cat loops.json truth.json)"
}

# As many turns and blocks, but for one, and those in which a switch was not seen.
as_many()
{
	so "(\$l.turns - \$t.turns | fabs) <= 1 + $gaps and (\$l.blocks - \$t.blocks | fabs) <= 1 + $gaps"
}

# found FILTER: of the one finding.
found()
{
	jq -e 'length == 1 and (.[0] | '"$1"')' found.json >/dev/null || fail "not so: $1" "$(cat found.json)"
}

none_found()
{
	jq -e 'length == 0' found.json >/dev/null || fail 'a loop is said to be blocked' "$(cat found.json)"
}

computes()
{
	loop compute 200 30 10
	as_many
	so '$l.block_ns >= 0.95 * $t.block_ns * $l.blocks / $t.blocks and $l.block_ns <= 1.1 * $t.block_ns and
		$l.longest_ns >= 0.95 * $t.longest_ns and $l.block_waited_ns < 0.1 * $l.block_ns'
	found '(.what | test("event_loop .thread [0-9]+. was blocked (1[5-9]|2[01]) times, up to .* ms, by slow_request")) and
		.gain_low_ns == 0 and .gain_high_ns > 0'
	"$out/quartzctl" threads -i profile >threads.out || fail 'no threads'
	grep -Eq '^event_loop \(thread [0-9]+\): (1[5-9]|2[01]) of [0-9]+ turns between waits for events took 10 ms or more: 0\.[4-6].* s, up to [0-9]+ ms' \
		threads.out || fail 'the view of threads has it not' "$(cat threads.out)"
}

waits()
{
	loop wait 200 30 10
	as_many
	# by its own clock, which goes on while it has no processor
	so '$l.block_waited_ns >= 0.9 * $l.block_ns and $l.block_ns <= 1.1 * $t.block_ns and
		$l.block_ns + $l.block_ready_ns >= 0.9 * $t.block_ns * $l.blocks / $t.blocks'
	# where it had no processor for longer than that, what its calls cost stands for both
	[ "$("$out/quartzctl" threads --each --json -i profile | jq '[.. | objects | select(.event_loop?) | .ready_ns - .event_loop.block_ns] | add')" -gt 0 ] ||
		found '.what | test("mostly by waiting: sleep in slow_request")'
}

# A few long turns of a queue of short requests are no blocks; nor is a loop blocked that works in nearly all turns.
others()
{
	loop queue 2000 1000 85
	# where other programs take the processors, the queue is never empty, and nearly all is one turn
	[ "$(jq 'map(.turns) | add // 0' loops.json)" -lt 100 ] || so '$l.blocks >= 1'
	none_found
}

works_always()
{
	loop compute 60 30 1
	so '$l.blocks >= 59'
	none_found
}

try 'an event loop that computes' computes
try 'an event loop that waits for something else' waits
try 'short requests at a high load' others
try 'a thread that waits for events and always works' works_always
