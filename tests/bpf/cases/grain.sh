# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# How often a program started threads and processes, and handed over: as often as the program itself says.

# grain COMMAND...: its counts, as grain.json; the log of the same run gives the same ones.
grain()
{
	"$out/quartzctl" record --cpu none --log log -o profile -- "$@" >program.out 2>record.err ||
		fail "record ended with status $?"
	"$out/quartzctl" report --costs --json -i profile >costs.json || fail 'no costs'
	jq -c '.scopes[0].grain' costs.json >grain.json
	"$out/quartzctl" replay -o replayed.pb.gz log 2>replay.err || fail "replay ended with status $?"
	"$out/quartzctl" report --costs --json -i replayed.pb.gz >replayed.json || fail 'no costs of the replay'
	jq -ne --slurpfile a costs.json --slurpfile b replayed.json '
		[$a, $b | .[0].scopes[0].grain | {threads_started, processes_started, work}] | .[0] == .[1]' >/dev/null ||
		fail 'the log says otherwise' "$(jq -c '.scopes[0].grain' costs.json replayed.json)"
}

# counts FILTER [JQ-OPTION]...
counts()
{
	local filter=$1

	shift
	jq -e "$@" "([.work[].hand_overs] | add) == .hand_overs and ($filter)" grain.json >/dev/null ||
		fail "not so: $filter" "$(cat grain.json program.out)"
}

threads_started()
{
	grain "$programs/threads_churn" 1000 4
	grep -q '^threads created 1000 ' program.out || fail 'it did not start them' "$(cat program.out)"
	counts '.threads_started == 1000 and .processes_started == 0 and .start_ns > 0'
}

processes_started()
{
	grain "$programs/forks" 300 4
	counts '.processes_started == 300 and .threads_started == 0'
}

# as_strace_counts LEAST COMMAND...: what the log says of a real program's run is what strace counts of another one.
as_strace_counts()
{
	local least=$1 began threads

	command -v strace >/dev/null || skip 'no strace; see scripts/deps.sh check'
	shift
	strace -f -qq -e trace=clone,clone3,fork,vfork -o calls -- "$@" >strace.out 2>strace.err ||
		fail "strace ended with status $?"
	# a call that a signal stopped is begun once more
	began=$(grep -c -E ' (clone3?|v?fork)(\(| resumed>).* = [0-9]+$' calls)
	threads=$(grep -c -E ' clone3?\(.*CLONE_THREAD' calls)
	[ "$began" -ge "$least" ] || fail "only $began calls" "$(tail calls)"
	grain "$@"
	counts '.threads_started == $threads and .processes_started == $processes' \
		--argjson threads "$threads" --argjson processes "$((began - threads))"
}

threads_of_python()
{
	as_strace_counts 200 /usr/bin/python3 -c 'import threading
for i in range(200):
    t = threading.Thread(target=sum, args=(range(1000),))
    t.start()
    t.join()'
}

processes_of_a_shell()
{
	# shellcheck disable=SC2016 # for the shell that it starts
	as_strace_counts 100 sh -c 'i=0; while [ $i -lt 100 ]; do i=$(expr $i + 1); done'
}

processes_of_make()
{
	printf 'all: %s\n%%.o:; @touch $@; wc -c $@ | cat >/dev/null\n' "$(seq -s ' ' -f '%.0f.o' 40)" >Makefile
	as_strace_counts 80 make -r -s -B -j3
}

# Each process is a scope, and those that lived for a moment are put together.
processes_of_a_machine()
{
	local of_forks='[.scopes[] | select(.comm == "forks") | .grain.processes_started] | add'

	serve
	"$programs/forks" 300 4 >program.out || fail 'it did not run'
	sleep 1
	detach
	"$out/quartzctl" report --scope all --costs --json -i profile >costs.json || fail 'no costs'
	jq -e "($of_forks) == 300 and (.scopes[] | select(.comm == \"machine\") | .grain.processes_started >= 300)" costs.json \
		>/dev/null || fail 'not 300' "$(jq -c '[.scopes[] | select(.grain.processes_started > 0) | [.comm, .grain.processes_started]]' costs.json)"
}

