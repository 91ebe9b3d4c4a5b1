# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Time until woken: who is waited for. What the metric says where normalized time is wrong, and where
# it is itself wrong; and that nothing of it is lost.

# record_woken COMMAND...: its report in report.json, that of the time until woken in woken.json.
record_woken()
{
	"$out/quartzctl" record --woken --cpu none -o "$T/profile" -- "$@" >program.out 2>record.err ||
		fail "record of $* ended with status $?"
	lawful
	"$out/quartzctl" report -i profile --woken --json >woken.json 2>report.err ||
		fail "report --woken ended with status $?"
	conserved
}

# expect_woken WHAT FILTER: a condition on woken.json, with `row(NAME)` of the first scope.
expect_woken()
{
	jq -e --slurpfile report report.json "
		def sum: add // 0;
		def row(\$name): ([.scopes[0].rows[] | select(.name == \$name)][0] //
			{total_ns: 0, self_ns: 0, wakes: 0});
		$2" woken.json >expect.out ||
		fail "not so: $1" "$(jq -c '.scopes[0] | del(.rows), (.rows[:12][] |
			[.name, .total_ns, .self_ns, .wakes])' woken.json)"
}

conserved()
{
	local blocked

	blocked=$(jq '[.threads[].blocked_ns] | add' meta.json)
	expect 'all that was counted is in the profile' '.ledger.events |
		.woken_unaccounted_ns == 0'
	expect_woken 'self of all + without a procedure = time until woken' '.scopes[0] |
		([.rows[].self_ns] | sum) + .unattributed_ns == .woken_ns'
	expect_woken 'time until woken <= time blocked' ".scopes[0].woken_ns <= $blocked"
}

# The section that all threads wait for; normalized time gives nearly half to what is outside.
critical_section()
{
	record_woken "$programs/critical" lock 2
	expect 'normalized time of what is outside: nearly half' '
		row("outside").total.norm_ns > 0.25 * row("main").total.norm_ns'
	expect_woken 'time until woken: the critical section, not what is outside' '
		.scopes[0].woken_ns > 0 and row("critical").total_ns > 0.6 * .scopes[0].woken_ns and
		row("outside").total_ns < 0.5 * row("critical").total_ns'
	expect_woken 'who woke' 'row("critical").wakes > 0'
	"$out/quartzctl" objects -i profile --json >objects.json 2>report.err ||
		fail "objects ended with status $?"
	jq -e '.scopes[0].objects[] | select(.name == "section") |
		.object_kind == "mutex" and .wakes > 0' objects.json >expect.out ||
		fail 'the mutex is not an object' "$(jq -c . objects.json)"
	"$out/quartzctl" report -i profile section >section.out 2>report.err ||
		fail "report of the mutex ended with status $?"
	grep -q 'pthread_mutex_unlock.*critical' section.out ||
		fail 'no thread is said to release the mutex' "$(cat section.out)"
}

# No thread waits for a serial phase where there is no other: only normalized time knows what it costs.
serial_phase()
{
	record_woken "$programs/critical" serial 0.5
	expect 'normalized time: the serial phase by its elapsed time' '
		row("serial").total.norm_ns > 0.1 * row("main").total.norm_ns'
	expect_woken 'time until woken: nothing of the serial phase' 'row("serial").total_ns == 0'
	expect_woken 'and what the last thread ran' 'row("parallel").total_ns > 0'
}

# Each of the two is woken by the other, not by interrupts. Both are bound to one processor, which is
# never free for who waits: so nothing is charged.
ping_pong()
{
	record_woken "$programs/pingpong" "$1" threads 20000
	expect_woken 'who woke: nearly always pass_token, at most twice a round trip' '
		.scopes[0].wakes as $all | row("pass_token").wakes as $n |
		$n <= 40000 and $n > 0.9 * $all'
	expect_woken 'no processor was free' 'row("pass_token").total_ns < 0.02 * .scopes[0].elapsed_ns + 1e7'
}

# Wake-ups by the clock have no waker.
sleeping()
{
	record_woken perl -e '$x += $_ for 1..5e6; sleep 1'
	expect_woken 'no thread ends a sleep' '.scopes[0] | .wakes >= 1 and
		.unattributed_ns == .woken_ns and .woken_ns > 0'
}

threads_that_come_and_go()
{
	record_woken "$programs/threads_churn" 500
	expect_woken 'ends of threads wake' '.scopes[0].wakes > 0'
}

# Nothing is measured that was not asked for.
not_asked()
{
	launch "$programs/pingpong" futex threads 1000
	lawful
	"$out/quartzctl" report -i profile --woken --json >woken.json 2>report.err
	status=$?
	[ $status = 7 ] || fail "report --woken ended with status $status, not 7"
	grep -q 'was not measured: record with --woken' report.err || fail "$(cat report.err)"
}

try 'critical section' critical_section
try 'serial phase' serial_phase
try 'ping-pong by futex' ping_pong futex
thorough 'ping-pong by pipe' ping_pong pipe
thorough 'sleep' sleeping
try 'threads that come and go' threads_that_come_and_go
thorough 'not asked for' not_asked
