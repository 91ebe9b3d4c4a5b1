# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034,SC2016
# quartzd in a pid namespace, as in a container: all pids are those of the namespace.

# contained COMMAND...: as process 1 of a new namespace; it ends with all others there.
contained()
{
	timeout --foreground 300 unshare --pid --fork --mount-proc --kill-child "$@"
}

# script TEXT: the same for a script that ends at the first failure. It finds $out, $programs, and
# threads PID N, which waits until a process has so many.
script()
{
	contained bash -uec '
		out=$1 programs=$2
		threads()
		{
			until [ "$(ls "/proc/$1/task" | wc -l)" = "$2" ]; do sleep 0.05; done
		}
		'"$1" - "$out" "$programs" >script.out 2>script.err
	status=$?
	[ $status = 0 ] || fail "the script ended with status $status"
}

# What a program says of its threads, as a list of their numbers in order.
numbers()
{
	sed -n 's/^{"thread": \([0-9]*\),.*/\1/p' "$1" | sort -nu | jq -sc .
}

recorded()
{
	contained "$out/quartzctl" record --cpu none -o "$T/profile" -- "$programs/phases" 2:0.3 \
		>program.out 2>record.err
	status=$?
	[ $status = 0 ] || fail "record ended with status $status"
	lawful
	main_is_all
	expect 'its threads, by their numbers there' '.scopes[0] | .kind == "job" and .ended and
		([.threads[].tid] | sort) == $numbers' --argjson numbers "$(numbers program.out)"
	expect 'all of it in phase_2' 'cut as $cut | .scopes[0].busy_ns as $busy |
		near(row("phase_2").total.norm_ns; $busy; 0.05; 2e7 + $cut)'
}

# A process, its descendants, and all that there is, from 1 down.
attached()
{
	local how

	for how in --pid --tree; do
		script '
			"$programs/phases" --time 2:600 & busy=$!
			threads $busy 2
			"$out/quartzd" --cpu none -o profile '$how' $busy --duration 1
			echo $busy; ls /proc/$busy/task'
		lawful
		expect "$how: its two threads, by their numbers there" '.scopes[0] |
			.pid == $said[0] and .samples > 0 and
			([.threads[].tid] | sort) == ($said[1:] | sort)' \
			--slurpfile said script.out
	done
	script '
		"$programs/phases" --time 2:600 & busy=$!
		threads $busy 2
		"$out/quartzd" --cpu none -o profile --tree 1 --duration 1
		echo $busy'
	events_lost=true
	lawful
	expect 'the tree of its first process' '.scopes[0] as $s | $s.pid == 1 and
		([$s.threads[] | select(.pid == $said[0])] | length) == 2 and
		row("phase_2").self.samples > 0' --slurpfile said script.out
}

# Not the host's processes, neither one that was there nor one that comes.
whole()
{
	start_busy 1
	start others bash -c 'while :; do /bin/true; done'
	script '
		"$programs/phases" --time 3:600 & busy=$!
		threads $busy 3
		"$out/quartzd" --cpu none --max-overhead 0 -o profile --system & daemon=$!
		until "$out/quartzctl" report --scope pid=$busy --json >live.json 2>live.err; do
			kill -0 $daemon
			sleep 0.1
		done
		"$out/quartzctl" ps --json >ps.json
		"$out/quartzctl" status >status.out
		sleep 0.5
		kill -INT $daemon
		wait $daemon
		echo $busy
		ls /proc | grep "^[0-9]"'
	events_lost=true
	lawful
	expect 'no scope of the kernel, and one of each process' '
		.scopes[0] as $m | $m.kind == "machine" and all(.scopes[1:][]; .kind == "process" and
			.pid > 0 and .pid <= 10 * ($said | max)) and
		([.scopes[] | select(.comm == "phases")] | map(.pid)) == [$said[0]] and
		([.scopes[] | select(.comm == "sleep")] | length) >= 1 and
		([.scopes[] | select(.comm == "true")] | length) == 0' --slurpfile said script.out
	expect 'processors that run others are not busy' '.scopes[0] as $m |
		([.scopes[1:][].threads[].running_ns] | sum) as $ran |
		near([$m.level_ns | to_entries[] | .key * .value] | sum; $ran; 0.05; 5e7) and
		.ledger.filtered > 0'
	jq -e --slurpfile said script.out 'any(.rows[]; .pid == $said[0] and .name == "phases")' \
		ps.json >/dev/null || fail 'ps does not show it' "$(cat ps.json)"
	grep -q 'of this PID namespace, not of the host' script.err || fail 'it is not said'
	"$out/quartzctl" report -i profile | grep -q '^processes of a PID namespace' ||
		fail 'the report does not say it'
}

# The number of a thread that executes a program is its process's from then on.
executed()
{
	contained "$out/quartzctl" record --cpu none -o "$T/profile" -- \
		"$programs/exec_in_place" thread 0.2 >program.out 2>record.err
	status=$?
	[ $status = 0 ] || fail "record ended with status $status"
	lawful
	expect 'before and after' 'row("before_exec").self.samples > 0 and
		row("after_exec").self.samples > 0'
	jq -e '.scopes[0].pid as $pid | [.threads[] | select(.tid == $pid)] | length == 2' \
		meta.json >/dev/null || fail 'not two threads of this number' "$(jq -c .threads meta.json)"
}

