# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Threads off their processor: for what, how long, and in which queue. A program tells how long its
# waiting procedures took; what of that was no wait for the thing in question was spent running, or
# waiting for something else, which is all known. So the bounds hold however busy the machine is.

# waited_for WAIT_NS [OTHER_CAUSE]...: that, a figure of the report, is what the program says it
# waited. Other causes are those that other threads wait for meanwhile.
waited_for()
{
	local ns
	ns=$(sed -n 's/^waited .* ns //p' program.out)
	[ -n "$ns" ] || fail 'the program has not told'
	expect "waited $ns ns, by its own account" '
		.scopes[0] as $s | ('"$1"') as $waits |
		([$s.causes | to_entries[] | select(.key | IN($others[]) | not) | .value |
		  .blocked_ns + .ready_ns] | sum) as $all |
		$waits > 0 and $waits <= $ns + 1e6 and
		$waits >= $ns - ($all - $waits) - ran - 1e7' \
		--argjson ns "$ns" --argjson others "$(jq -nc '$ARGS.positional' --args "${@:2}")" \
		--slurpfile objects objects.json
}

# Reports of what was launched, and what holds for all objects.
both_reports()
{
	lawful
	objects_report
}

objects_report()
{
	"$out/quartzctl" objects -i profile --json >objects.json || fail "objects ended with status $?"
	jq -e 'all(.scopes[].objects[]; .waits == (.arrivals | add) and .wakes <= .waits)' objects.json \
		>/dev/null || fail 'arrivals do not add up to waits' "$(jq -c . objects.json)"
	# Little: the time-weighted sum of queue lengths is the sum of the waiters' times.
	jq -e 'all(.scopes[].objects[]; . as $o |
		([$o.queue_ns | to_entries[] | .key * .value] | add) as $queued |
		($queued - $o.blocked_ns | fabs) <= ([0.02 * $o.blocked_ns, 1e6] | max) or
		$o.queue_ns[15] > 0)' objects.json >/dev/null ||
		fail 'the queues are not those of the waits' "$(jq -c . objects.json)"
}

# by_cause KIND CAUSE [OTHER_CAUSE]...
by_cause()
{
	launch "$programs/waits" "$1" 20
	both_reports
	waited_for ".scopes[0].causes[\"$2\"] | .blocked_ns + .ready_ns" "${@:3}"
}

# by_uring KIND CAUSE [OTHER_CAUSE]...: in io_uring, never for a device.
by_uring()
{
	record "$programs/uring" "$1" 20
	[ "$status" != 77 ] || skip 'the kernel has no io_uring for us'
	[ "$status" = 0 ] || fail "record of uring $1 ended with status $status"
	both_reports
	waited_for ".scopes[0].causes[\"$2\"] | .blocked_ns + .ready_ns" "${@:3}"
	expect 'it does not wait for a device' '(.scopes[0].causes.disk.blocked_ns // 0) <=
		0.1 * (.scopes[0].causes[$cause].blocked_ns)' --arg cause "$2"
	"$out/quartzctl" advise -i profile >advice.out || fail "advise ended with status $?"
	grep -q 'WAITING FOR DEVICES' advice.out && fail 'advised about devices' "$(cat advice.out)"
	return 0
}

