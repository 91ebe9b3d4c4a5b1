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
	for ((i = 0; i < 20; i++)); do
		attach --pid "$busy" --duration 200ms
		finished
		lawful
		always_runnable 3
	done
}

# Threads that come and go, also between any two steps of the attachment.
churning()
{
	local churn i UNACCOUNTED=1 events_lost=true

	start churn "$programs/threads_churn" 100000000 8
	churn=$pid
	await_threads "$churn" 4
	for ((i = 0; i < 10; i++)); do
		attach --pid "$churn" --duration 200ms
		finished
		lawful
		# besides the 9 that it has, those that were joined and had yet to leave the kernel
		expect 'threads that come are seen' '.scopes[0] | .creations > 0 and
			.threads_seen > .creations'
	done
}

# A target whose leader has ended is a zombie with living threads.
leaderless()
{
	local i

	start leaderless "$programs/leader_exits" $((8 * slow))e-1 2
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

try 'attach to a sleeping thread' sleeping
try 'attach to computing threads' computing
try 'attach twenty times' again_and_again
try 'attach while threads come and go' churning
try 'attach when the leader has ended' leaderless
try 'a target that is killed' killed
