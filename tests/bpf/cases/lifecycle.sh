# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Threads, processes and images that come, change and go.

# has_time PROCEDURE SHARE: all the processor time that the program says it spent there.
has_time()
{
	expect "processor time of $1" '
		took(row($name).total.cpu_ns; $cpu; $share; 2e7)' \
		--arg name "$1" --argjson share "$2" --argjson cpu "$(truth "$1" | jq -s add)"
}

# exec_in_place leader|thread: no thread but the caller of exec survives it, under the leader's pid.
exec_in_place()
{
	launch "$programs/exec_in_place" "$1" 0.3
	lawful
	main_is_all
	has_time before_exec 0.1
	has_time after_exec 0.1
	expect 'one process' '[.scopes[0].threads[].pid] | unique | length == 1'
}

leader_exits()
{
	launch "$programs/leader_exits" 0.3 3
	lawful
	has_time orphan_work 0.1
	expect 'followed to the end of the last worker' '.scopes[0] |
		.ended and .threads_seen == 4 and all(.threads[]; .ended)'
}

# children PROGRAM NUMBER ARG...: all of them are part of the job.
children()
{
	local program=$1 number=$2

	shift 2
	launch "$programs/$program" "$@"
	grep -q "created $number .*failed 0" program.out || fail 'the program failed'
	lawful
	expect "$number children" '.scopes[0] |
		.ended and .threads_seen == $n + 1 and .creations == $n and .creations_lost == 0' \
		--argjson n "$number"
}

vforks()
{
	children vforks 60 30
	expect 'all run on behalf of main' '.scopes[0].cpu_ns as $cpu |
		row("main").total.cpu_ns > 0 and row("create_by_spawn").total.cpu_ns > 0'
}

forks()
{
	children forks 1000 1000 4
	expect 'children work on behalf of their creator' '
		row("create_child").total.cpu_ns >= row("child_work").total.cpu_ns'
}

churn()
{
	launch "$programs/threads_churn" 10000 8
	lawful
	expect '10,000 threads, none lost' '.scopes[0] |
		.ended and .threads_seen == 10001 and .creations == 10000 and .creations_lost == 0'
	expect 'what they computed is in what was measured' \
		'.scopes[0].cpu_ns >= $cpu and
		row("churn_worker").total.cpu_ns <= 1.1 * $cpu + ran - .scopes[0].cpu_ns' \
		--argjson cpu "$(truth churn_worker)"
	expect 'threads beyond the limit of rows are in a row of their own' '
		[.scopes[0].threads[] | select(.merged)] | length >= 1'
}

deleted()
{
	TMPDIR=$T launch "$programs/deleted_exe" 0.3
	lawful
	has_time compute_deleted 0.1
}

opened_late()
{
	launch "$programs/dlopen_work" 0.3
	lawful
	expect 'zlib has the time' 'ran as $ran |
		[.scopes[0].rows[] | select(.module | test("libz")) | .self.cpu_ns] | sum |
		near(.; $ran; 0.1; 2e7)'
}

# The second program gets the number of the first one, which has ended.
reused()
{
	cat >reuse.sh <<-'END'
		"$1/phases" --time 1:0.3 >phases.out
		first=$(sed -n 's/^{"thread": \([0-9]*\),.*/\1/p' phases.out)
		for ((i = 0; i < 200; i++)); do
			echo $((first - 1)) >/proc/sys/kernel/ns_last_pid || exit
			bash -c '[ $$ = "$2" ] || exit 77; exec "$1/spin_cpu" 300' - "$1" "$first"
			status=$?
			[ $status = 77 ] || exit $status
		done
		exit 77
	END
	[ -w /proc/sys/kernel/ns_last_pid ] || skip 'ns_last_pid cannot be written'
	record bash reuse.sh "$programs"
	[ "$status" != 77 ] || skip 'others took the number'
	[ "$status" = 0 ] || fail "record ended with status $status"
	lawful
	expect 'both programs, each with its names' '
		row("phase_1").self.cpu_ns > 0 and row("fixed_work").self.cpu_ns > 0'
	expect 'two threads of one number' '
		[.scopes[0].threads[] | select(.comm == ("phases", "spin_cpu")) | .tid] |
		length == 2 and .[0] == .[1]'
}

try 'exec from the leader' exec_in_place leader
thorough 'exec from another thread' exec_in_place thread
try 'a leader that ends first' leader_exits
try 'vfork and posix_spawn' vforks
try 'a thousand children' forks
thorough 'ten thousand threads' churn
try 'an executable that was removed' deleted
try 'a library that is opened late' opened_late
try 'a number that is used again' reused