# What is asked of a file alone is a wait for its device, as far as there was one.
uring_device()
{
	record "$programs/uring" device 400
	[ "$status" != 77 ] || skip 'no io_uring for us, or a file system that cannot read past its cache'
	[ "$status" = 0 ] || fail "record of uring device ended with status $status"
	both_reports
	# a device may answer before the one who asked has come to wait, the more often, the more programs want the processors
	expect 'it waits for a device' '.scopes[0].causes | .disk.waits >= 40 and
		(.io_uring.waits // 0) < 0.1 * .disk.waits'
}

# Half a second in which it can do nothing. Computes, so that there is no call that it could wait in.
held_for()
{
	sleep 0.2
	"$1"
	sleep 0.5
	"$2"
	sleep 0.2
	detach
	lawful
	expect "it was $3, and brought no page" '.scopes[0].causes |
		.[$cause].blocked_ns >= 4e8 and .[$cause].waits == 1 and (.page_fault.blocked_ns // 0) < 1e8' \
		--arg cause "$3"
	"$out/quartzctl" advise -i profile >advice.out || fail "advise ended with status $?"
	grep -qE 'DEVICES|CONTENDED' advice.out && fail 'advised about something else' "$(cat advice.out)"
	tr '\n' ' ' <advice.out | grep -qE "\\($3\\)|stopped or frozen" || fail 'it is not said' "$(cat advice.out)"
}

# cgroup_of TYPE: a group of ours that can be frozen, in a hierarchy of this type, or skips.
cgroup_of()
{
	cgroup=$(awk -v type="$1" '$3 == type && (type == "cgroup2" || $4 ~ /(^|,)freezer(,|$)/) { print $2; exit }' \
		/proc/mounts)/quartz-test.$$.$RANDOM
	mkdir "$cgroup" 2>/dev/null || skip "no group can be made in a hierarchy of $1"
	trap 'end_all; rmdir "$cgroup"' EXIT
	[ -e "$cgroup/cgroup.freeze" ] || [ -e "$cgroup/freezer.state" ] || skip 'it cannot be frozen'
}

freeze()
{
	if [ -e "$cgroup/cgroup.freeze" ]; then
		echo 1 >"$cgroup/cgroup.freeze"
	else
		echo FROZEN >"$cgroup/freezer.state"
	fi
}

thaw()
{
	if [ -e "$cgroup/cgroup.freeze" ]; then
		echo 0 >"$cgroup/cgroup.freeze"
	else
		echo THAWED >"$cgroup/freezer.state"
	fi
}

frozen()
{
	cgroup_of "$1"
	start_busy 1
	echo "$busy" >"$cgroup/cgroup.procs"
	attach --pid "$busy"
	held_for freeze thaw frozen
}

# Asleep in calls when they are frozen: one place has two causes.
frozen_asleep()
{
	cgroup_of cgroup2
	start_stuck
	echo "$stuck" >"$cgroup/cgroup.procs"
	attach --pid "$stuck"
	for _ in 1 2 3; do
		sleep 0.2
		freeze
		sleep 0.2
		thaw
	done
	sleep 0.2
	detach
	lawful
	expect 'all were frozen three times, and waited for what they wait for before and after' '
		.scopes[0].causes | .frozen.waits == 12 and .frozen.blocked_ns >= 12 * 1.5e8 and
		.frozen.blocked_ns < 12 * 2.5e8 and .pipe.blocked_ns >= 4e8 and .futex.blocked_ns >= 8e8'
}

stop()
{
	kill -STOP "$busy"
}

continue_it()
{
	kill -CONT "$busy"
}

stopped()
{
	start_busy 1
	attach --pid "$busy"
	held_for stop continue_it stopped
}

# at_object KIND NAME OBJECT_KIND
at_object()
{
	launch "$programs/waits" "$1" 20
	both_reports
	waited_for '[$objects[0].scopes[0].objects[] |
		select(.name == "'"$2"'" and .object_kind == "'"$3"'") | .blocked_ns + .ready_ns] | sum' \
		sleep
}

# at_word KIND NAME
at_word()
{
	launch "$programs/waits" "$1" 20
	both_reports
	waited_for '[$objects[0].scopes[0].objects[] | select(.name == "'"$2"'") |
		.blocked_ns + .ready_ns] | sum' sleep
}

# Two processes wait for one word, which is one object: whoever comes second finds the first one there.
# Where the mapping cannot be looked up (before Linux 5.17) there are two in one row.
processes()
{
	launch "$programs/waits" processes 20
	both_reports
	waited_for '[$objects[0].scopes[0].objects[] | select(.object_kind == "futex") |
		.blocked_ns + .ready_ns] | sum' sleep child
	jq -e '[.scopes[0].objects[] | select(.object_kind == "futex")] | length == 1 and
		(.[0] | .waits >= 20 and (.grouped == 2 or (.grouped == 1 and
			.arrivals[1] > 0 and .queue_ns[2] > 0 and .queue_ns[3] == 0)))' \
		objects.json >/dev/null || fail 'the word has not one row' "$(jq -c . objects.json)"
	bpftool btf dump file /sys/kernel/btf/vmlinux 2>/dev/null | grep -q "'BPF_FUNC_find_vma'" || return 0
	jq -e '[.scopes[0].objects[] | select(.object_kind == "futex")][0].grouped == 1' objects.json \
		>/dev/null || fail 'the word is two objects' "$(jq -c . objects.json)"
}

