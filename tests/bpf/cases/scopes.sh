# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034
# Several scopes at once, trees of processes, the whole machine.

# Two processes: neither knows of the other's threads.
two_processes()
{
	local one four

	start one "$programs/phases" --time 1:600
	one=$pid
	start_busy 4
	four=$busy
	attach --pid "$one" --pid "$four" --duration 1s
	finished
	lawful
	expect 'a scope for each' '[.scopes[] | [.kind, .pid]] ==
		[["process", $one], ["process", $four]]' --argjson one "$one" --argjson four "$four"
	expect 'the first is never parallel' '.scopes[0].level_ns[2:] | sum == 0'
	# from the moment on at which it was found: quartzd itself may be kept waiting before
	expect 'each is always runnable' '[.scopes[].threads | length] == [1, 4] and
		all(.scopes[]; all(.threads[]; .blocked_ns < 1e6) and
			near(.runnable_ns; [.threads[] | .end_ns - .start_ns - .unknown_ns] | sum; 0.01; 2e7))'
	expect 'each has its own procedures' '[.scopes[].rows | map(.name)] |
		(.[0] | index("phase_1") and (index("phase_4") | not)) and
		(.[1] | index("phase_4") and (index("phase_1") | not))'
}

# A shell with children from before, and children that come later.
tree()
{
	local go=go

	mkfifo "$go"
	start tree bash -c '
		"$1/phases" --time 2:600 >before.out &
		until [ $(ls /proc/$!/task | wc -l) = 2 ]; do :; done
		echo ready
		read -r <go
		"$1/phases" --time 1:$2 >after.out
		kill -KILL $!
		wait' - "$programs" $((3 * slow * slow))e-1
	await tree.out ready
	attach --tree "$pid"
	echo >"$go"
	finished
	lawful
	expect 'one scope' '.scopes | length == 1 and .[0].kind == "tree" and .[0].ended'
	expect 'children from before and after' 'cut as $cut | row("phase_2").self.cpu_ns > 0 and
		took(row("phase_1").total.cpu_ns; $cpu; 0.1; 2e7 + $cut)' \
		--argjson cpu "$(sed -n 's/^phase phase_1 .*cpu_ns //p' after.out)"
	expect 'shell and two programs' '[.scopes[0].threads[].pid] | unique | length == 3'
}

# Processor time of each process that has not lost a thread meanwhile: "PID THREADS NS".
cpu_of_all()
{
	awk '{ split(FILENAME, part, "/"); ns[part[3]] += $1; ids[part[3]] = ids[part[3]] "," part[5] }
		END { for (p in ns) printf "%d %s %.0f\n", p, ids[p], ns[p] }' \
		/proc/[0-9]*/task/[0-9]*/schedstat 2>/dev/null | sort
}

# "PID NS" of what a process used between two of these, where its threads are the same.
between()
{
	join "$1" "$2" | awk '$2 == $4 { printf "%d %.0f\n", $1, $5 - $3 }' | sort
}