# A process of a namespace below quartzd's, from each of the two above it.
from_above()
{
	start below unshare --pid --fork --mount-proc --kill-child "$programs/phases" --time 2:600
	for ((i = 0; i < 400; i++)); do
		busy=$(pgrep -P "$pid" -x phases) && break
		sleep 0.05
	done
	await_threads "$busy" 2
	attach --pid "$busy" --duration 1s
	finished
	lawful
	expect 'the numbers of the host' '.scopes[0] | .pid == $busy and .samples > 0 and
		([.threads[].tid] | sort) == ($tasks | sort)' --argjson busy "$busy" \
		--argjson tasks "$(ls "/proc/$busy/task" | jq -sc .)"
	script '
		unshare --pid --fork --mount-proc --kill-child "$programs/phases" --time 2:600 & above=$!
		until busy=$(pgrep -P $above -x phases); do sleep 0.05; done
		threads $busy 2
		"$out/quartzd" --cpu none -o profile --pid $busy --duration 1
		echo $busy; ls /proc/$busy/task'
	lawful
	expect 'the numbers of the namespace between' '.scopes[0] |
		.pid == $said[0] and .samples > 0 and ([.threads[].tid] | sort) == ($said[1:] | sort)' \
		--slurpfile said script.out
}

# What a program with libquartz says of itself comes from the one whom the kernel names.
instrumented()
{
	contained "$out/quartzctl" record --cpu none -o "$T/profile" -- "$programs/profiled" scopes 0.3 \
		>program.out 2>record.err
	status=$?
	[ $status = 0 ] || fail "record ended with status $status"
	lawful
	expect 'its own procedures' 'row("outer_scope").module == "[libquartz]" and
		row("outer_scope").total.cpu_ns > 0'
}

# Two that share a runtime directory, and are process 1 each: neither takes the other's socket away.
side_by_side()
{
	start first unshare --pid --fork --mount-proc --kill-child \
		"$out/quartzctl" record --cpu none -o "$T/profile" -- sh -c '
			echo there
			until [ -e second.done ]; do sleep 0.05; done
			"$1" scopes 0.2' - "$programs/profiled"
	await first.out there
	contained "$out/quartzctl" record --cpu none -o "$T/second" -- "$programs/profiled" scopes 0.2 \
		>program.out 2>record.err
	status=$?
	[ $status = 0 ] || fail "the second record ended with status $status"
	touch second.done
	ended "$pid"
	[ "$status" = 0 ] || fail "the first record ended with status $status"
	lawful
	expect 'procedures of the first' 'row("outer_scope").module == "[libquartz]"'
	mv second profile
	lawful
	expect 'procedures of the second' 'row("outer_scope").module == "[libquartz]"'
	! compgen -G 'run/private.*' || fail 'a directory was left'
}

# refused STATUS WORDS COMMAND...
refused()
{
	local expected=$1 words=$2

	shift 2
	timeout --foreground 60 "$@" >refused.out 2>refused.err
	status=$?
	[ $status = "$expected" ] || fail "status $status, not $expected" "$(cat refused.err)"
	[ "$(wc -l <refused.err)" = 1 ] || fail 'not one line' "$(cat refused.err)"
	grep -q -e "$words" refused.err || fail "not about '$words'" "$(cat refused.err)"
	[ ! -e ran ] || fail 'the command was run all the same'
}

unable()
{
	local without='-bpf,-perfmon,-sys_admin'

	refused 5 'another PID namespace.*mount -t proc' \
		unshare --pid --fork "$out/quartzctl" record -o profile touch ran
	refused 4 'CAP_BPF and CAP_PERFMON' unshare --pid --fork --mount-proc \
		setpriv --bounding-set=$without --inh-caps=$without \
		"$out/quartzctl" record -o profile touch ran
	refused 4 'seccomp profile that lets bpf pass' "$here/refuse.py" bpf \
		"$out/quartzctl" record -o profile touch ran
	refused 4 'seccomp profile that lets perf_event_open pass' "$here/refuse.py" perf_event_open \
		"$out/quartzctl" record -o profile touch ran
	"$here/refuse.py" bpf,perf_event_open "$out/quartzctl" doctor >doctor.out
	grep -q '^fail  capabilities .* refused: bpf and perf_event_open$' doctor.out ||
		fail 'doctor does not say it' "$(cat doctor.out)"
	refused 4 'CAP_BPF and CAP_PERFMON' unshare --user --map-root-user --pid --fork --mount-proc \
		"$out/quartzctl" record -o profile touch ran
}

try 'record in a PID namespace' recorded
thorough 'attach in a PID namespace' attached
thorough 'the whole of a PID namespace' whole
try 'exec by a thread in a PID namespace' executed
thorough 'a PID namespace from above' from_above
try 'libquartz in a PID namespace' instrumented
thorough 'two PID namespaces with one directory' side_by_side
try 'where it cannot measure' unable