# wakers NAME: its report in object.json, by whom and from where its waiters were woken.
wakers()
{
	"$out/quartzctl" report "$1" -i profile --json >object.json 2>report.err ||
		fail "report of $1 ended with status $?"
}

# Who lets go of a lock is known without --woken.
releases()
{
	launch "$programs/lock_queue" 4 300 500
	both_reports
	wakers hot_lock
	jq -e '.scopes[0] | .wakes_sampled and
		([.wakers[].wakes] | add) as $all |
		([.wakers[] | select(any(.stack[]; test("pthread_mutex_unlock"))) | .wakes] | add) as $unlock |
		$all > 0 and $unlock >= 0.9 * $all and
		any(.wakers[]; any(.stack[]; . == "contender")) and all(.wakers[]; .woken_ns == 0)' \
		object.json >/dev/null || fail 'it is not said who lets go of hot_lock' \
		"$(jq -c '.scopes[].wakers' object.json)"
}

# Each is counted once by the object, and once where it was made, whichever processor the sleeper wakes on.
each_wake_up()
{
	"$out/quartzctl" record --woken --cpu none -o "$T/profile" -- "$programs/wakes" 1000 \
		>program.out 2>record.err || fail "record ended with status $?"
	both_reports
	wakers bell
	# a stack is cut as long as quartzd knows nothing of the code
	jq -e --argjson slow "$slow" '.scopes[0] | .object.waits == 1000 and .object.wakes == 1000 and
		([.wakers[].wakes] | add) == 1000 and
		([.wakers[] | select(all(.stack[]; . != "ring")) |
			.wakes * (if .stack[-1] == "[truncated]" then 1 else 100 end)] | add // 0) <= 20 * ($slow - 1)' \
		object.json >/dev/null || fail 'not 1000 wake-ups' \
		"$(jq -c '.scopes[] | .object.waits, .object.wakes, .wakers' object.json)"
}

# However many places a thread waits at in turn, each is walked once a millisecond at most; but two of
# them may share an entry.
# Of two stacks of one depth, a site's waits are shared out by those that tell theirs, a thousand times a second.
shared_site()
{
	local often seldom

	launch "$programs/same_depth" 2
	both_reports
	often=$(sed -n 's/^truth often .*elapsed_ns //p' program.out)
	seldom=$(sed -n 's/^truth seldom .*elapsed_ns //p' program.out)
	expect "of $often and $seldom ns" '[.scopes[0].rows[] | {(.name): .total}] | add |
		def ns: .blocked_ns + .ready_ns;
		((.often | ns) + (.seldom | ns)) as $both | $both <= (.wait_here | ns) and
		.often.waits_ci_ns > 0 and .seldom.waits_ci_ns > 0 and .wait_here.waits_ci_ns == null and
		((.seldom | ns) - $seldom | fabs) <= 3 * .seldom.waits_ci_ns + $often + $seldom - $both' \
		--argjson often "$often" --argjson seldom "$seldom"
}

places()
{
	launch "$programs/pingpong" pipe threads 20000 0 8
	both_reports
	expect 'each place is walked once a millisecond' '
		(.scopes[0].causes.pipe.waits) as $waits | .ledger.events.wait_stacks_walked as $walked |
		$waits > 10000 and $walked <= 16 * (.scopes[0].elapsed_ns / 1e6 + 1) + $waits / 4'
	"$out/quartzctl" report -i profile await_below --json >procedure.json ||
		fail "report await_below ended with status $?"
	jq -e '.scopes[0].callees | any(.procedure.name == "await_below") and
		any(.procedure.name == "await_token")' procedure.json >/dev/null ||
		fail 'await_below is not called from itself' "$(jq -c . procedure.json)"
}

# Both threads are on one processor, where all wake-ups are counted: those that were passed are made up
# for by those that were sampled.
estimated_releases()
{
	local name counted=0 estimated=0 n

	launch "$programs/pingpong" futex threads 50000
	both_reports
	jq -r '.scopes[0].objects[] | select(.wakes > 1000) | .name' objects.json >names.out
	while read -r name; do
		wakers "$name"
		n=$(jq '[.scopes[0].wakers[].wakes] | add // 0' object.json)
		estimated=$((estimated + n))
		n=$(jq '.scopes[0].object.wakes' object.json)
		counted=$((counted + n))
	done <names.out
	((counted > 50000 && estimated * 10 > counted * 7 && estimated * 10 < counted * 13)) ||
		fail "$estimated wake-ups by estimate, $counted counted" "$(jq -c . objects.json)"
}

# taking_turns KIND OBJECT_KIND NAME: processes that queue for a lock of the kernel's, or one that they made. Not all laws of
# both_reports: of fork's children, names of files may come late.
taking_turns()
{
	launch "$programs/kernel_locks" "$1" 4 50
	both_reports
	expect 'they queue there' '
		[$objects[0].scopes[0].objects[] | select(.object_kind == $kind and (.name | test($name)))] |
		length == 1 and (.[0] | .waits > 20 and .wakes > 0 and .blocked_ns <= $ns + 1e6 and
			.blocked_ns + .ready_ns >= 0.5 * $ns - 5e7)' \
		--arg kind "$2" --arg name "$3" --slurpfile objects objects.json \
		--argjson ns "$(sed -n 's/^waited .* ns //p' program.out)"
}

# held_turns KIND OBJECT_KIND NAME: and it is known who has it. Where others have the processors, that is what limits it.
held_turns()
{
	taking_turns "$@"
	jq -e --arg kind "$2" --arg name "$3" '[.scopes[0].objects[] |
		select(.object_kind == $kind and (.name | test($name)))] | length == 1 and
		(.[0] | (.queue_ns | add) as $queued | .cpu_ns > 0 and
			.cpu_ns <= $queued + 10 * ($queued * 1e6 | sqrt) + 1e7)' \
		objects.json >/dev/null || fail 'it is not held as it should be' "$(jq -c . objects.json)"
	"$out/quartzctl" advise -i profile >advice.out || fail "advise ended with status $?"
	tr -s ' \n' ' ' <advice.out | grep -qE "SHORT OF CPUS|(Threads queue for|each sleeps at) .*${3//[$^]/}" ||
		fail 'no finding names it' "$(cat advice.out)"
}

