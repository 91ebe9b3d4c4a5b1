# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# quartzd as a process: one at a time, ended by signals, killed.

# Which programs and links a process holds, as "prog ID" and "link ID", but for iterators.
held_by()
{
	cat "/proc/$1/fdinfo/"* 2>/dev/null | awk '
		$1 == "link_type:" { iterator = $2 == "iter" }
		$1 == "link_id:" && !iterator { print "link", $2 }
		$1 == "prog_id:" { print "prog", $2 }' | sort -u
}

# None of these is there any more, within a second. Pinned text tables may be.
gone()
{
	local i kind id left

	for ((i = 0; i < 20; i++)); do
		left=
		while read -r kind id; do
			bpftool "$kind" show id "$id" 2>/dev/null | grep -v 'name text_' |
				grep -q "^$id:" && left="$left $kind $id"
		done <"$1"
		[ -n "$left" ] || return 0
		sleep 0.05
	done
	fail "still attached after a second:$left"
}

killed()
{
	start_busy 2
	attach --pid "$busy"
	held_by "$daemon" >held
	[ "$(grep -c '^prog' held)" -ge 7 ] && [ "$(grep -c '^link' held)" -ge 6 ] ||
		fail 'the programs are not there while it runs' "$(cat held)"
	kill_now "$daemon"
	gone held
	attach --pid "$busy" --duration 1s
	held_by "$daemon" >held
	finished
	! grep -i 'cannot' quartzd.err || fail 'the next start complains'
	lawful
	gone held
}

# by_signal INT|TERM
by_signal()
{
	start_busy 1
	attach --pid "$busy"
	sleep 0.3
	detach "$1"
	grep -q 'samples in .*, saved to' quartzd.err || fail 'no line about the snapshot'
	lawful
	expect 'not ended, with samples' '.scopes[0] | .samples > 0 and (.ended | not)'
}

one_at_a_time()
{
	start_busy 1
	attach --pid "$busy"
	"$out/quartzd" --pid "$busy" -o other 2>second.err
	status=$?
	[ $status = 1 ] || fail "the second ended with status $status"
	[ "$(wc -l <second.err)" = 1 ] && grep -q "process $daemon" second.err ||
		fail "not one line that names process $daemon" "$(cat second.err)"
	"$out/quartzctl" record --cpu none -o other -- "$programs/phases" --time 1:0.2 >/dev/null \
		2>record.err || fail "record beside it ended with status $?"
	detach
	lawful
}

live()
{
	start_busy 2
	attach --pid "$busy"
	sleep 1.5
	"$out/quartzctl" report --json >report.json || fail "live report ended with status $?"
	expect 'a live report of it' '.live and .scopes[0].pid == $busy and .scopes[0].samples > 0' \
		--argjson busy "$busy"
	expect 'levels are exact while it runs' '.scopes[0] | (.level_ns | sum) == .elapsed_ns and
		([.rows[].self.norm_ns] | sum) + .unattributed_ns + .instrumentation_ns ==
			.busy_ns'
	expect 'named already' 'row("phase_2").self.samples > 0'
	cp report.json live.json
	detach
	lawful
	expect 'the end is later' '(.live | not) and .window_ns > $live[0].window_ns and
		.scopes[0].cpu_ns >= $live[0].scopes[0].cpu_ns' --slurpfile live live.json
}

try 'kill -9 leaves nothing attached' killed
try 'SIGINT saves the snapshot' by_signal INT
try 'SIGTERM saves the snapshot' by_signal TERM
try 'one quartzd at a time' one_at_a_time
try 'report of a running quartzd' live
