# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034
# One process that takes all it can get does not starve the others; what switches, waits and preemptions are, and what they cost.

# One that queues for a lock which it holds for longer than others let it run; sets quiet.
queue()
{
	start quiet "$programs/lock_queue" 3 15 20000
	quiet=$pid
	ended "$quiet"
	[ "$status" = 0 ] || fail "the quiet one ended with status $status"
}

# hog KIND REFUSALS: it is refused what these events count; what runs beside it has its figures whole.
hog()
{
	local quiet

	serve
	start hog "$programs/hog" 600 "$1"
	queue # meanwhile the hog takes what it can get
	queue
	detach
	"$out/quartzctl" report -i profile --scope "pid=$quiet" --json >report.json ||
		fail "report ended with status $?"
	expect 'the hog is refused what it is to be' ".ledger.events | $2 > 0"
	expect 'the quiet one is refused nothing' '.scopes[0].limited == 0'
	expect 'it waits for its lock' '[.scopes[0].rows[] |
		select(.kind == "object" and .name == "hot_lock")] | length == 1'
	expect 'by whole stacks' '[.scopes[0].rows[] |
		select(.name == "contender" and .kind == "procedure")][0].total.causes.futex |
		.waits > 0 and .blocked_ns > 0'
}

# What the programs cost at switches is in the account, as the kernel measures it.
programs_cost()
{
	local stats kernel

	stats=$(cat /proc/sys/kernel/bpf_stats_enabled)
	echo 1 >/proc/sys/kernel/bpf_stats_enabled
	serve --max-overhead 50
	start ball "$programs/pingpong" pipe processes 100000
	ended "$pid"
	kernel=$(cat /proc/"$daemon"/fdinfo/* 2>/dev/null | awk '/^run_time_ns:/ { ns += $2 } END { printf "%.0f", ns }')
	echo "$stats" >/proc/sys/kernel/bpf_stats_enabled
	detach
	"$out/quartzctl" report -i profile --json >report.json || fail "report ended with status $?"
	# The kernel's figure is of all programs, and has its own two looks at the clock in each call, which on some machines
	# take as long as the call. Ours has the way to the programs and back.
	expect 'what programs cost is in the account' '.costs |
		.accounting_ns + .sampling_ns + .walking_ns >= 0.5 * $kernel and .accounting_ns <= 3 * $kernel' \
		--argjson kernel "$kernel"
}

# Waits and preemptions are counted apart, each as often as the kernel counts it.
# preempted THREADS: as the kernel counts it of a process with so many.
preempted()
{
	local waited preempted ready

	serve --max-overhead 50
	start preempted "$programs/preempted" 4 "$1"
	ended "$pid"
	[ "$status" = 0 ] || fail "preempted ended with status $status" "$(cat preempted.err)"
	read -r _ waited _ preempted _ ready <preempted.out
	detach
	"$out/quartzctl" report -i profile --scope "pid=$pid" --json >report.json ||
		fail "report ended with status $?"
	expect 'waits' '[.scopes[0].causes | to_entries[] | select(.key != "preempted").value.waits] |
		add | . * 2 >= $n and . <= 2 * $n' --argjson n "$waited"
	expect 'preemptions' '.scopes[0].causes.preempted.waits | . * 2 >= $n and . <= 2 * $n' \
		--argjson n "$preempted"
	expect 'time ready' '[.scopes[0].threads[] | select(.tid == $tid).ready_ns] |
		length == 1 and (.[0] / $ns - 1 | fabs) < 0.05' --argjson ns "$ready" --argjson tid "$pid"
}

# which of the two is gone first is up to the depth of the stacks
try stacks hog stacks "(.wait_stacks_limited + .wait_frames_limited)"
try words hog words .objects_limited
try 'what programs cost at switches is in the account' programs_cost
try 'waits and preemptions, estimated' preempted 1
try 'waits and preemptions of a process with threads, estimated' preempted 3