# The thread that writes to the pipe is not the one that reads it: no thread has it.
no_token()
{
	launch "$programs/pingpong" pipe threads 5000
	both_reports
	jq -e 'all(.scopes[0].objects[] | select(.object_kind == "pipe"); .cpu_ns == 0) and
		any(.scopes[0].objects[]; .object_kind == "pipe" and .waits > 1000)' objects.json >/dev/null ||
		fail 'a pipe is held' "$(jq -c . objects.json)"
}

# in_calls KIND NAME [PLACE]: threads that have a lock of the kernel's while they are in a call. Another processor must be free
# now and then, or no thread comes while it is held.
in_calls()
{
	launch "$programs/kernel_locks" "$1" 4 500
	both_reports
	jq -e --arg name "$2" '[.scopes[0].objects[] | select(.object_kind == "lock" and
			(.name | test($name)))] | length == 1 and (.[0] | .waits > 0 and .wakes > 0 and .blocked_ns > 0)' \
		objects.json >/dev/null || fail 'no object, or not one' "$(jq -c . objects.json)"
	"$out/quartzctl" report -i profile "$(jq -r --arg name "$2" '[.scopes[0].objects[] |
		select(.name | test($name))][0].name' objects.json)" >object.out || fail "report ended with status $?"
	grep -qE "^process [0-9]+${3-, inode [0-9]+}$" object.out || fail 'it is not said where it is' "$(cat object.out)"
	expect 'none is a wait for a device' '(.scopes[0].causes | (.disk.blocked_ns // 0) +
		(.page_fault.blocked_ns // 0)) < 0.1 * ([$objects[0].scopes[0].objects[] |
		select(.object_kind == "lock") | .blocked_ns] | add)' --slurpfile objects objects.json
}

# libc_waits PROGRAM: what it waits for is called what it is, and who has the lock is known. Whoever signals a condition and loses
# the processor then still has its lock, for which the one who was woken waits.
libc_waits()
{
	launch "$1" $((100 * slow))
	lawful
	objects_report
	jq -e '[.scopes[0].objects[] | select(.waits > 0 and .blocked_ns > 1e6)] |
		([.[] | select(.object_kind == "mutex") | .name] - ["state_lock"] == ["queue_lock"]) and
		any(.[]; .object_kind == "mutex" and .cpu_ns > 0) and
		any(.[]; .object_kind == "condition" and .blocked_ns > 1e8) and
		any(.[]; .name == "free_slots" and .object_kind == "semaphore" and .blocked_ns > 1e8) and
		all(.[]; .object_kind | IN("mutex", "condition", "semaphore", "join"))' objects.json >/dev/null ||
		fail 'not a mutex, a condition, a semaphore and ends of threads' "$(jq -c . objects.json)"
}