# transfers_of COMMAND...: calls and bytes of a run, and of the same command, by strace: `reads`, `bytes_read` and so on.
transfers_of()
{
	command -v strace >/dev/null || skip 'no strace; see scripts/deps.sh check'
	strace -f -qq -e trace=read,pread64,readv,write,pwrite64,writev,execve -o calls -- "$@" >strace.out 2>strace.err ||
		fail "strace ended with status $?"
	# a call that another process interrupts in the file is there twice: begun, and with its result
	awk '{ sub(/^[0-9]+ +/, "") }
		/unfinished/ || !/ = [-0-9]/ { next }
		{ sub(/^<... /, ""); call = $0; sub(/[ (].*/, "", call); n = $0; sub(/.* = /, "", n); n += 0 }
		call == "execve" { files += n == 0 }
		call ~ /read/ { reads++; got += n > 0 ? n : 0 }
		call ~ /write/ { writes++; put += n > 0 ? n : 0 }
		END { printf "{\"reads\": %d, \"bytes_read\": %d, \"writes\": %d, \"bytes_written\": %d, \"files\": %d}\n",
			reads, got, writes, put, files }' calls >strace.json
	grain "$@"
	jq -ne --slurpfile a costs.json --slurpfile b replayed.json '
		[$a, $b | .[0].scopes[0].grain.transfers | {reads, bytes_read, writes, bytes_written}] | .[0] == .[1]' >/dev/null ||
		fail 'the log says otherwise' "$(jq -c '.scopes[0].grain.transfers' costs.json replayed.json)"
}

# as_many_calls LEAST-READS LEAST-WRITES COMMAND...: of both as many as strace counts, and of reads five for each file that
# is executed, by the kernel, and one of who waits to begin.
as_many_calls()
{
	local least="(.reads >= $1 and .writes >= $2)"

	shift 2
	transfers_of "$@"
	jq -e "$least" strace.json >/dev/null || fail 'strace has less' "$(cat strace.json)"
	jq -e --slurpfile of strace.json '.transfers as $t | $of[0] | $t.writes == .writes and $t.bytes_written == .bytes_written and
		$t.reads >= .reads and $t.reads <= .reads + 1 + 6 * .files and
		$t.bytes_read >= .bytes_read and $t.bytes_read <= .bytes_read + 8 + 4096 * .files' grain.json >/dev/null ||
		fail 'strace counts otherwise' "$(cat strace.json; jq -c .transfers grain.json)"
}

calls_of_dd()
{
	as_many_calls 20000 20000 dd if=/dev/zero of=/dev/null bs=1 count=20000 status=none
	"$out/quartzctl" report --costs -i profile | grep -q '^written: 20 000 times, 1 byte on average' ||
		fail 'it is not told' "$("$out/quartzctl" report --costs -i profile)"
}

calls_of_a_shell()
{
	# shellcheck disable=SC2016 # for the shell that it starts
	as_many_calls 500 100 sh -c 'i=0; while [ $i -lt 100 ]; do i=$(expr $i + 1); done'
}

calls_of_python()
{
	as_many_calls 4000 4000 /usr/bin/python3 -c 'import os, threading
def copy():
    r, w = os.pipe()
    for i in range(1000):
        os.write(w, b"x" * (i + 1))
        os.read(r, 4096)
threads = [threading.Thread(target=copy) for i in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]'
}

# One that runs before and after: between what /proc has at both ends, thread by thread, and of none that did nothing.
calls_of_what_runs()
{
	local pid before after

	/usr/bin/python3 -c 'import os, threading, time
def copy(n):
    r, w = os.pipe()
    while True:
        for i in range(n):
            os.write(w, b"x" * 10)
            os.read(r, 10)
        time.sleep(0.01)
for i in range(3):
    threading.Thread(target=copy, args=(100 * i,)).start()' &
	pid=$!
	sleep 1
	before=$(sed -n 's/^syscw: //p' "/proc/$pid/io")
	"$out/quartzctl" record --cpu none -p "$pid" -d 2 -o profile >record.out 2>&1 || fail 'no profile' "$(cat record.out)"
	after=$(sed -n 's/^syscw: //p' "/proc/$pid/io")
	kill "$pid"
	"$out/quartzctl" report --json -i profile >report.json || fail 'no report'
	"$out/quartzctl" report --costs --json -i profile >costs.json || fail 'no costs'
	jq -e --argjson most "$((after - before))" '.scopes[0].grain.transfers | .writes >= 1000 and .writes <= $most and
		.bytes_written == 10 * .writes and .bytes_read == 10 * .reads' costs.json >/dev/null ||
		fail 'otherwise' "$before $after $(jq -c '.scopes[0].grain' costs.json)"
	jq -e --slurpfile c costs.json '[.scopes[0].threads[].transfers | select(.)] | length == 2 and
		(map(.writes) | add) == $c[0].scopes[0].grain.transfers.writes' report.json >/dev/null ||
		fail 'not by thread' "$(jq -c '[.scopes[0].threads[] | {tid, transfers}]' report.json)"
}

# Of processes that lived for a moment, and of one that lives on.
calls_of_a_machine()
{
	local of_dd='[.scopes[] | select(.comm == "dd") | .grain.transfers.writes] | add' pid

	serve
	dd if=/dev/zero of=/dev/null bs=1 count=3000 status=none
	dd if=/dev/zero of=/dev/null bs=1 count=3000 status=none
	dd bs=1 status=none < <(head -c 4000 /dev/zero && exec sleep 8) >/dev/null &
	pid=$!
	sleep 3
	detach
	kill "$pid"
	"$out/quartzctl" report --scope all --costs --json -i profile >costs.json || fail 'no costs'
	jq -e "($of_dd) == 10000 and (.scopes[] | select(.comm == \"machine\") | .grain.transfers |
			.writes >= 10000 and .reads >= 10000)" costs.json >/dev/null ||
		fail 'not 10000' "$(jq -c '[.scopes[] | select(.grain.transfers) | [.comm, .grain.transfers]]' costs.json)"
}

