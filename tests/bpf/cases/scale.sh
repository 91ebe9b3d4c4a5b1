# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# quartzctl scale on the running kernel: what the terms of real runs must fulfil, and how a series ends early.

# scaled STATUS ARG...: a series with its result in scale.out.
scaled()
{
	local wanted=$1

	shift
	"$out/quartzctl" scale --json -o "$T/runs" "$@" >scale.out 2>scale.err
	status=$?
	[ $status = "$wanted" ] || fail "status $status" "$(cat scale.err)"
}

# holds WHAT FILTER: of the result.
holds()
{
	jq -e "$2" scale.out >/dev/null || fail "$1" "$(cat scale.out)"
}

# Work of both numbers of processors is what the program's own clock says, as all that is measured of it is.
terms()
{
	[ "$(nproc)" -ge 2 ] || skip 'one processor'
	scaled 0 -P 2 --runs 2 -- sh -c "'$programs/phases' --work 1:40,2:40 >>'$T/truth'"
	holds 'two runs on one processor and on two' '
		[.processors[] | [.processors, .runs]] == [[1, 2], [2, 2]]'
	holds 'terms add up' '.processors[0].work_ns as $one | all(.processors[];
		(.processors * .elapsed_ns - $one - .idle_ns - .inflation_ns | fabs) < 10)'
	holds 'parts of idle time add up' 'all(.processors[];
		(.idle_ns - .spin_ns - .quartz_ns - .others_ns - .late_ns - .lacking_ns | fabs) < 10)'
	holds 'no term of idle time is negative' 'all(.processors[]; .idle_ns >= 0)'
	holds 'work of procedures is all work' '. as $all | range(2) | . as $i |
		([$all.procedures[].processors[$i].work_ns] | add) as $sum |
		$all.processors[$i].work_ns | . > 0.9 * $sum and . < 1.1 * $sum'
	[ "$(ls "$T/runs" | wc -l)" = 4 ] || fail 'not four profiles' "$(ls "$T/runs")"
	"$out/quartzctl" scale --json --from "$T/runs" >again.out || fail '--from fails'
	cmp scale.out again.out || fail '--from shows something else'
}

# Neither the command nor its children leave their processors.
confined()
{
	[ "$(nproc)" -ge 2 ] || skip 'one processor'
	# shellcheck disable=SC2016 # for that shell
	scaled 0 -P 2 --runs 1 -- sh -c 'echo "$(nproc) {P} $OMP_NUM_THREADS" >>"'"$T"'/seen"'
	[ "$(sort "$T/seen")" = "$(printf '1 1 1\n2 2 2')" ] ||
		fail 'other processors' "$(cat "$T/seen")"
}

# The third run fails: on one processor, after both of the first round.
failing()
{
	[ "$(nproc)" -ge 2 ] || skip 'one processor'
	# shellcheck disable=SC2016 # for that shell
	scaled 1 -P 2 --runs 3 -- sh -c 'cd "'"$T"'"; echo >>count; [ "$(wc -l <count)" -lt 3 ] || exit 5'
	grep -q 'ended with status 5' scale.err || fail 'not said' "$(cat scale.err)"
	holds 'what was measured until then' '[.processors[].runs] == [1, 1]'
}

# Ended from outside, as by a job scheduler; the command ends, too.
ended_early()
{
	start scale "$out/quartzctl" scale --json -P 1 --runs 3 -o "$T/runs" -- \
		sh -c "echo >>'$T/begun'; [ \$(wc -l <'$T/begun') = 1 ] || exec sleep 600"
	local i scale=$pid

	for ((i = 0; i < 1200; i++)); do
		[ "$(wc -l 2>/dev/null <"$T/begun")" != 2 ] || break
		sleep 0.05
	done
	kill -TERM "$scale"
	ended "$scale"
	[ $status = 143 ] || fail "status $status" "$(cat scale.err)"
	holds 'one run' '[.processors[].runs] == [1]'
	grep -q 'interrupted' scale.err || fail 'not said' "$(cat scale.err)"
}

# serve: a server of two processes, which does something all the time, and counts it; sets server.
serve()
{
	start server bash -c "while :; do echo >>'$T/done'; done"
	server=$pid
	for ((i = 0; i < 1200; i++)); do
		[ ! -s "$T/done" ] || return 0
		sleep 0.05
	done
	fail 'the server does nothing'
}

processors_of()
{
	taskset -p "$1" | sed 's/.*: //'
}

# What runs already is confined, measured and put back.
attached()
{
	local before

	[ "$(nproc)" -ge 2 ] || skip 'one processor'
	serve
	before=$(processors_of "$server")
	scaled 0 --pid "$server" -d 1 -P 2 --runs 2 --events "wc -l <'$T/done'"
	holds 'two runs on one processor and on two' '
		[.processors[] | [.processors, .runs]] == [[1, 2], [2, 2]]'
	holds 'terms add up' '.processors[0].work_ns as $one | all(.processors[];
		(.processors * .elapsed_ns - $one - .idle_ns - .inflation_ns | fabs) < 10)'
	[ "$(processors_of "$server")" = "$before" ] || fail 'it has other processors now'
	"$out/quartzctl" scale --json --from "$T/runs" >again.out || fail '--from fails'
	cmp scale.out again.out || fail '--from shows something else'
}

# Also when the series is ended or killed, or the count is none.
put_back()
{
	local before scale signal namesakes

	[ "$(nproc)" -ge 2 ] || skip 'one processor'
	serve
	before=$(processors_of "$server")
	scaled 1 --pid "$server" -d 1 --events 'echo none'
	grep -q 'no number in its first line' scale.err || fail 'not said' "$(cat scale.err)"
	[ "$(processors_of "$server")" = "$before" ] || fail 'it has other processors now'
	for signal in TERM HUP KILL; do
		start scale "$out/quartzctl" scale --pid "$server" -d 600 -o "$T/$signal" --events "wc -l <'$T/done'"
		scale=$pid
		for ((i = 0; i < 1200; i++)); do
			[ "$(processors_of "$server")" = "$before" ] || break
			sleep 0.05
		done
		# whoever kills by name has all that are called so
		mapfile -t namesakes < <(pgrep -P "$scale" -x quartzctl)
		kill -s "$signal" "$scale" "${namesakes[@]}"
		ended "$scale"
		[ $status = $((128 + $(kill -l "$signal"))) ] || fail "status $status of $signal" "$(cat scale.err)"
		for ((i = 0; i < 1200; i++)); do
			[ "$(processors_of "$server")" != "$before" ] || break
			sleep 0.05
		done
		[ "$(processors_of "$server")" = "$before" ] || fail "it has other processors after $signal"
	done
}

try 'scale: terms add up' terms
try 'scale: the command has its processors' confined
thorough 'scale: a run that fails' failing
try 'scale: ended early' ended_early
thorough 'scale: processes that run already' attached
try 'scale: processors are put back' put_back
