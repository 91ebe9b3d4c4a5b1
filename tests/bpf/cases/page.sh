# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034
# Programs that keep profile stacks by libquartz: what is reported of them, with the kernel's sampler
# alone and with a poller beside it, and what bad clients can do.

# profiled [CPU] MODE ARG...: recorded, without a poller (none) or with one on that processor.
profiled()
{
	local cpu=$1

	shift
	"$out/quartzctl" record --cpu "$cpu" -o "$T/profile" -- "$programs/profiled" "$@" \
		>program.out 2>record.err || fail "record of $* ended with status $?"
	lawful
}

# The size of the area of tables, as the contract has it.
tables_size()
{
	sed -n 's/.*QZ_TABLES_SIZE == \(0x[0-9a-f]*\).*/\1/p' "$here/../../include/quartz/page.h"
}

poller_processor()
{
	[ "$(nproc)" -gt 1 ] || skip 'one processor'
	poller=$(($(nproc) - 1))
}

# has_time NAME [SHARE]: the processor time that the program says it spent there, and below.
has_time()
{
	expect "processor time of $1" '
		took(row($name).total.cpu_ns; $cpu; $share; 3e7)' \
		--arg name "$1" --argjson share "${2:-0.15}" --argjson cpu "$(truth "$1" | jq -s add)"
}

# Self-reported procedures are marked as such, and totals nest as the scopes do.
scopes_are_right()
{
	has_time outer_scope
	has_time inner_scope
	expect 'marked as self-reported' '
		row("outer_scope").module == "[libquartz]" and
		row("inner_scope").module == "[libquartz]"'
	expect 'what is inside counts outside' '
		row("outer_scope").total.cpu_ns >= row("inner_scope").total.cpu_ns'
	expect 'threads have the names that they gave themselves' '
		[.scopes[0].threads[] | select(.name == "second outer")] | length == 1'
}

scopes_are_procedures()
{
	main_is_all
	scopes_are_right
	expect 'no slot is invalid' '(.ledger.events.page_slots_invalid // 0) == 0'
}

scopes()
{
	profiled none scopes 0.3
	scopes_are_procedures
}

# A poller says how long it was in a scope, the kernel's samples what it called there: none of these may be lost.
polled_are_divided()
{
	expect 'the poller has seen them' '.ledger.events.page_samples > 0'
	expect 'what ran in a scope is below it' '
		all(row("outer_scope", "inner_scope"); .self.cpu_ns <= 0.05 * .total.cpu_ns)'
}

polled_scopes()
{
	poller_processor
	profiled "$poller" scopes 0.3
	scopes_are_procedures
	polled_are_divided
}

# One procedure, not the scope and the procedure that it stands in.
mangled()
{
	profiled none mangled 0.3
	expect 'the time of the procedure is the time of its scope' '
		row("sorter").self.cpu_ns > 1e8 and
		([.scopes[0].rows[] | select(.name == "sorter(double)") | .total.cpu_ns] | sum) < 1e7'
}

recursive()
{
	profiled none recursive 0.3
	has_time recurse_scope
	expect 'recursive procedures count once' '
		ran as $cpu | row("recurse_scope").total.cpu_ns <= $cpu and
		row("ping_scope").total.cpu_ns <= $cpu and row("pong_scope").total.cpu_ns <= $cpu'
	expect 'of two that call each other, both were there nearly all the time' '
		took(row("ping_scope").total.cpu_ns; $truth; 0.2; 4e7) and
		took(row("pong_scope").total.cpu_ns; $truth; 0.2; 4e7)' \
		--argjson truth "$(truth ping_scope)"
}

# One thread: depth - 127 pushes found no room, each counted, and none did harm.
deep()
{
	profiled none deep 0.2 300
	expect 'overflows are counted' '.ledger.events.profile_stack_overflows == 300 - 127'
	expect 'what fits is there' 'row("deep_odd").total.cpu_ns > 0 and
		row("deep_even").total.cpu_ns > 0'
}

# Whose work it is, not who did it. Within what sampling noise allows on a busy machine; by how much
# the figures are off is measured in tests/bench.
pool_belongs()
{
	local name

	for name in submitter_one submitter_two submitter_three; do
		has_time $name 0.25
	done
	expect 'in the order of the shares' '
		row("submitter_one").total.cpu_ns < row("submitter_two").total.cpu_ns and
		row("submitter_two").total.cpu_ns < row("submitter_three").total.cpu_ns'
	expect 'all of the work has an owner' '
		row("pool_work").total.cpu_ns as $work |
		["submitter_one", "submitter_two", "submitter_three"] |
		map(. as $n | $n) | length == 3 and $work > 0'
}