# musl OPTION...: the same with this C library.
musl()
{
	command -v musl-gcc >/dev/null || skip 'there is no musl-gcc (musl-tools)'
	musl-gcc -std=gnu11 -O1 -g -pthread -I "$here/../.." -o libc_waits "$@" \
		"$here/../programs/libc_waits.c" 2>gcc.err || fail 'it cannot be built'
	libc_waits ./libc_waits
}

unmapped()
{
	launch "$programs/waits" unmapped 20
	both_reports
	waited_for '.scopes[0].causes.futex | .blocked_ns + .ready_ns' sleep
}

distinct()
{
	launch "$programs/waits" distinct 20000
	# not all laws: what the kernel charges beyond the switches shows in so many of so short ones
	"$out/quartzctl" report -i profile --json >report.json || fail "report ended with status $?"
	objects_report
	expect 'all waits are there' '.scopes[0].causes.futex.waits >= 15000'
	expect 'more words than the table has room for' '.ledger.events.objects_full > 0 and
		.ledger.events.waits_lost == 0'
}

queues()
{
	launch "$programs/lock_queue" 5 100 500
	both_reports
	jq -e '[.scopes[0].objects[] | select(.name == "hot_lock" and .object_kind == "mutex")] |
		length == 1 and (.[0] | .waits > 0 and .queue_ns[1] > 0 and
			.cpu_ns <= (.queue_ns | add) + 10 * ((.queue_ns | add) * 1e6 | sqrt) + 1e7)' \
		objects.json >/dev/null || fail 'hot_lock is not held as it should be' \
		"$(jq -c . objects.json)"
}

# It stores no owner, and the thread that releases it is mostly back before the one that was woken for it.
# While threads queued, it was held but for the time without a queue.
queues_at_word()
{
	launch "$programs/lock_queue" 4 500 500 word
	both_reports
	jq -e --argjson truth "$(truth critical_section)" '.scopes[0] as $s |
		[$s.objects[] | select(.name == "hot_word" and .object_kind == "mutex")] |
		length == 1 and (.[0] | (.queue_ns | add) as $queued |
			.cpu_ns <= $queued + 10 * ($queued * 1e6 | sqrt) + 1e7 and
			.cpu_ns >= 0.5 * ($truth - ($s.elapsed_ns - $queued)))' \
		objects.json >/dev/null || fail 'hot_word is not held as it should be' \
		"$(jq -c . objects.json)"
}

# Until quartzd has found what kind of lock it is, no holder is known.
writers()
{
	launch "$programs/lock_queue" 4 $((150 * slow)) 5000 write
	both_reports
	jq -e '[.scopes[0].objects[] | select(.name | startswith("hot_rwlock"))] | length > 0 and
		all(.[]; .object_kind == "rwlock") and ([.[].cpu_ns] | add) as $held |
		([.[].queue_ns[1:][]] | add) as $queued |
		$held > 0 and $held <= $queued + 10 * ($queued * 1e6 | sqrt) + 1e7' \
		objects.json >/dev/null || fail 'hot_rwlock is not held as it should be' \
		"$(jq -c . objects.json)"
}