# forget_member NAME: the kernel's types that quartzd keeps are those of a kernel whose structures have no such member. The file is
# magic, CRC-32 of what follows, and the types (daemon/kernel/kernel_types.c).
forget_member()
{
	python3 - "$1" "$QUARTZ_CACHE_DIR"/types-* <<-'END' || fail "$1 is not in the types"
		import struct, sys, zlib
		name, path = sys.argv[1].encode(), sys.argv[2]
		data = open(path, "rb").read()
		assert data.count(b"\0" + name + b"\0") == 1
		data = data.replace(b"\0" + name + b"\0", b"\0" + b"x" * len(name) + b"\0")
		with open(path, "r+b") as f:
		    f.write(data[:8] + struct.pack("<I", zlib.crc32(data[12:])) + data[12:])
	END
}

# Without CONFIG_TASK_IO_ACCOUNTING all else is measured, and nothing is said of reads and writes, neither of what ended nor of what
# goes on.
kernel_that_counts_no_calls()
{
	local dd='dd if=/dev/zero of=/dev/null bs=1 status=none' pid

	own_cache
	grain $dd count=20000
	counts '.transfers.writes == 20000'
	forget_member ioac
	grain $dd count=200000
	counts 'has("transfers") | not'
	"$out/quartzctl" report --costs -i profile >costs.txt || fail 'no costs'
	! grep -E '^(read|written):' costs.txt || fail 'it is told nevertheless'
	"$out/quartzctl" advise -i profile --json >advice.json || fail 'no advice'
	jq -e '[.. | objects | select(.rule? == "steps")] | length == 1 and all(.[0].evidence[].text; test("on average") | not)' \
		advice.json >/dev/null || fail 'no finding, or with counts' "$(jq -c . advice.json)"
	lawful
	$dd & pid=$!
	"$out/quartzctl" record --cpu none -p "$pid" -d 1 -o profile >record.out 2>&1 || fail 'no profile' "$(cat record.out)"
	kill "$pid"
	lawful
	expect 'a process that goes on has no counts either' 'all(.scopes[0].threads[]; has("transfers") | not)'
}

