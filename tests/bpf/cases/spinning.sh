# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Threads that wait without giving their processor away. However often they are preempted, what they
# run is spun and never normalized, and what computes beside them is alone. All of this holds on a
# machine of one processor as well.

# spun PROCEDURE: all that ran on its behalf, but for the little that is no wait.
spun()
{
	expect "the time of $1 was spun" '
		row($name).total | .spin_ns >= 0.9 * .cpu_ns - 2e7 and .norm_ns <= 0.1 * .cpu_ns + 2e7' \
		--arg name "$1"
}

# alone PROCEDURE: it computed, and no other thread was busy meanwhile.
alone_is='row($name).self | .spin_ns == 0 and .norm_ns >= 0.8 * .cpu_ns - 5e7'

alone()
{
	expect "$1 computed and was alone" "$alone_is" --arg name "$1"
}

# spun_on NAME: all that is known to be spun on is this variable, and that much of it. Samples from
# before the loop was classified do not know what it watches: nor may any where others want the processors and
# a thread that gives its own away spins for some milliseconds only.
spun_on()
{
	expect "$1 was spun on" '
		[.scopes[0].rows[] | select(.kind == "object" and .spin_ns > 0)] as $on |
		if ($on | length) == 0 then .scopes[0].spin_ns < 3e8 else
			($on | length) == 1 and ($on[0] | .name == $name and .object_kind == "spin" and
				.norm_ns == 0 and .waits == 0) and
			($on[0].spin_ns >= 0.3 * .scopes[0].spin_ns or .scopes[0].spin_ns < 3e8)
		end' --arg name "$1"
}

# waits KIND VARIABLE
waits()
{
	launch "$programs/spins" "$1:1"
	lawful
	spun "wait_$1"
	spun_on "$2"
	alone "compute_$1"
	expect 'main is all' 'cut as $cut | near(row("main").total.norm_ns + .scopes[0].idle_ns;
		.scopes[0].elapsed_ns - .scopes[0].unattributed_ns; 0;
		0.01 * .scopes[0].elapsed_ns + 2e7 + $cut)'
	whole_stacks
}

# Only two samples in a row can tell this loop from a lock that is taken at once: what was sampled
# before quartzd had classified it stays busy.
atomics()
{
	launch "$programs/spins" tas:3
	lawful
	expect 'most of the time of wait_tas was spun' 'row("wait_tas").total | .spin_ns >= 0.5 * .cpu_ns'
	spun_on taken
	expect 'compute_tas computed' 'row("compute_tas").self.spin_ns == 0'
}

# Each of the two waits for the other for a fifth of a millisecond: less than a period.
turns()
{
	launch "$programs/spins" "$(printf "turns:1,%.0s" {1..11})turns:1"
	lawful
	expect 'compute_turn does not wait' 'row("compute_turn").self.spin_ns == 0'
	expect 'a thread waits' '.scopes[0].spin_ns > 0'
	expect 'for nothing but the turn' 'all(.scopes[0].rows[] |
		select(.kind == "object" and .spin_ns > 0); .name == "turn")'
}

# What looks for what others have done is known by its name alone, with what it calls.
progress()
{
	echo '+spins:make_progress' >rules
	"$out/quartzctl" record --cpu none --spin-symbols rules -o "$T/profile" -- "$programs/spins" progress:1 \
		>program.out 2>record.err || fail "record ended with status $?"
	lawful
	spun make_progress
	expect 'so was what it calls' 'row("look_at").self | .spin_ns >= 0.9 * .cpu_ns - 2e7'
	expect 'and the loop around it' 'row("wait_progress").self | .spin_ns >= 0.8 * .cpu_ns - 2e7'
	alone compute_progress
}

