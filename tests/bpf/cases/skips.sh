# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Switches that are counted in windows and skipped between them: what is exact stays so, and the laws hold.

# skipping STEP ARG...: the machine, with switches counted for one part in 2^STEP of the time from the start.
skipping()
{
	local step=$1

	shift
	QUARTZ_SKIP_SWITCHES=$step attach --system "$@"
}

# Threads that always could run, one that is alone, and two that take turns.
threads()
{
	skipping "$1" --max-overhead 0
	start_busy 3
	start pingpong "$programs/pingpong" futex threads 400000
	ended "$pid"
	[ "$status" = 0 ] || fail "the game ended with status $status"
	detach
	events_lost=true
	lawful
	expect 'switches were skipped for some of the time, and not for all' '
		.costs.switches_skipped_ns as $skipped |
		$skipped > .window_ns / 8 and $skipped < .window_ns'
	expect 'three threads that always could run' '[.scopes[] | select(.pid == $busy)][0] |
		.threads_seen == 3 and (.threads | length) == 3 and
		all(.threads[]; .unknown_ns == 0 and
			near(.running_ns + .ready_ns; .end_ns - .start_ns; 0.05; 1e8))' --argjson busy "$busy"
	expect 'two that took turns, and what they waited for' '[.scopes[] | select(.comm == "pingpong")] |
		length == 1 and .[0].threads_seen >= 2 and all(.[0].threads[]; .unknown_ns == 0) and
		(.[0].causes.futex | .waits > 100000 and .blocked_ns + .ready_ns > 0)'
}

# Pages are read, and stacks are where the program says, with and without windows.
pages()
{
	skipping 2 --max-overhead 0
	start profiled "$programs/profiled" scopes 2
	ended "$pid"
	[ "$status" = 0 ] || fail "it ended with status $status"
	detach
	events_lost=true
	lawful
	expect 'scopes of the program are there, and each has its part' '[.scopes[] | select(.comm == "profiled")][0] |
		[.rows[] | select(.name | test("_scope$")) | .total.cpu_ns] | length >= 2 and all(. > 1e8)'
}

# Where switches cost more than all may, they are skipped, and samples are kept.
governed()
{
	local game

	serve --max-overhead 2
	start pingpong "$programs/pingpong" futex threads 100000000
	game=$pid
	await_status '.switch_halvings >= 1' 'all switches are counted'
	"$out/quartzctl" status >status.out || fail "status ended with status $?"
	grep -q '^switches counted for [0-9.]*% of the time to hold 2% overhead$' status.out ||
		fail 'status does not say so' "$(cat status.out)"
	kill_now "$game"
	detach
}

try 'threads whose switches are skipped for half of the time' threads 1
try 'threads whose switches are mostly skipped' threads 4
try 'programs with libquartz while switches are skipped' pages
thorough 'switches are skipped to hold the overhead' governed