# Each ring ends one sleep. The sleeper's end is one more, for whom joins it, and there may be one at a lock.
one_way()
{
	grain "$programs/wakes" 5000
	counts '.hand_overs >= 5000 and .hand_overs <= 5010 and .threads_started == 1'
}

# Both sides wait for each other alone: as often as they left the processor to wait, by the kernel.
both_ways()
{
	local waits

	grain "$programs/pingpong" "$1" "$2" 20000
	waits=$(sed -n 's/^pingpong .* waits //p' program.out)
	[ "$waits" -ge 10000 ] || fail "only $waits waits"
	counts '(.hand_overs - $waits | fabs) <= 0.01 * $waits' --argjson waits "$waits"
}

# Of sixteen threads at a condition, for each item one has something to do: by the program's own count, and by the log.
woken_for_nothing()
{
	local futile

	launch "$programs/herd" broadcast 2000 16
	lawful
	futile=$(sed -n 's/^herd .* futile //p' program.out)
	[ "$futile" -ge 10000 ] || fail "only $futile were woken for nothing"
	expect 'most of them, and no other' '[.scopes[0].rows[] | select(.in_vain)] |
		all(.name == "condition") and (map(.in_vain) | sum | . <= 1.02 * $futile and . >= 0.7 * $futile)' \
		--argjson futile "$futile"
	"$out/quartzctl" advise -i profile --json >advice.json || fail 'no advice'
	jq -e '[.. | objects | select(.rule? == "in_vain")] | length == 1 and (.[0] | .subject.name | test("condition")) and (.[0].gain_low_ns > 0)' advice.json \
		>/dev/null || fail 'it is not told' "$(jq -c . advice.json)"
}

none_for_nothing()
{
	launch "$programs/herd" signal 2000 16
	lawful
	expect 'no thread was' '[.scopes[0].rows[].in_vain // 0] | sum <= 20'
}

# herds WAY FILTER: what is found of sixteen threads with an epoll each, which watch one descriptor.
herds()
{
	launch "$programs/herd" "$1" 2000 16
	lawful
	"$out/quartzctl" advise -i profile --json >advice.json || fail 'no advice'
	jq -e "[.. | objects | select(.rule? == \"herd\")] | $2" advice.json >/dev/null ||
		fail 'otherwise' "$(cat program.out; jq -c . advice.json)"
}

# On a machine that is so busy that few are woken a second, it may be no finding.
all_for_one_event()
{
	herds epoll 'length <= 1 and all(.subject.name == "wait_at_epoll" and (.remedy | test("EPOLLEXCLUSIVE")))'
	jq -e 'any(.. | objects; .rule? == "herd")' advice.json >/dev/null ||
		expect 'it took long' '.scopes[0].elapsed_ns > 5e9'
}

one_for_one_event()
{
	herds exclusive 'length == 0'
}

try 'threads that were started are counted' threads_started
try 'processes that were started are counted' processes_started
try 'threads of Python are as many as strace counts' threads_of_python
try 'processes of a shell are as many as strace counts' processes_of_a_shell
try 'processes of make are as many as strace counts' processes_of_make
try 'calls of dd are as many as strace counts' calls_of_dd
try 'calls of a shell are as many as strace counts' calls_of_a_shell
try 'calls of Python are as many as strace counts' calls_of_python
try 'calls of what runs are between those of /proc' calls_of_what_runs
try 'calls of a machine are counted' calls_of_a_machine
try 'a kernel that does not count calls' kernel_that_counts_no_calls
try 'processes of a machine that were started are counted' processes_of_a_machine
try 'each sleep that another thread ended is a hand-over' one_way
try 'hand-overs by words' both_ways futex threads
try 'hand-overs by pipes between processes' both_ways pipe processes
try 'who is woken for nothing, where all are woken' woken_for_nothing
try 'none is woken for nothing, where one is woken' none_for_nothing
try 'an event that wakes all who watch' all_for_one_event
try 'an event that wakes one' one_for_one_event