pool()
{
	profiled none pool 0.6 20
	pool_belongs
}

polled_pool()
{
	poller_processor
	profiled "$poller" pool 0.6 20
	pool_belongs
}

forked()
{
	profiled none fork 0.3
	has_time inner_scope
	has_time child_scope
}

executed()
{
	profiled none exec 0.3
	has_time outer_scope
	has_time inner_scope
}

# Killed with procedures on its profile stacks, before another program that is measured.
killed()
{
	local cpu=$1

	# shellcheck disable=SC2016
	"$out/quartzctl" record --cpu "$cpu" -o "$T/profile" -- bash -c \
		'"$1" die 0.2; [ $? = 137 ] && "$1" scopes 0.3' - "$programs/profiled" \
		>program.out 2>record.err || fail "record ended with status $?"
	lawful
	expect 'what it was in when it died is there' '
		row("last_scope").total.cpu_ns > 1e8 and row("for_ever_scope").total.cpu_ns > 0'
	scopes_are_right
}

polled_killed()
{
	poller_processor
	killed "$poller"
	polled_are_divided
}

# Each has a page set of its own, or is counted as one that was refused.
crowd()
{
	local have

	events_lost=true
	profiled none crowd 1000
	have=$(sed -n 's/^truth crowd //p' program.out)
	expect 'every process has a page set' '$have + .ledger.events.pages_refused == 1000' \
		--argjson have "$have"
	[ "$have" -gt 0 ] || fail 'none has'
}

# 1,000 threads one after the other and 64 at once use the same slots again.
churn()
{
	events_lost=true
	profiled none churn 1024
	expect 'all had a slot' '.ledger.events.profile_slots_refused == 0'
}

spinning()
{
	profiled none spin 0.4
	expect 'the thread that says that it spins does' '
		row("spin_scope").total | .spin_ns > 2 * .norm_ns'
}

instrumented()
{
	"$out/quartzctl" record --cpu none -o "$T/profile" -- "$programs/called" 0.3 1000 \
		>program.out 2>record.err || fail 'record failed'
	lawful
	main_is_all
	has_time loop
	expect 'functions are named by the symbol table' 'row("loop").module | endswith("/called")'
}