# The kernel counts each sleep, and so does the program while it waits for its pages. The other sleeps
# are for the file to be written, and for the program itself to be brought.
for_disk()
{
	record "$programs/waits" "$1" 100
	[ "$status" != 77 ] || skip 'pages of files are here without a wait'
	[ "$status" = 0 ] || fail "record of waits $1 ended with status $status"
	both_reports
	read -r slept all < <(sed -n 's/^slept \(.*\) of/\1/p' program.out)
	expect "slept $slept of $all times" '
		.scopes[0].causes[$cause] as $mine | (.scopes[0].causes.unknown.waits // 0) as $unseen |
		$mine.waits + $unseen >= $slept and $mine.waits <= $all and $mine.blocked_ns > 0' \
		--argjson slept "$slept" --argjson all "$all" --arg cause "$1"
}

disk()
{
	for_disk disk
	jq -e 'any(.scopes[0].objects[]; .object_kind == "file" and .waits > 0 and .blocked_ns > 0)' \
		objects.json >/dev/null || fail 'no file is waited for' "$(jq -c . objects.json)"
}

# The procedure that touches the page is known even where the stack is not.
page_fault()
{
	for_disk page_fault
	"$out/quartzctl" report wait_page_fault -i profile --json >procedure.json ||
		fail "report wait_page_fault ended with status $?"
	expect 'each is where the page is touched, and no longer than that took' '
		$one[0].scopes[0].states.causes.page_fault as $mine |
		(.scopes[0].causes.unknown.waits // 0) as $unseen |
		$mine.waits <= $slept and $mine.waits + $unseen >= $slept and
		$mine.blocked_ns + $mine.ready_ns <= $ns' \
		--slurpfile one procedure.json --argjson slept "$slept" \
		--argjson ns "$(sed -n 's/^waited .* ns //p' program.out)"
}

churn()
{
	launch "$programs/threads_churn" 2000 16
	both_reports
	expect 'each thread waited for its first turn' '.scopes[0].causes.start.waits >= 2000'
}

# Three threads that all sleep before they are attached to: in read, and in two futex
# calls. A fourth one computes: it never blocks.
start_stuck()
{
	local i

	mkfifo fifo || fail 'no FIFO can be made'
	start stuck "$programs/stuck" fifo
	stuck=$pid
	await stuck.out 'about to wait'
	for ((i = 0; i < 1200; i++)); do
		[ "$(cut -d' ' -f1 "/proc/$stuck/task"/*/syscall | grep -v running | sort -n | xargs)" != '0 202 202' ] ||
			return 0
		sleep 0.05
	done
	fail 'the threads do not sleep'
}

# Their whole waits are at what they wait for, and what else they waited is known too.
stuck_objects()
{
	lawful
	objects_report
	expect 'no wait is unknown' '.scopes[0].causes | (.unknown.blocked_ns // 0) == 0 and
		.futex.blocked_ns > 0 and .pipe.blocked_ns > 0'
	jq -e '[.scopes[0].objects[] | select(.waits == 1 and .blocked_ns > 0) |
		.object_kind] | contains(["mutex"]) and contains(["join"]) and contains(["pipe"])' \
		objects.json >/dev/null || fail 'not all are at their objects' "$(jq -c . objects.json)"
	jq -e '[.scopes[0].objects[] | select(.name == "stuck_lock" and .waits == 1)] | length == 1' \
		objects.json >/dev/null || fail 'no stuck_lock' "$(jq -c . objects.json)"
	expect 'the futex waits are those at the two objects' '
		([$objects[0].scopes[0].objects[] | select(.object_kind | IN("mutex", "join")) |
		  .blocked_ns] | sum) as $ns | near(.scopes[0].causes.futex.blocked_ns; $ns; 0.01; 1e6)' \
		--slurpfile objects objects.json
}

asleep()
{
	start_stuck
	attach --pid "$stuck"
	sleep 0.5
	detach
	stuck_objects
	expect 'the procedures that called what they sleep in are known' '
		([$objects[0].scopes[0].objects[] | select(.object_kind == "mutex") | .blocked_ns] |
		 sum) as $ns | near(row("take_lock").total.blocked_ns; $ns; 0.01; 1e6) and
		near(row("read_holding").total.blocked_ns; .scopes[0].causes.pipe.blocked_ns; 0.01; 1e6) and
		near(row("main").total.blocked_ns; [.scopes[0].causes[].blocked_ns] | sum; 0.01; 1e6)' \
		--slurpfile objects objects.json
}

woken_later()
{
	start_stuck
	attach --pid "$stuck"
	sleep 0.5
	echo >fifo
	finished
	stuck_objects
	expect 'all of them ended' '.scopes[0] | .ended and .threads_seen == 4'
	jq -e '[.scopes[0].objects[] | select(.waits == 1) | .wakes] | add >= 2' objects.json \
		>/dev/null || fail 'no thread is seen to wake them' "$(jq -c . objects.json)"
}

# A lock whose waiters wait in poll, each at a descriptor of its own: as often as the program says, or less, where one was woken before.
latches()
{
	local waits

	launch "$programs/latches" sleep 50 2
	waits=$(sed -n 's/^truth waits \([0-9]*\) .*/\1/p' program.out)
	[ "$waits" -ge 100 ] || fail "only $waits waits"
	"$out/quartzctl" advise -i profile --json >advice.json || fail 'no advice'
	jq -e --argjson waits "$waits" '[.. | objects | select(.rule? == "parked")] | length == 1 and (.[0] |
		(.what | test("^4 threads wait for a lock that update_row takes, .* each sleeps in latch_wait until")) and
		.where == "taken in update_row, let go of in latch_release" and
		(.evidence[0].text | capture("slept there (?<n>[0-9]+) times").n | tonumber | . <= $waits and . >= 0.8 * $waits))' advice.json \
		>/dev/null || fail "not $waits waits for one lock" "$(jq -c . advice.json)"
}

