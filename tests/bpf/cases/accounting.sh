# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Launched programs that know what they did.

# Each procedure's processor time, where there are samples enough to tell: within four times their
# standard deviation.
procedures_are_true()
{
	grep '"procedure"' program.out >procedures.json
	expect 'processor time of each procedure' '
		. as $r | (1e9 / .rate_hz) as $period |
		all($procedures[]; . as $p | $r | took(row($p.procedure).self.cpu_ns; $p.cpu_ns; 0.02;
			4 * ($p.cpu_ns * $period | sqrt)))' \
		--slurpfile procedures procedures.json
}

threads_are_true()
{
	grep '"thread"' program.out | jq -s 'group_by(.thread) |
		map({tid: .[0].thread, cpu_ns: map(.cpu_ns) | add})' >threads.json
	expect 'processor time of each thread' '
		.scopes[0] as $s | all($threads[0][]; . as $t |
			[$s.threads[] | select(.tid == $t.tid)][0].cpu_ns |
			near(.; $t.cpu_ns; 0.01; if $t.tid == $s.pid then 1e7 * $slow else 1e6 end))' \
		--slurpfile threads threads.json --argjson slow "$slow"
}

# edges callees|callers PROCEDURE: how the others are reached, as "VIA NAME", into edges.out.
edges()
{
	local option=

	[ "$1" = callees ] || option=--callers
	# shellcheck disable=SC2086
	"$out/quartzctl" report -i profile "$2" --json $option >procedure.json ||
		fail "report $2 ended with status $?"
	jq -r ".scopes[0].$1[] | \"\(.via) \(.procedure.name)\"" procedure.json >edges.out
}

# phases --pool|--spawn CREATIONS
phases()
{
	launch "$programs/phases" --time "$1" 1:0.5,2:0.6,0:0.3,1l:0.4,2l:0.3
	lawful
	main_is_all
	threads_are_true
	procedures_are_true
	expect "$2 threads were created" '.scopes[0] | .ended and .threads_seen == $n + 1 and
		.creations == $n and .creations_lost == 0' --argjson n "$2"
	edges callers leaf
	grep -qx 'call phase_1' edges.out && grep -qx 'call phase_2' edges.out ||
		fail 'leaf is not called from both phases' "$(cat edges.out)"
}

omp()
{
	launch "$programs/omp_work" 0.5 2
	lawful
	main_is_all
	expect 'processor time of serial_part' 'took(row("serial_part").total.cpu_ns; $cpu; 0.1; 0)' \
		--argjson cpu "$(truth serial_part)"
	expect 'both threads work on behalf of compute' \
		'took(row("compute").total.cpu_ns; $cpu; 0.1; 0)' --argjson cpu "$(truth compute)"
}

chain()
{
	local caller via callee

	launch "$programs/nested_threads" 0.3
	lawful
	main_is_all
	while read -r caller via callee; do
		edges callees "$caller"
		grep -qx "$via $callee" edges.out || fail "$caller: no $via $callee" "$(cat edges.out)"
		edges callers "$callee"
		grep -qx "$via $caller" edges.out || fail "$callee: no $via $caller" "$(cat edges.out)"
		jq -e '.scopes[0] | .total.norm_ns == ([.callers[].total.norm_ns] | add)' \
			procedure.json >/dev/null || fail "callers of $callee do not add up"
	done <<-END
		main call spawn_all
		spawn_all call create_mid
		create_mid thread_start mid
		mid call create_leaf
		create_leaf thread_start leaf
		leaf call leaf_work
	END
	expect 'what was done on behalf of create_mid' '
		near(row("create_mid").total.norm_ns;
		     [row("create_mid", "mid", "create_leaf", "leaf_work").self.norm_ns] | sum; 0.05; 0)'
}

# Two threads on one processor: as many switches as can be, and never two busy at once.
pingpong()
{
	launch "$programs/pingpong" futex threads 50000
	lawful
	expect 'at most one processor' '.scopes[0] | .level_ns[2:] | sum <= 1e6'
	launch "$programs/pingpong" pipe processes 20000
	lawful
	expect 'one processor but for the start' '.scopes[0] | .level_ns[2:] | sum <= 1e7'
}

try 'phases by a pool' phases --pool 1
thorough 'phases by spawned threads' phases --spawn 2
try 'OpenMP' omp
thorough 'chain of creators' chain
try 'ping-pong on one processor' pingpong