# A loop over sockets and words that a program has written itself: its calls have nothing, so they are no work. Its own
# code may be work, for all that is known. A guest that enables interrupts by a call of its host is sampled there, on the way into
# calls, which tells nothing of them: where that has more than the calls themselves, the loop is not known for what it is.
asking()
{
	launch "$programs/spins" sockets:1
	lawful
	local hidden='((row("pvm_irq_enable") // {total: {cpu_ns: 0}}).total.cpu_ns) as $on_the_way |
		$on_the_way > row("do_syscall_64").total.cpu_ns - $on_the_way'
	expect 'calls that have nothing were spun' "
		(row(\"wait_sockets\").total | .cpu_ns < 3e8 or .spin_ns >= 0.5 * .cpu_ns - 3e7) or ($hidden)"
	expect 'compute_sockets was alone' "($alone_is) or ($hidden)" --arg name compute_sockets
}

# The same call looks the same, where there is nothing to be seen but the call, in one who is given a byte each time.
taking()
{
	launch "$programs/spins" bytes:1
	lawful
	expect 'who gets something does not wait' '.scopes[0] | .spin_ns <= 0.02 * .cpu_ns'
}

openmp()
{
	OMP_WAIT_POLICY=active launch "$programs/omp_wait" 1 2
	lawful
	alone compute_omp
	expect 'one thread computes' '[.scopes[0].threads[] | select(.norm_ns >= 1e8)] | length == 1'
	expect 'the other one spins' 'all(.scopes[0].threads[] | select(.norm_ns < 1e8);
		.spin_ns >= 0.8 * .cpu_ns - 2e7)'
}

# Threads that compute, and wait at barriers that sleep.
no_spinning()
{
	launch "$programs/phases" --time --pool 1:0.3,2:0.6,2l:0.3
	lawful
	expect 'no thread spins' '.scopes[0] | .spin_ns <= 0.01 * .cpu_ns'
	expect 'the leaf computes' 'row("leaf").self.spin_ns == 0'
}

# What ran together, without the module: two threads, of which one spins most of the time that the other one computes.
together()
{
	"$out/quartzctl" record --cpu none --snapshots 100 -o "$T/profile" -- "$programs/spins" plain:1 >program.out 2>record.err ||
		fail "record ended with status $?"
	"$out/quartzctl" report -i profile --snapshot --json >sets.json 2>report.err ||
		fail "report ended with status $?"
	"$out/quartzctl" pairs -i profile --json compute_plain >pairs.json 2>pairs.err || fail "pairs ended with status $?"
	jq -e '.scopes[0] | .snapshots as $s | $s.sampled and .instants > 0 and
		.instants == (.busy_instants | add) and .instants == ([.sets[].instants] | add) and
		.running == ([.sets[] | .instants * (.members | length)] | add) and
		.running - .spinning == ([.busy_instants | to_entries[] | .key * .value] | add) and
		.instants + $s.incomplete + $s.unplaced + $s.outside == $s.taken and
		all(.sets[]; .members | length >= 1 and length <= $processors)' \
		--argjson processors "$(nproc)" sets.json >sets.out || fail 'sets do not add up' "$(head -c 2000 sets.json)"
	jq -e '.scopes[0] | .alone > 0 and ([.others[].busy] | add // 0) <= 0.1 * .instants' pairs.json >pairs.out ||
		fail 'compute_plain is not alone' "$(head -c 2000 pairs.json)"
	[ "$(nproc)" = 1 ] || jq -e 'any(.scopes[0].others[]; .procedure.name == "wait_plain" and .spinning > .busy)' \
		pairs.json >pairs.out || fail 'no thread spins beside it' "$(head -c 2000 pairs.json)"
}

attached()
{
	start spins "$programs/spins" plain:600
	await_threads "$pid" 2
	attach --pid "$pid"
	sleep 2
	detach
	lawful
	spun wait_plain
	alone compute_plain
}

try 'one waits: plain' waits plain flag
for kind in pause yield bounded backoff; do
	thorough "one waits: $kind" waits "$kind" flag
done
try 'one waits: lock' waits lock lock
thorough 'one waits: exchange' atomics
try 'a loop that makes progress' progress
try 'a loop that asks sockets' asking
try 'a loop that takes bytes' taking
try 'turns shorter than a period' turns
try 'what ran together' together
try 'OpenMP, active waiting' openmp
try 'none but computing threads' no_spinning
thorough 'attach to a thread that waits' attached
