# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# How a run developed: its slots add up to it, and what came first is in the first ones. How late quartzd
# may come with a slot is up to the machine, so that only the order is tested, and sums.

# adds_up: the timeline of report.json with --timeline, of each scope.
adds_up()
{
	"$out/quartzctl" report -i profile --scope all --timeline --json >report.json 2>report.err ||
		fail "report --timeline ended with status $?" "$(cat report.err)"
	expect 'slots add up to the report' '[.scopes[] | .timeline as $t |
		([$t.slots[].levels_ns] | transpose | map(add)) == .level_ns and
		([$t.slots[].elapsed_ns] | sum) == .elapsed_ns and
		([$t.slots[].running_ns] | sum) == ([.threads[].running_ns] | sum) and
		([$t.slots[].ready_ns] | sum) == ([.threads[].ready_ns] | sum) and
		([$t.slots[].blocked_ns] | sum) == ([.threads[].blocked_ns] | sum) and
		([$t.slots[].spin_ns] | sum) == .spin_ns and
		([$t.samples[][6]] | sum) == (.effective_ns[1:] | sum) and
		([$t.waits[][5]] | sum) == .blocked_ns and
		([$t.waits[][6]] | sum) == .ready_ns] | all'
	expect 'there are as many slots as fit' '[.scopes[].timeline | (.slots | length) >= 1 and
		(.slots | length) <= 512 and .slot_ns >= 1e8] | all'
}

# centre NAME: the mean time, in tenths of the run, at which a procedure ran, by parts of the run.
centre()
{
	local tenth

	for tenth in 0 1 2 3 4 5 6 7 8 9; do
		"$out/quartzctl" report -i profile --time "${tenth}0%-$((tenth + 1))0%" --json 2>part.err |
			jq --argjson tenth $tenth --arg name "$1" \
				'[.scopes[0].rows[]? | select(.name == $name) | .self.norm_ns] | (add // 0) | [., . * $tenth]'
	done | jq -s 'map(.[0]) as $all | if ($all | add) > 0 then (map(.[1]) | add) / ($all | add) else -1 end'
}

# in_order NAME NAME
in_order()
{
	local first second

	first=$(centre "$1") second=$(centre "$2")
	jq -ne "$first >= 0 and $second > $first" >/dev/null || fail "$1 ran at $first, $2 at $second"
}

phases_in_order()
{
	launch "$programs/phases" 1:1,0:1,2:1
	lawful
	adds_up
	in_order phase_1 phase_2
	"$out/quartzctl" report -i profile --timeline >timeline.txt || fail "report --timeline: status $?"
	grep -q '^leading .*[ab]' timeline.txt || fail 'no procedure leads' "$(cat timeline.txt)"
}

# Parts of the run that touch are all of it.
parts_add_up()
{
	launch "$programs/phases" 2:0.7,1:0.7
	lawful
	adds_up
	"$out/quartzctl" report -i profile --json >whole.json
	slot=$(jq .scopes[0].timeline.slot_ns report.json)
	"$out/quartzctl" report -i profile --time "-$((5 * slot / 1000000))ms" --json >first.json || fail "part 1: status $?"
	"$out/quartzctl" report -i profile --time "$((5 * slot / 1000000))ms-" --json >second.json || fail "part 2: status $?"
	jq -s -e 'map(.scopes[0]) | (.[0].level_ns == ([.[1].level_ns, .[2].level_ns] | transpose | map(add))) and
		.[0].samples == .[1].samples + .[2].samples and
		.[0].cpu_ns == .[1].cpu_ns + .[2].cpu_ns and
		.[0].blocked_ns == .[1].blocked_ns + .[2].blocked_ns' \
		whole.json first.json second.json >expect.out || fail 'two parts are not the whole' "$(jq -c '.scopes[0] |
		[.level_ns, .samples, .cpu_ns, .blocked_ns]' whole.json first.json second.json)"
}

# Locks, queues and many threads that come and go: waits are known by more than stays the same.
waits_and_turnover()
{
	launch "$programs/lock_queue"
	lawful
	adds_up
	launch "$programs/threads_churn"
	lawful
	adds_up
}

# Of a snapshot of a running quartzd, too, and of what it saves afterwards.
attached()
{
	start_busy 2
	attach_to "$busy"
	sleep 2
	"$out/quartzctl" report --timeline --json >live.json || fail "live: status $?"
	jq -e '.live and (.scopes[0] | ([.timeline.slots[].elapsed_ns] | add) == .elapsed_ns)' live.json >/dev/null ||
		fail 'a live timeline does not add up'
	detach
	lawful
	adds_up
}

# All processes of the machine, of which some end meanwhile.
machine()
{
	# an idle processor seems busy after a switch that the kernel does not tell of: let none be idle
	start busy nice -n 19 "$programs/phases" --time "$(nproc):600"
	timeout --foreground 300 "$out/quartzctl" record --cpu none -a -d 2 -o "$T/profile" 2>record.err ||
		fail "record -a: status $?"
	lawful
	adds_up
}

# A service has slices instead, which say nothing else than before.
service_has_slices()
{
	attach --system --history 1h
	sleep 1
	"$out/quartzctl" report --timeline 2>report.err
	status=$?
	[ $status = 7 ] || fail "report --timeline of --system: status $status"
	grep -q 'has no timeline' report.err || fail "$(cat report.err)"
	detach
	"$out/quartzctl" ps --last 10min >/dev/null || fail "ps --last: status $?"
}

thorough 'phases are where they were, and slots add up' phases_in_order
try 'parts of a run add up to it' parts_add_up
try 'slots add up with waits and with threads that come and go' waits_and_turnover
thorough 'a process that was attached to has a timeline' attached
try 'the machine has a timeline' machine
try 'a service has none, but slices' service_has_slices