try 'pipe' by_cause pipe pipe sleep
try 'socket' by_cause socket socket sleep
try 'epoll' by_cause epoll poll sleep
try 'poll' by_cause poll poll sleep
try 'select' by_cause select poll sleep
try 'sleep' by_cause sleep sleep
try 'child' by_cause child child sleep
try 'disk' disk
try 'io_uring: a timer' by_uring timer sleep
try 'io_uring: a socket' by_uring socket socket sleep
try 'io_uring: a pipe' by_uring pipe pipe sleep
try 'io_uring: a socket and a clock' by_uring limited socket sleep
try 'io_uring: a socket, of a registered ring' by_uring registered socket sleep
try 'io_uring: a device' uring_device
try 'io_uring: several kinds' by_uring mixed io_uring sleep
try 'io_uring: a socket, after writing' by_uring after_writes io_uring sleep kernel
try 'frozen with its group' frozen cgroup2
try 'frozen with its group, version 1' frozen cgroup
try 'frozen in a call' frozen_asleep
try 'stopped' stopped
try 'page fault' page_fault
try 'a call by its name' by_cause signal rt_sigtimedwait
try 'mutex' at_object mutex a_mutex mutex
try 'mutex with priority inheritance' at_object pi pi_mutex mutex
try 'death of the owner' at_object owner_death robust_mutex mutex
try 'lock held by a writer' at_object reader a_rwlock rwlock
try 'lock held by a reader' at_object writer a_rwlock rwlock
try 'condition variable' at_object condition a_condition condition
try 'semaphore' at_object semaphore a_semaphore semaphore
try 'barrier' at_object barrier a_barrier barrier
try 'shared futex' at_word shared word
try 'futex between processes' processes
try 'time that runs out' at_word timeout word
try 'one of several words' at_word several word
try 'interrupted by signals' at_word interrupted word
try 'requeued' at_word requeued first_word
try 'requeued to a lock' at_object requeued_to_lock first_word condition
try 'word that is unmapped' unmapped
try 'waits of glibc' libc_waits "$programs/libc_waits"
try 'waits of musl' musl
try 'waits of musl, linked in' musl -static
try 'lock of a file: flock' held_turns flock lock '^the lock of .*locked \(flock\)$'
try 'lock of a file: fcntl' held_turns fcntl lock '^the lock of .*locked \(fcntl\)$'
try 'semaphores of System V' held_turns semop semaphore '^the semaphores of set [0-9]+ \(semop\)$'
try 'eventfd' taking_turns eventfd eventfd '^eventfd [0-9]+$'
try 'pipe with a token' held_turns pipe pipe '^pipe:'
try 'pipes that threads write to each other' no_token
try 'lock whose waiters wait in poll' latches
try 'lock of an inode' in_calls inode "^the inode's lock of .*locked\$"
try 'lock of a position' in_calls position "^the position's lock of .*locked\$"
try 'lock of a memory map' in_calls map "^the process' memory map" ''
thorough 'more words than there is room for' distinct
try 'queues and holders' queues
thorough 'queues at a lock without an owner' queues_at_word
thorough 'queues and writers' writers
try 'more places than sites' places
try 'two stacks of one depth' shared_site
try 'who lets go' releases
thorough 'who lets go, estimated' estimated_releases
try 'each wake-up' each_wake_up
thorough 'two thousand threads' churn
try 'asleep when attached to' asleep
try 'asleep when attached to, and woken' woken_later
