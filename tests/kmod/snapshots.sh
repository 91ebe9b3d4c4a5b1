# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# snapshots: what all processors do at one instant; tests/bpf/lib.sh runs it, with quartz.ko loaded.

# taken COMMAND...: a run with snapshots, in sets.json.
taken()
{
	"$out/quartzctl" record --cpu none --snapshots 50 -o "$T/profile" -- "$@" \
		>program.out 2>record.err || fail "record ended with status $?"
	"$out/quartzctl" report -i profile --snapshot --json >sets.json 2>report.err ||
		fail "report ended with status $?"
	jq -c '.scopes[0] | .snapshots, .busy_instants, .sets[:5]' sets.json
	law 'every instant is at one level' '.instants == (.busy_instants | add)'
	law 'every instant is in one set' '.instants == ([.sets[].instants] | add)'
	law 'busy + spinning = running' '
		.running - .spinning == ([.busy_instants | to_entries[] | .key * .value] | add) and
		.running == ([.sets[] | .instants * (.members | length)] | add)'
	law 'sets + incomplete + unplaced + outside = taken' '.snapshots as $s | .instants > 0 and
		.instants + $s.incomplete + $s.unplaced + $s.outside == $s.taken'
	law 'the longest skew is no shorter than the mean' '
		.snapshots.skew_max_ns * (.snapshots.taken - .snapshots.incomplete) >= .snapshots.skew_ns'
	law 'no more run than there are processors' "all(.sets[].members; length <= $(nproc))"
}

law()
{
	jq -e ".scopes[0] | $2" sets.json >/dev/null || fail "$1" "$(jq -c . sets.json | head -c 2000)"
}

# Three threads that compute all the time, on more processors: as many are caught as the accounting
# says were running, most of the time, and never more than there are.
levels()
{
	[ "$(nproc)" -gt 4 ] || skip 'few processors'
	taken "$programs/phases" --time 3:4
	law 'never more than the threads' 'all(.sets[].members; length <= 4)'
	law 'mostly three' '.busy_instants | index(max) == 3'
	law 'all three in the phase' '
		.sets[0].members | length == 3 and all(.[]; .procedure.name == "phase_3" and (.spinning | not))'
	"$out/quartzctl" report -i profile --json >report.json || fail 'no report'
	jq -e '.scopes[0].level_ns | index(max) == 3' report.json >/dev/null ||
		fail 'the accounting has another level' "$(jq -c '.scopes[0].level_ns' report.json)"
	# by both, but for what begins and ends the run
	jq -e --slurpfile taken sets.json '.scopes[0].level_ns as $ns |
		([range($ns | length) | . * $ns[.]] | add) / ($ns | add) - ($taken[0].scopes[0] | .running / .instants) |
		fabs < 0.5' report.json >/dev/null ||
		fail 'another average by the accounting' "$(jq -c '.scopes[0].level_ns' report.json)"
	"$out/quartzctl" pairs -i profile --json phase_3 >pairs.json || fail 'no pairs'
	jq -e '.scopes[0] | ([.others[].busy] | add) == .running - .spinning - .instants and
		.others[0].procedure.name == "phase_3"' pairs.json >/dev/null ||
		fail 'pairs do not add up' "$(cat pairs.json)"
	"$out/quartzctl" report -i profile --snapshot
	"$out/quartzctl" pairs -i profile phase_3
}

# A loop that its code says to wait is on a processor, and not busy.
spinners()
{
	taken "$programs/spins" "$1"
	law 'a thread spins' '.spinning > 0'
}

# Then they are made of the samples.
without_the_module()
{
	mv /dev/quartz /dev/quartz.hidden
	(taken "$programs/phases" --time 1:1)
	status=$?
	mv /dev/quartz.hidden /dev/quartz
	[ "$status" = 0 ] || fail 'not without the module'
	law 'they are samples' .snapshots.sampled
}

# sets NAME: a quartzd that has attached to the target when this returns, and writes NAME.
sets()
{
	QUARTZ_RUNTIME_DIR=$T/run.$1 start "$1" "$out/quartzd" --cpu none --snapshots 50 --output "$T/$1" --pid "$target"
	await "$1.err" 'attached to'
}

# The module and the samples measure one run: what they say ran beside a procedure is the same within four standard errors.
# A thread is seldom seen beside itself, on the processor that it has moved to.
agree()
{
	local target module name

	start program "$programs/pairs" 8
	target=$pid
	kill -STOP "$target"
	sets module
	module=$pid
	mv /dev/quartz /dev/quartz.hidden
	(sets samples && echo "$pid" >samples.pid && ended "$pid") &
	until [ -s samples.pid ] || ! kill -0 $!; do sleep 0.1; done
	mv /dev/quartz.hidden /dev/quartz
	kill -CONT "$target"
	wait $!
	ended "$module"
	for name in module samples; do
		"$out/quartzctl" pairs -i "$name" --json steady >"$name.json" || fail "no pairs of the $name"
		jq -c --arg name "$name" '.scopes[0] | [$name, .snapshots, .instants,
			(.others[:4][] | [.procedure.name, .instants])]' "$name.json"
	done
	# shellcheck disable=SC2016 # for jq
	jq -se '
		def share($name): .scopes[0] | [([.others[] | select(.procedure.name == $name).instants] | add // 0), .instants];
		.[0].scopes[0].snapshots.sampled == false and .[1].scopes[0].snapshots.sampled and
		([("first", "second") as $name | [.[0, 1] | share($name)] | . as [[$a, $n], [$b, $m]] |
			(($a + $b) / ($n + $m)) as $p |
			$n >= 50 and $m >= 50 and $a >= 5 and $b >= 5 and
			($a / $n - $b / $m | fabs) <= 4 * ($p * (1 - $p) * (1 / $n + 1 / $m) | sqrt)] | all) and
		([.[] | share("steady") | .[0] <= 0.01 * .[1]] | all)' \
		module.json samples.json || fail 'module and samples disagree'
}

try 'snapshots of a steady phase' levels
try 'snapshots tell spinning apart' spinners pause:2
try 'snapshots without the module' without_the_module
try 'the module and samples agree' agree
