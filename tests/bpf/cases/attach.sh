# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034
# Attaching to what runs already.

sleeping()
{
	local sleeper

	start sleeper "$programs/sleeper" 600 0.4
	sleeper=$pid
	await sleeper.out asleep
	attach --pid "$sleeper"
	kill -USR1 "$sleeper"
	finished
	lawful
	expect 'alone, always' '.scopes[0] | .ended and .level_ns[2:] == (.level_ns[2:] | map(0))
		and .busy_ns == .serial_ns and .serial_ns > 0'
	expect 'time at level 1 = its time running' '
		near(.scopes[0].serial_ns; .scopes[0].threads[0].running_ns; 0.01; 2e6)'
	# its end is no part of what it computes
	expect 'processor time is what the program says' 'near(.scopes[0].cpu_ns; $cpu; 0.01; 2e6 * $slow)' \
		--argjson cpu "$(truth compute_alone sleeper.out)" --argjson slow "$slow"
	expect 'all of it in compute_alone' '
		cut as $cut | .scopes[0].busy_ns as $busy |
		near(row("compute_alone").total.norm_ns; $busy; 0; 0.02 * $busy + 1e7 + $cut)'
	whole_stacks
}

# Threads that only compute are running or ready from the moment they are found to the end, and at most
# so many are busy. The first one that is found starts the clock of the scope; between it and the last
# one quartzd itself may be kept waiting, however long.
always_runnable()
{
	expect "$1 threads runnable all the time" '$meta[0].threads as $found | .scopes[0] |
		.threads_seen == $n and all(.threads[]; .blocked_ns < 1e6) and
		.elapsed_ns == ([$found[] | .end_ns - .start_ns] | max) and
		($found | map(.end_ns) | unique | length) == 1 and
		near(.runnable_ns; [$found[] | .end_ns - .start_ns - .unknown_ns] | sum; 0; $n * 1e6)' \
		--argjson n "$1" --slurpfile meta meta.json
	expect "never more than $1 busy" '.scopes[0].level_ns[$n + 1:] | sum == 0' --argjson n "$1"
}

# What the kernel says before and after brackets what was measured in between. It brings the time
# of a running thread up to date at its ticks only, which come every 10 ms at the least.
computing()
{
	local outer inner

	start_busy 4
	outer=$(cpu_of "$busy")
	attach --pid "$busy"
	inner=$(cpu_of "$busy")
	sleep 1
	inner=$(($(cpu_of "$busy") - inner))
	detach
	outer=$(($(cpu_of "$busy") - outer))
	lawful
	always_runnable 4
	expect 'processor time is what the kernel says' '
		.scopes[0].cpu_ns | . >= $inner - 4e7 and . <= $outer + 4e7' \
		--argjson inner $inner --argjson outer $outer
	expect 'all of it in phase_4' '
		cut as $cut | .scopes[0].busy_ns as $busy |
		near(row("phase_4").total.norm_ns; $busy; 0; 0.03 * $busy + $cut)'
	whole_stacks
}

again_and_again()
{
	local i UNACCOUNTED=1 # of so short a time, all samples may be missing

	start_busy 3
	for ((i = 0; i < 4; i++)); do
		attach --pid "$busy" --duration 200ms
		finished
		kill -STOP "$busy" # it takes no processor from the report
		lawful
		always_runnable 3
		kill -CONT "$busy"
	done
}

# Threads that come and go, also between any two steps of the attachment.
churning()
{
	local churn i UNACCOUNTED=1 events_lost=true

	start churn "$programs/threads_churn" 100000000 8
	churn=$pid
	await_threads "$churn" 4
	for ((i = 0; i < 6; i++)); do
		attach --pid "$churn" --duration 200ms
		finished
		kill -STOP "$churn"
		lawful
		# those of the last moment are in the kernel's count of creations, and after the end of the run
		expect 'threads that come are seen' '.scopes[0] | .creations > 0 and
			.threads_seen > 0.95 * .creations'
		kill -CONT "$churn"
	done
}

# A target whose leader has ended is a zombie with living threads.
leaderless()
{
	local i

	start leaderless "$programs/leader_exits" $((4 * slow)) 2
	for ((i = 0; i < 200; i++)); do
		! grep -q '^State:.*Z' "/proc/$pid/status" || break
		sleep 0.01
	done
	attach --pid "$pid"
	finished
	lawful
	expect 'two workers until their end' '
		.scopes[0] | .ended and ([.threads[] | select(.cpu_ns > 0)] | length == 2)'
	expect 'they did what they do' 'near(row("orphan_work").total.cpu_ns; ran; 0.05; 2e7)'
}

killed()
{
	start_busy 2
	attach --pid "$busy"
	sleep 0.5
	kill_now "$busy"
	finished
	lawful
	expect 'the end was seen, and what came before it' '.scopes[0] |
		.ended and .threads_seen == 2 and .samples > 0'
}

# It existed when quartzd checked it, but none of its threads when quartzd searched them.
ended_meanwhile()
{
	gcc -shared -fPIC -o late.so "$here/../programs/runtime/late.c" || fail 'does not compile'
	start sleeper "$programs/sleeper" 600 0.4
	{
		TARGET=$pid LD_PRELOAD=$T/late.so timeout --foreground 60 "$out/quartzd" --cpu none \
			--output profile --pid "$pid" 2>quartzd.err
		status=$?
	} 2>/dev/null # the shell tells of the end
	[ $status = 1 ] || fail "status $status, not 1"
	grep -q "process $pid: none of its threads was found; it has just ended" quartzd.err ||
		fail 'it is not said'
	[ ! -e profile ] || fail 'a snapshot of nothing'
}

# By the last name that it gave itself, which no event tells of.
renamed()
{
	start renamed bash -c 'until [ -e go ]; do sleep 0.05; done
		printf another >/proc/$$/comm; touch done; while :; do :; done'
	attach --pid "$pid"
	until_called bash
	touch go
	until_called another
	detach
	"$out/quartzctl" report -i profile --json >saved.json || fail 'no report'
	[ "$(jq -r '.scopes[0].comm' saved.json)" = another ] || fail 'the profile has another name'
}

until_called()
{
	local i

	for ((i = 0; i < 600; i++)); do
		"$out/quartzctl" report --json >live.json 2>live.err &&
			[ "$(jq -r '.scopes[0].comm' live.json)" = "$1" ] && return
		sleep 0.1
	done
	fail "it is not called $1" "$(jq -c '.scopes[0].comm' live.json)"
}

try 'attach to a sleeping thread' sleeping
try 'attach to computing threads' computing
thorough 'attach four times' again_and_again
thorough 'attach while threads come and go' churning
thorough 'attach when the leader has ended' leaderless
try 'a target that is killed' killed
try 'a target that ends while quartzd starts' ended_meanwhile
try 'a process that changes its name' renamed