# calls PROCEDURE LIST NAME: how often, by LIST (callees, callers) of the report of a procedure.
calls()
{
	"$out/quartzctl" report -i profile --json "$1" >procedure.json 2>report.err ||
		fail "no report of $1" "$(cat report.err)"
	jq --arg list "$2" --arg name "$3" '
		[.scopes[0][$list][] | select(.procedure.name == $name) | .calls // 0] | add // 0' \
		procedure.json
}

# expect_calls PROCEDURE LIST NAME N
expect_calls()
{
	local n

	n=$(calls "$1" "$2" "$3")
	[ "$n" = "$4" ] || fail "$3 among the $2 of $1: $n calls, not $4"
}

# To the last call.
exact_calls()
{
	"$out/quartzctl" record --cpu none -o "$T/profile" -- "$programs/called" 0.3 300000 \
		>program.out 2>record.err || fail 'record failed'
	lawful
	expect_calls main callees loop 1
	expect_calls main callees middle 300000
	expect_calls main callees leaf 1
	expect_calls middle callees leaf 600000
	expect_calls leaf callers middle 600000
	expect_calls leaf callers main 1
	expect_calls loop callers main 1
	expect 'none was refused' '.ledger.events.profile_calls_refused == 0'
}

# By hand, too: those that found room tell their callers.
counted_scopes()
{
	profiled none deep 0.2 300
	expect_calls deep_even callees deep_odd 63
	expect_calls deep_odd callees deep_even 63
}

# What half a million scopes cost is taken out of the figures, all of it: they have it. Samples in the
# library come on top, and each division may leave a nanosecond.
taken_out()
{
	"$out/quartzctl" record --cpu none -o "$T/profile" -- "$out/tests/bench/scopes" 500000 \
		>program.out 2>record.err || fail 'record failed'
	lawful
	main_is_all
	expect_calls '[libquartz]:main' callees work 510000
	# half of it was main's, which may have too little time of its own to take that from
	expect 'the calibrated cost is not in the figures' '
		.ledger.events.libquartz_scope_ps as $ps | $ps > 0 and
		.ledger.events.libquartz_ns >= (510000 * $ps / 1000 | floor) - 2 and
		.scopes[0].instrumentation_cpu_ns >= (255000 * $ps / 1000 | floor) - 2'
}

# Several processes of one job, one after the other: their calls are added up.
summed_calls()
{
	"$out/quartzctl" record --cpu none -o "$T/profile" -- \
		bash -c '"$1" 0.2 1000; "$1" 0.2 200; "$1" 0.2 30' - "$programs/called" \
		>program.out 2>record.err || fail 'record failed'
	lawful
	expect_calls called:main callees middle 1230
	expect_calls called:main callees loop 3
}

# By the program's own word, whatever the variable is called.
named_object()
{
	profiled none named 0.2
	"$out/quartzctl" objects -i profile --json >objects.json || fail 'no objects'
	jq -e '[.scopes[0].objects[] | select(.name == "the bell")] |
		length == 1 and .[0].object_kind == "condition" and .[0].waits >= 1' \
		objects.json >/dev/null ||
		fail "$(jq -c '[.scopes[0].objects[] | [.object_kind, .name, .waits]]' objects.json)"
}

# ---- quartzd comes and goes ----

linger()
{
	start linger "$programs/profiled" linger "$T/go"
	lingering=$pid
	await linger.out ready
}

# Attaches to it, and says whether its profile stack was seen.
attach_and_look()
{
	attach --pid "$lingering" -d 1
	finished
	lawful
	expect 'the scope is seen' 'row("linger_scope").total.cpu_ns > 0 and
		row("linger_scope").module == "[libquartz]"'
}

# One that was there before any quartzd, and so before there was a flag to map.
first()
{
	[ ! -e "$QUARTZ_RUNTIME_DIR/page.flag" ] || fail 'there has been a quartzd'
	linger
	touch go
	attach_and_look
	attach_and_look
}

# Programs that run already learn of each quartzd, from the first one on that the machine has had; one
# that was killed leaves nothing in the way.
restarted()
{
	start_busy 1
	attach --pid "$busy"
	linger
	kill_now "$daemon"
	touch go
	attach_and_look
	attach_and_look
	kill -0 "$lingering" || fail 'the program has not survived'
}

# A service manager may remove the runtime directory each time, and with it the flag that programs have mapped.
removed()
{
	start_busy 1
	attach --pid "$busy"
	linger
	kill_now "$daemon"
	touch go
	rm -r "$QUARTZ_RUNTIME_DIR"
	attach_and_look
	rm -r "$QUARTZ_RUNTIME_DIR"
	attach_and_look
	attach_and_look
	kill -0 "$lingering" || fail 'the program has not survived'
}

absent()
{
	"$programs/profiled" scopes 0.05 >program.out || fail "without quartzd: status $?"
	[ "$(truth inner_scope | wc -l)" = 2 ] || fail 'it has not run'
}

# ---- bad clients ----

clients()
{
	mkdir -p "$QUARTZ_RUNTIME_DIR"
	start_busy 1
	attach --pid "$busy"
	python3 "$here/page_clients.py" "$QUARTZ_RUNTIME_DIR/page.sock" "$(tables_size)" \
		>clients.out 2>clients.err ||
		fail "$(cat clients.out clients.err)"
	detach
	lawful
}

# A process that is measured writes garbage all over its page set, all the time, and hands it on.
garbage()
{
	"$out/quartzd" --private --cpu none --page-rate 2000 -o "$T/profile" -- \
		python3 "$here/page_garbage.py" 1.5 "$(tables_size)" >program.out 2>record.err ||
		fail "record ended with status $?" "$(cat program.out record.err)"
	lawful
	expect 'it was measured all the same' '.scopes[0].cpu_ns > 0'
}

# A process that is not measured gets it, and writes on when its owner has gone and others run.
bequeathed()
{
	start heir python3 "$here/page_heir.py" "$T/heir.sock"
	await heir.out ready
	# shellcheck disable=SC2016
	"$out/quartzctl" record --cpu none -o "$T/profile" -- bash -c \
		'python3 "$1/page_garbage.py" 0 "$2" heir.sock && "$3" scopes 0.3' - \
		"$here" "$(tables_size)" "$programs/profiled" >program.out 2>record.err ||
		fail "record ended with status $?"
	lawful
	grep -q inherited heir.out || fail 'nothing was handed over'
	scopes_are_right
}

# A slot that is read while it changes to whatever there is.
spoiled()
{
	profiled none garbage 0.5
	expect 'it was measured all the same' '.scopes[0].cpu_ns > 4e8'
}

polled_spoiled()
{
	poller_processor
	profiled "$poller" garbage 0.5
	expect 'it was measured all the same' '.scopes[0].cpu_ns > 4e8'
	expect 'the poller has met garbage' '.ledger.events.page_slots_invalid > 0'
}

try 'scopes by the sampler' scopes
try 'scopes by a poller' polled_scopes
try 'a scope called as the procedure around it' mangled
thorough 'recursive procedures' recursive
try 'a profile stack that overflows' deep
try 'a pool works for its submitters' pool
thorough 'a pool by a poller' polled_pool
try 'a fork' forked
thorough 'an exec' executed
thorough 'a program that is killed' killed none
thorough 'the same beside a poller' polled_killed
thorough 'many processes at once' crowd
thorough 'many short threads' churn
try 'a thread says that it spins' spinning
try 'instrumented by the compiler' instrumented
try 'exact numbers of calls' exact_calls
thorough 'exact numbers of scopes' counted_scopes
try 'time in libquartz is taken out' taken_out
thorough 'calls of several processes' summed_calls
thorough 'an object with a name of its own' named_object
thorough 'quartzd is started for the first time' first
thorough 'quartzd is started anew' restarted
thorough 'quartzd is started anew, and its directory was removed' removed
try 'no quartzd' absent
try 'bad clients' clients
# flood USER N ARG...: as that user; sets what it got.
flood()
{
	local user=$1

	shift
	start "flood.$user" setpriv --reuid "$user" --regid "$user" --clear-groups ./page_flood "$@"
	await "flood.$user.out" 'truth segments'
	sets=$(truth_of sets "flood.$user.out")
	segments=$(truth_of segments "flood.$user.out")
}

truth_of()
{
	sed -n "s/^truth $1 //p" "$2"
}

# Shared memory that is charged to quartzd, in kB: all that reading slots could make.
shared_memory()
{
	awk '/^RssShmem:/ { print $2 }' "/proc/$daemon/status"
}

# flooded CPU SEGMENTS PROCESSES ARG...: a user whose processes take page sets and as many segments as they get,
# claim all slots and touch none, has no effect on quartzd's memory, and leaves some to others.
flooded()
{
	local cpu=$1 most=$2 processes=$3

	shift 2
	chmod 711 "$T"
	cp "$programs/page_flood" .
	events_lost=true
	attach --system --cpu "$cpu"
	flood 65534 "$@"
	[ "$sets" = "$processes" ] || fail "it got $sets page sets"
	[ "$segments" -ge 1000 ] && [ "$segments" -le "$most" ] || fail "it got $segments segments"
	flood 65533 1
	[ "$segments" = 256 ] || fail "another user got $segments segments, not 256"
	for _ in $(seq 60); do
		! "$out/quartzctl" report --scope all --json >live.json 2>live.err || break
		sleep 1
	done
	[ -s live.json ] || fail 'no report'
	[ "$(shared_memory)" = 0 ] || fail "quartzd has $(shared_memory) kB of shared memory"
	detach
}

# There is room for 24,576 segments.
flooded_unpolled()
{
	flooded none 8000 100
	jq -e '.ledger.events.pages_refused > 0' live.json >/dev/null || fail 'none was refused'
}

flooded_polled()
{
	poller_processor
	flooded "$poller" 1024 4 run
}

# Every event is in the log, or counted as overwritten by a later one.
events()
{
	poller_processor
	profiled "$poller" events 20
	"$out/quartzctl" events -i profile --json --between 1:2 >events.json || fail 'no events'
	jq -e --argjson n "$(sed -n 's/^truth events //p' program.out)" '
		.complete and .dropped == 0 and .events + .lost == $n and
		(.intervals[0] | .raw.count + .broken <= 20 and .raw.count >= .culled.count and
		 (.raw.buckets | add) == .raw.count) and
		([.values[].value] - [1, 2, 77] == [])' events.json >/dev/null ||
		fail "$(cat events.json)"
}

try 'events' events
try 'garbage in the page set' garbage
try 'a page set in the hands of a stranger' bequeathed
thorough 'page sets that claim all there is' flooded_unpolled
thorough 'page sets that claim all, beside a poller' flooded_polled
thorough 'garbage in the slot of a thread that runs' spoiled
thorough 'the same by a poller' polled_spoiled