# As with one process: what the kernel says before and after brackets what was measured between.
machine()
{
	start_busy 3
	cpu_of_all >before
	attach --system --max-overhead 0
	cpu_of_all >begin
	sleep 2
	cpu_of_all >end
	detach
	cpu_of_all >after
	events_lost=true
	lawful
	between begin end >inner
	between before after >outer
	join inner outer | jq -nR '[inputs / " " | map(tonumber)]' >brackets.json
	expect 'every busy process' '[.scopes[].pid] as $known |
		all($brackets[0][] | select(.[1] > 5e7); .[0] | IN($known[]))' \
		--slurpfile brackets brackets.json
	expect 'processor time of each process is what the kernel says' '
		(.scopes | map({key: "\(.pid)", value: .cpu_ns}) | from_entries) as $cpu |
		[$brackets[0][] | . + [$cpu["\(.[0])"] // empty] | select(length == 4) |
		 select(.[3] < .[1] * 0.98 - 4e7 or .[3] > .[2] * 1.02 + 4e7)] == []' \
		--slurpfile brackets brackets.json
	expect 'the machine is the first, the kernel the second' '
		[.scopes[:2][] | [.kind, .pid]] == [["machine", 0], ["kernel", 0]]'
	"$out/quartzctl" ps -i profile --json >ps.json || fail "ps ended with status $?"
	jq -e --slurpfile report report.json '
		def sum: add // 0;
		$report[0].scopes[0] as $machine |
		(([.rows[].norm_ns] | sum) + .unattributed_ns == .busy_ns) and
		.busy_ns == $machine.busy_ns and
		([.rows[].cpu_ns] | sum) == $machine.cpu_ns and
		([.rows[].samples] | sum) == $machine.samples and
		([.rows[].threads] | sum) == $machine.threads_seen and
		.rows_total == ($report[0].scopes | length) - 1 and
		(.rows | map(.norm_ns) | . == (sort | reverse))' ps.json >ps.out ||
		fail 'processes do not add up to the machine' "$(cat ps.json)"
	expect 'each process for itself' '[.scopes[] | select(.pid == $busy)][0] |
		.kind == "process" and near(.runnable_ns; 3 * .elapsed_ns; 0.01; 6e7)' \
		--argjson busy "$busy"
}

# What the kernel says of processes and of idle processors, in ns.
look()
{
	cpu_of_all >"$1.cpu"
	awk '/^cpu / { printf "%.0f\n", ($5 + $6) * 1e7 }' /proc/stat >"$1.idle"
}

# At two times, each between two looks: what is measured between them lies between the inner and the outer differences of
# what the kernel says, however few samples there are.
kernel_figures()
{
	local i tries

	start_busy 1
	attach --system --max-overhead 0 --rate 2
	for i in 1 2; do
		for ((tries = 0; tries < 10; tries++)); do # it may be late on a busy machine
			look "before$i"
			"$out/quartzctl" report --scope all --json >"at$i.json" 2>live.err
			[ $? = 1 ] || break
		done
		look "after$i"
		[ $i = 2 ] || sleep 4
	done
	detach
	between after1.cpu before2.cpu >inner
	between before1.cpu after2.cpu >outer
	join inner outer | jq -nR '[inputs / " " | map(tonumber)]' >brackets.json
	cp at2.json report.json
	expect 'processor time of each process, within 1 % or 2 ticks' '
		def cpu: .scopes | map({key: "\(.pid)", value: .cpu_ns}) | from_entries;
		cpu as $last | ($first[0] | cpu) as $begin |
		[$brackets[0][] | . + [try ($last["\(.[0])"] - $begin["\(.[0])"]) catch empty] |
		 select(length == 4) |
		 select(.[3] < .[1] * 0.99 - 2e7 - $stolen or .[3] > .[2] * 1.01 + 2e7 + $stolen)] |
		 . == [] or (tojson[:300] | error)' \
		--slurpfile brackets brackets.json --slurpfile first at1.json \
		--argjson stolen $(($(stolen_ns) - stolen_before))
	# A tick of each processor is cut off at each look; interrupts out of idle are in ours alone. Since when a
	# processor is idle that became so unseen, the kernel tells, and 10 ms are for what else goes unseen. And it
	# looks once in a tick what runs: to it, all that ran for less may have been idle time, or more than it was.
	expect 'idle processors, within 1 % or 2 ticks of each' '
		def idle($p): .scopes[0] | $p * .elapsed_ns - ([.level_ns | to_entries[] |
			.key * .value] | sum);
		([.scopes[1:][] | select(.pid != $busy) | .cpu_ns] | sum) as $short |
		($stolen + $short + .ledger.events.implicit_switches * 1e7) as $unseen |
		.processors as $p | (idle($p) - ($first[0] | idle($p))) as $ours |
		$ours >= $inner * 0.99 - $p * 2e7 - $unseen and
		$ours <= $outer * 1.01 + $p * 2e7 + $unseen or
		("\($inner) \($ours) \($outer) stolen \($stolen)" | error)' \
		--slurpfile first at1.json --argjson stolen $(($(stolen_ns) - stolen_before)) \
		--argjson busy "$busy" --argjson inner $(($(cat before2.idle) - $(cat after1.idle))) \
		--argjson outer $(($(cat after2.idle) - $(cat before1.idle)))
}

# Many more processes than may be followed at a time: numbers of ended ones are used again. What ended ones
# leave is put together, and no sum is lost: the laws hold, of the machine too. Other programs of the machine
# may need numbers as well: what is refused is counted. Two quartzds see the same processes: one has memory for those that
# ended, and the other one has none.
turnover()
{
	local round i most memory daemons=()

	cp "$programs/phases" "$T/turned" # with two threads, it is never a group's
	# Where the kernel does not tell of all switches, and an idle processor is not sampled, it may seem busy
	# until its next switch: let none be idle.
	start busy nice -n 19 "$programs/phases" --time "$(nproc):600"
	most=$(($(ls /proc | grep -c '^[0-9]') + 350))
	for memory in 32 0; do
		mkdir $memory
		QUARTZ_RUNTIME_DIR=$T/$memory/run QUARTZ_STATE_DIR=$T/$memory/state start quartzd$memory "$out/quartzd" --cpu none \
			--output "$T/$memory/profile" --system --processes "$most" --ended-memory $memory
		daemons+=("$pid")
		await quartzd$memory.err 'attached to'
	done
	for round in 0 1; do
		# a number is free when nothing of its process is on its way: some turns of the tables
		[ $round = 0 ] || sleep 9
		for ((i = 0; i < 300; i++)); do
			"$T/turned" --time 2:0.001 >turned.out
		done
	done
	kill -INT "${daemons[@]}"
	for daemon in "${daemons[@]}"; do
		finished
	done
	for memory in 32 0; do
		cd "$T/$memory" || return
		QUARTZ_STATE_DIR=$PWD/state turned_over $memory "$most"
	done
}

# turned_over MEMORY MOST: what the profile here has.
turned_over()
{
	local most=$2 lost folded

	events_lost=true
	lawful
	"$out/quartzctl" ps -i profile --by comm -n 0 --json >ps.json || fail "ps ended with status $?"
	folded=$(jq .ledger.events.processes_folded report.json)
	lost=$(jq '.ledger.events | .events_lost + .scopes_refused + .threads_unnumbered' report.json)
	"$out/quartzctl" report --since @0 --scope machine --json >merged.json 2>merged.err ||
		fail "report --since ended with status $?"
	expect 'slices have what was put together, too' '.scopes[0] as $a | $merged[0].scopes[0] as $b |
		$a.level_ns == $b.level_ns and $a.samples == $b.samples' --slurpfile merged merged.json
	expect 'more processes than numbers' '(.scopes | length) + $folded > $most + 100' \
		--argjson folded "$folded" --argjson most "$most"
	if [ "$1" = 0 ]; then
		[ "$folded" -gt 200 ] || fail "only $folded processes were put together"
		expect 'what was put together is one' '
			[.scopes[] | select(.pid == 0 and .comm == "other (ended)")] |
			length == 1 and .[0].threads_seen >= $folded' \
			--argjson folded "$folded"
	else
		jq -e --argjson lost "$lost" '
			[.rows[] | select(.name == "turned") | .processes] | add |
			. <= 600 and 600 - . <= $lost' ps.json >ps.out ||
			fail 'not all of them have their names' \
				"$(jq -c '.rows[] | [.name, .processes]' ps.json)"
	fi
}

# Processes that end within a second are a group, and need no numbers: there are far fewer than processes. One that
# was in a report while it lived is a scope of its own. All of them are counted, and so is their time. A process that
# lives for longer has all that it did.
short_lived()
{
	local i most

	cp /bin/true "$T/short"
	most=$(($(find /proc -maxdepth 1 -name '[0-9]*' | wc -l) + 200))
	attach --system --max-overhead 0 --processes "$most"
	start lasting "$programs/phases" --time 1:$((2 * slow))
	lasting=$pid
	"$programs/forks" 3000 4 >forks.out
	for ((i = 0; i < 300; i++)); do
		"$T/short"
	done
	ended "$lasting"
	detach
	events_lost=true
	# of the end of a process and of the start of the next one, the kernel's account leaves out some 12 us; of one
	# that comes to an idle processor it has as much too much
	LEFT_OUT=$((3300 * 50000 * slow)) lawful
	expect 'nothing refused' '.ledger.events.scopes_refused == 0'
	expect 'forked processes are a group' '[.scopes[] | select(.comm == "forks")] |
		([.[].threads_seen] | add) == 3001 and
		([.[] | select(.pid == 0)] | length == 1 and .[0].threads_seen > 2900)'
	expect 'executed ones are a group' '[.scopes[] | select(.comm == "short")] |
		([.[].threads_seen] | add) == 300 and
		([.[] | select(.pid == 0)] | length == 1 and .[0].threads_seen > 200)'
	expect 'the time of all of them is there' '
		[.scopes[] | select(.comm == "forks").cpu_ns] | add |
		. > 0.97 * $cpu - 2e7' --argjson cpu "$(sed -n 's/^truth create_child cpu_ns \([0-9]*\).*/\1/p' forks.out)"
	expect 'a group has one level, and the code of its processes' '
		[.scopes[] | select(.comm == "forks" and .pid == 0)][0] |
		(.level_ns[2:] | add // 0) == 0 and .samples > 0 and
		([.rows[] | select(.name == "create_child") | .total.samples] | add) > 0'
	expect 'who lives for longer has all that it did' '
		[.scopes[] | select(.pid == $lasting)][0] | .comm == "phases" and
		near(.cpu_ns; $cpu; 0.05; 5e7) and
		near(.elapsed_ns; .threads[0] | .running_ns + .ready_ns + .blocked_ns; 0.01; 2e7) and
		([.rows[] | select(.name == "phase_1") | .self.samples] | add) > 0' \
		--argjson lasting "$lasting" \
		--argjson cpu "$(sed -n 's/^phase phase_1 .*cpu_ns //p' lasting.out)"
	"$out/quartzctl" ps -i profile --by comm --json >ps.json || fail "ps ended with status $?"
	jq -e '.rows[] | select(.name == "forks") | .processes == 3001' ps.json >ps.out ||
		fail 'not all are among the processes of the program' "$(jq -c '.rows[] | [.name, .processes]' ps.json)"
}

# Programs that ask for a page set are scopes of their own, though most forks are passed.
pages_in_storm()
{
	local i

	attach --system --max-overhead 0
	start storm "$programs/forks" 20000 4
	for ((i = 0; i < 20; i++)); do
		"$programs/profiled" mangled 0.01 >profiled.out || fail "profiled ended with status $?"
	done
	kill "$pid"
	detach
	events_lost=true
	LEFT_OUT=$((20000 * 50000 * slow)) lawful # as of processes that live for a moment
	expect 'each has its own figures' '[.scopes[] | select(.comm == "profiled" and .pid != 0)] | length == 20'
}

# Slices of a run add up to it, also those of processes that have ended: levels and samples exactly. Of
# what runs when a slice ends, the kernel's account comes later. What was sampled before its end may turn out later to be of no
# process that is known: it is accepted in the slice then, and lost in the run.
history()
{
	local i

	cp /bin/true "$T/short"
	start_busy 2
	attach --system --slice 1s
	for ((i = 0; i < 600; i++)); do
		[ "$i" -lt 40 ] || [ "$(ls "$T/state/history" | wc -l)" -lt 3 ] || break
		"$T/short"
		sleep 0.1
	done
	detach
	[ "$(ls "$T/state/history" | wc -l)" -gt 3 ] || fail 'hardly any slices' "$(ls "$T/state/history")"
	"$out/quartzctl" report --since @0 --scope all --json >merged.json 2>merged.err ||
		fail "report --since ended with status $?"
	events_lost=true
	lawful
	# shellcheck disable=SC2016
	jq -en --slurpfile whole report.json --slurpfile merged merged.json '
		def exact: [.scopes[] | select(.elapsed_ns > 0) | {kind, pid, comm, level_ns, elapsed_ns,
			samples, threads_seen, stack_ends: (.stack_ends | map_values(select(. > 0)))}] |
			sort_by(.kind, .pid, .comm, .elapsed_ns);
		($whole[0] | exact) as $a | ($merged[0] | exact) as $b |
		$a == $b or ([$a - $b, $b - $a] | tojson[:600] | error)' >exact.out 2>exact.err ||
		fail 'slices are not the run' "$(cat exact.err)"
	jq -en --slurpfile whole report.json --slurpfile merged merged.json '
		def near($a; $b): ($a - $b | fabs) <= ([0.01 * $b, 2e7] | max);
		def of($what): .scopes[0] | [.causes[][$what]] | add;
		$whole[0] as $a | $merged[0] as $b |
		([$a.ledger.lost[]] | add // 0) as $lost |
		($b.ledger.accepted - $a.ledger.accepted | . >= 0 and . <= $lost) and
		near($b.scopes[0].cpu_ns; $a.scopes[0].cpu_ns) and
		near($b | of("blocked_ns"); $a | of("blocked_ns")) and
		near($b.scopes[0].busy_ns; $a.scopes[0].busy_ns)' >near.out ||
		fail 'slices are far from the run' "$(jq -c '.ledger, (.scopes[0] | del(.rows, .threads))' \
			report.json merged.json)"
	"$out/quartzctl" ps --last 1h --by comm --json >ps.json || fail "ps ended with status $?"
	jq -e '[.rows[] | select(.name == "short") | .processes] | add > 30' ps.json >ps.out ||
		fail 'short processes are not in the history' "$(jq -c '.rows[] | [.name, .processes]' ps.json)"
	! "$out/quartzctl" report --until @1000 >none.out 2>none.err || fail 'there was nothing then'
	grep -q 'nothing of that time' none.err || fail "$(cat none.err)"
}

# Short programs that know who they are, all of their kinds at once: no sample stands under another process
# than it was taken of, nor under another version of the file, and none had to be refused.
identities()
{
	local kind pids=()

	attach --system --rate 1999 --max-overhead 0
	for kind in fork exec clone ns brood rw0; do
		start "$kind" "$programs/who_$kind" storm $((4 * slow)) 1
		pids+=("$pid")
	done
	for pid in "${pids[@]}"; do
		ended "$pid"
		[ "$status" = 0 ] || fail "a storm ended with status $status"
	done
	detach
	"$out/tests/bpf/whose" profile >whose.out 2>whose.err || fail "whose: $(cat whose.err)"
	! grep -q -v ' wrong 0 version 0 ' <(grep -v '^ledger' whose.out) || fail "$(cat whose.out)"
	# a busy machine leaves few samples to a kind, and a process may end before its file is read
	for kind in fork exec clone ns alike; do
		awk -v kind="$kind" '$1 == kind { exit !($3 > 0 || $9 < 50) }' whose.out || fail "none of $kind" "$(cat whose.out)"
	done
	grep -q '^ledger .* misplaced 0 ' whose.out || fail "$(cat whose.out)"
}

# Each round trip is a wait of each side. All are counted, though few stacks are walked. A side that finds its token there
# does not wait.
short_waits()
{
	attach --system --max-overhead 0
	start pingpong "$programs/pingpong" futex processes 300000
	game=$pid
	"$out/quartzctl" ps >live.out 2>live.err # from now on it is no process of a group, if it is a short one
	ended "$game"
	detach
	events_lost=true
	lawful
	expect 'both sides, and what they waited for' '[.scopes[] | select(.comm == "pingpong")] | length == 2 and
		all(.[]; .causes.futex.waits as $n | .causes.not_sampled == null and
			$n > 150000 and $n < 450000 and
			([.causes[] | .blocked_ns + .ready_ns] | sum) ==
				([.threads[] | .blocked_ns + .ready_ns] | sum))'
	expect 'little doubt that each waited for the other' '[.scopes[] | select(.comm == "pingpong")] |
		all(.[].causes.futex; (.waits_ci_ns // 0) < 0.1 * (.blocked_ns + .ready_ns))'
	expect 'far fewer stacks were walked, of all programs, than these two had waits' '.ledger.events.wait_stacks_walked * 2 <
		([.scopes[] | select(.comm == "pingpong").causes.futex.waits] | add)'
}

# Each wait is known, of a machine's processes, too. What its clock was late by, or where it lost the processor, is not in a wait.
both_waits()
{
	attach --system --max-overhead 0
	start two_waits "$programs/two_waits" 3
	ended "$pid"
	detach
	"$out/quartzctl" report -i profile --scope all --json >report.json || fail "report ended with status $?"
	expect 'how long it waited in poll and for a futex' '[.scopes[] | select(.comm == "two_waits")][0].causes as $c |
		([$c | to_entries[] | select(.key | IN("poll", "futex") | not) | .value.blocked_ns + .value.ready_ns] |
			add // 0) as $others |
		all({poll: $poll, futex: $futex} | to_entries[]; .value as $ns | $c[.key] |
			(.blocked_ns + .ready_ns) as $waited | (.waits_ci_ns // 0) == 0 and
			near($waited; $ns; 0.1; 1e7 + $others))' \
		--argjson poll "$(sed -n 's/^truth poll .*elapsed_ns //p' two_waits.out)" \
		--argjson futex "$(sed -n 's/^truth futex .*elapsed_ns //p' two_waits.out)"
}

# Alone in its process at first, where the kernel's accounts are what it is counted by, and then not any more.
gets_company()
{
	attach --system --max-overhead 0
	start_busy 3
	sleep 1
	detach
	events_lost=true
	lawful
	expect 'three threads that always could run' '[.scopes[] | select(.pid == $busy)][0] |
		.threads_seen == 3 and (.threads | length) == 3 and
		all(.threads[]; .unknown_ns == 0 and
			near(.running_ns + .ready_ns; .end_ns - .start_ns; 0.05; 1e8))' --argjson busy "$busy"
}

thorough 'two processes' two_processes
try 'a tree of processes' tree
try 'the whole machine' machine
thorough "the machine by the kernel's figures, two samples a second" kernel_figures
try 'processes that live for a moment' short_lived
try 'programs with libquartz in a storm of forks' pages_in_storm
try 'many short waits are all counted' short_waits
try 'what two kinds of waits took' both_waits
try 'a process that gets threads' gets_company
try 'programs that know who they are' identities
thorough 'more processes than numbers and memory' turnover
try 'slices are the run' history
