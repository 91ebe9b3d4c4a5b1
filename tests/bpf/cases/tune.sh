# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# quartzctl tune --pid with what only root can: a knob chosen by what limits the process; and beside a quartzd that comes and
# goes. What needs no root is in tests/cli/knobs.sh.

# start_open NAME ARG...: a program of tests/programs whose input stays open until the test ends.
start_open()
{
	local program=$programs/$1 name=$1

	shift
	mkfifo in
	exec 3<>in
	# what runs in the background has no input by itself
	# shellcheck disable=SC2016 # for that shell
	start "$name" sh -c 'exec "$0" "$@" <in' "$program" "$@"
	await "$name.out" ready
}

# tuned STATUS ARG...: with its output in tune.out.
tuned()
{
	local wanted=$1

	shift
	"$out/quartzctl" tune "$@" >tune.out 2>tune.err
	status=$?
	[ $status = "$wanted" ] || fail "status $status" "$(cat tune.out tune.err)"
}

value_of()
{
	"$out/quartzctl" knobs "$1" --json | jq ".processes[0].knobs[] | select(.name == \"$2\").value"
}

# Threads that spin for each other without processors are too many.
proposes_threads()
{
	local crew

	start_open crew 8 64
	crew=$pid
	tuned 0 --pid "$crew" --dry-run
	grep -q '^measured: .*sp[iu]n' tune.out && grep -qx 'proposed: --knob threads' tune.out ||
		fail 'not proposed' "$(cat tune.out)"
	grep -q '^threads: 16 values from 1 to 16, 8 at the start' tune.out || fail 'no plan' "$(cat tune.out)"
	[ "$(value_of "$crew" threads)" = 8 ] || fail 'a dry run has set it'
}

# It has none for what limits it, which is said.
proposes_nothing()
{
	start_open knobs deaf
	tuned 0 --pid "$pid"
	grep -q '^measured: nothing limits it' tune.out && grep -q '^proposed: no knob of the process is for that' tune.out ||
		fail 'something is proposed' "$(cat tune.out)"
}

# The process counts by itself, then for quartzd, which finds it as ever, then by itself again.
beside_quartzd()
{
	local search pool i

	start pool "$programs/pool" 8 3
	pool=$pid
	await pool.out ready
	start search "$out/quartzctl" tune --pid "$pool" --knob threads:3,4 --duration 500ms --for 1min
	search=$pid
	for ((i = 0; i < 1200; i++)); do
		[ "$(value_of "$pool" threads)" != 4 ] || break
		sleep 0.05
	done
	[ "$i" -lt 1200 ] || fail 'it tries nothing' "$(cat search.out)"
	attach --pid "$pool"
	pid=$pool
	for ((i = 0; i < 200; i++)); do
		! grep -q 'quartz-tables\|/dev/quartz' "/proc/$pool/maps" || break
		sleep 0.05
	done
	grep -q 'quartz-tables\|/dev/quartz' "/proc/$pool/maps" || fail 'quartzd does not find it' "$(cat "/proc/$pool/maps")"
	# with samples or without
	kill -INT "$daemon"
	ended "$daemon"
	ended "$search"
	[ $status = 0 ] || fail "tune ended with status $status" "$(cat search.out search.err)"
	grep -qE '^- +threads=4 .* (helps|does nothing|harms|not known)$' search.out || fail 'it is not measured' "$(cat search.out)"
}

try 'tune: too many threads are proposed' proposes_threads
thorough 'tune: what no knob is for' proposes_nothing
thorough 'tune: beside a quartzd' beside_quartzd
