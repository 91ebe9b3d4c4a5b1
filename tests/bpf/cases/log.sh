# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# The scheduler's log: what its replay makes of it is what the accounting in the kernel counted beside it.

# record_log COMMAND...: profile and log of the same run, and what the replay makes of it, as p.json and r.json.
record_log()
{
	"$out/quartzctl" record --cpu none --log log -o profile -- "$@" >program.out 2>record.err ||
		fail "record ended with status $?"
	replayed
	"$out/quartzctl" report -i profile --json >p.json || fail "report ended with status $?"
}

replayed()
{
	"$out/quartzctl" replay -o replayed.pb.gz log 2>replay.err || fail "replay ended with status $?"
	"$out/quartzctl" report -i replayed.pb.gz --scope all --json >r.json ||
		fail "report of the replay ended with status $?"
}

# agree WHAT FILTER: a condition on $p and $r, the first scopes of both.
agree()
{
	jq -ne --slurpfile a p.json --slurpfile b r.json "
		def near(\$x; \$y): (\$x - \$y | fabs) <= ([0.02 * (\$y | fabs), 2e7 * $slow] | max);
		def sum: add // 0;
		\$a[0].scopes[0] as \$p | \$b[0].scopes[0] as \$r | $2" >agree.out ||
		fail "not so: $1" "$(jq -c '.scopes[0] | del(.rows, .threads, .lost)' p.json r.json)"
}

same_figures()
{
	record_log "$@"
	agree 'levels add up' '([$r.level_ns[]] | sum) == $r.elapsed_ns'
	agree 'elapsed time' 'near($r.elapsed_ns; $p.elapsed_ns)'
	agree 'each level' '[range($p.level_ns | length)] | all(. as $i |
		near($r.level_ns[$i] // 0; $p.level_ns[$i]))'
	agree 'processor time' 'near($r.cpu_ns; $p.cpu_ns)'
	agree 'as many threads' '$r.threads_seen == $p.threads_seen and $r.ended and $p.ended'
	agree 'times of threads add up' '$r.threads | all(
		.running_ns + .ready_ns + .blocked_ns + .unknown_ns == .end_ns - .start_ns)'
	# by number: two threads have one after the other where one that is not the first executes another program
	agree 'times of each thread' 'def by_number: group_by(.tid) | map({tid: .[0].tid,
			comms: (map(.comm) | unique), running: (map(.running_ns) | sum),
			ready: (map(.ready_ns) | sum), blocked: (map(.blocked_ns) | sum)});
		($p.threads | by_number) as $a | ($r.threads | by_number) as $b |
		($a | length) == ($b | length) and ([range($a | length)] | all(. as $i |
			$a[$i].tid == $b[$i].tid and $a[$i].comms == $b[$i].comms and
			near($b[$i].running; $a[$i].running) and near($b[$i].ready; $a[$i].ready) and
			near($b[$i].blocked; $a[$i].blocked)))'
	jq -e '.ledger.events | (.log_records > 0) and ((.log_impossible // 0) == 0)' r.json \
		>/dev/null || fail 'records contradict each other' "$(jq -c .ledger r.json)"
}

phases()
{
	same_figures "$programs/phases" --time --spawn 1:0.4,2:0.4,0:0.2
}

processes()
{
	same_figures "$programs/forks" 40
}

exec_by_another_thread()
{
	same_figures "$programs/exec_in_place" thread 0.2
}

pingpong()
{
	same_figures "$programs/pingpong" futex threads 20000 0
	agree 'waits of objects' '
		([$r.objects // [] | .[].waits] | sum) as $n | $n == 0 or $n > 1000'
}

# A thread of the kernel in the process, of which no sched_process_fork tells.
io_uring()
{
	"$programs/sqpoll" 10 >probe.out || skip 'no ring with a polling thread can be made here'
	record_log "$programs/sqpoll" 300
	agree 'the polling thread is one of the process, with its times' '$r.threads_seen == 2 and
		([$r.threads[] | select(.comm | startswith("iou-sqp"))] | length == 1 and
		(.[0].running_ns > 0) and (.[0].pid == $r.pid))'
	agree 'it has no stack of its own in the program, which is no stack that is cut' '
		$p.samples > 0 and $p.truncated <= 0.2 * $p.samples'
}

system()
{
	start record "$out/quartzctl" record --cpu none --log log -o profile --system -d 2
	await_threads "$pid" 1
	"$programs/phases" --time --spawn 1:0.5 >/dev/null
	ended "$pid"
	[ "$status" = 0 ] || fail "record ended with status $status"
	replayed
	jq -e '(.scopes[] | select(.kind == "machine") | ([.level_ns[]] | add) == .elapsed_ns) and
		([.scopes[] | select(.kind == "kernel")] | length == 1) and
		([.scopes[] | ([.level_ns[]] | add // 0) == .elapsed_ns] | all)' r.json >/dev/null ||
		fail 'levels of the machine and its processes do not add up'
}

same_bytes()
{
	record_log "$programs/phases" --time --spawn 2:0.2
	cp replayed.pb.gz first
	replayed
	cmp -s first replayed.pb.gz || fail 'two replays of one log differ'
}

damaged()
{
	record_log "$programs/phases" --time --spawn 2:0.2
	head -c $(($(stat -c %s log) * 2 / 3)) log >cut
	mkdir -m 1777 shared && echo theirs >shared/profile && chown nobody shared/profile
	"$out/quartzctl" replay -o shared/profile log 2>shared.err && fail "another user's file is replaced"
	[ "$(cat shared/profile)" = theirs ] || fail "another user's file was replaced"
	"$out/quartzctl" replay cut 2>cut.err && fail 'a log that is cut is taken for a whole one'
	grep -q 'cut or damaged' cut.err || fail 'it is not said that the log is cut' "$(cat cut.err)"
	echo hello | gzip >other
	"$out/quartzctl" replay other 2>other.err && fail 'another file is taken for a log'
	grep -q "other: no scheduler's log" other.err || fail 'it is not said what is wrong' "$(cat other.err)"
}

# More than the logs hold is written while quartzd stands still: what was overwritten is told, and its time is unknown.
overrun()
{
	local target

	start program "$programs/pingpong" pipe threads 1000000000
	target=$pid
	attach_to "$target"
	kill -STOP "$daemon"
	sleep $((4 * slow))
	kill -CONT "$daemon"
	sleep 1
	detach
	kill_now "$target"
	lawful
	expect 'what was overwritten is told' '.ledger.events | .log_overwritten > 0 and .log_lost_ns > 1e9 and
		.log_impossible == 0'
	expect 'what they did meanwhile is unknown, and is at no level' '.scopes[0] | (.threads | length) == 2 and
		any(.threads[]; .unknown_ns > 1e9) and .elapsed_ns < (.threads[0] | .end_ns - .start_ns) - 1e9'
}

try 'the log of phases has the times of the accounting' phases
try 'the log of processes that start processes has them' processes
try 'the log of an exec by another thread has them' exec_by_another_thread
try 'the log of threads that wake each other has them' pingpong
try 'the log knows threads that the kernel makes in a process' io_uring
try "the machine's log has its levels" system
thorough 'a log that is overwritten before it is read' overrun
try 'the same log makes the same profile' same_bytes
try 'a log that is cut, and another file' damaged
