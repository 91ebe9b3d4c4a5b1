#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# knobs.sh: quartzctl knobs, set and tune --pid with running programs. O names the build directory.
# shellcheck source=tests/cli/exporter-lib.sh disable=SC2154
. "$(dirname "$0")/exporter-lib.sh"
programs=$out/tests/programs

# ctl STATUS ARG...: quartzctl, with its output in $tmp/out and process ids as PID.
ctl()
{
	local wanted=$1 status

	shift
	"$out/quartzctl" "$@" >"$tmp/raw" 2>&1
	status=$?
	sed -E "s/\b($pid|$$)\b/PID/g" "$tmp/raw" >"$tmp/out"
	[ $status = "$wanted" ] || fail "quartzctl $*: status $status, not $wanted" "$(cat "$tmp/out")"
}

# says TEXT: it is what the last quartzctl printed; standard input if there is no TEXT.
says()
{
	[ "$(cat "$tmp/out")" = "${1-$(cat)}" ] || fail 'quartzctl says' "$(cat "$tmp/out")"
}

# has PATTERN...: in what it printed.
has()
{
	local pattern

	for pattern; do
		grep -qE -- "$pattern" "$tmp/out" || fail "no '$pattern'" "$(cat "$tmp/out")"
	done
}

printed()
{
	grep -qsE -- "$1" "$tmp/program"
}

# start_program WORD...: with a name of it as its input; sets pid.
start_program()
{
	rm -f "$tmp/in"
	mkfifo "$tmp/in"
	"$@" <"$tmp/in" >"$tmp/program" &
	pid=$!
	children+=("$pid")
	disown # whoever is killed here is meant to be
	exec 3>"$tmp/in"
	until_true printed ready || fail "$1 does not start" "$(cat "$tmp/program")"
}

end_program()
{
	exec 3>&-
	kill "$pid" 2>/dev/null
}

value_of()
{
	"$out/quartzctl" knobs "$pid" --json | jq ".processes[0].knobs[] | select(.name == \"$1\").value"
}

listed()
{
	ctl 0 knobs "$pid"
	says <<'TEXT'
process PID, knobs:

knob     value  pending  role     range
threads      2           threads  1 to 8
chunk       32           chunk    16 to 64 by 16
mode      safe           other    safe,fast
called       5           other    0 to 100
TEXT
	"$out/quartzctl" knobs "$pid" --json >"$tmp/json" || fail 'no JSON'
	jq -e '.schema == "quartz.knobs/v1" and .processes[0].comm == "knobs" and
		(.processes[0].knobs[1] == {"name": "chunk", "role": "chunk", "value": 32, "least": 16, "most": 64,
			"step": 16, "choices": null, "pending": null}) and
		.processes[0].knobs[2].choices == ["safe", "fast"]' "$tmp/json" >/dev/null ||
		fail 'the JSON is' "$(cat "$tmp/json")"
	"$out/quartzctl" knobs --json | jq -e --argjson pid "$pid" 'any(.processes[]; .pid == $pid)' >/dev/null ||
		fail 'it is not among all'
}

set_by_hand()
{
	ctl 0 set "$pid" threads=5
	says 'threads of process PID: 2 -> 5'
	until_true printed '^threads 5 chunk 32 mode 0$' || fail 'it has not taken it' "$(cat "$tmp/program")"
	ctl 0 set "$pid" mode=fast
	says 'mode of process PID: safe -> fast'
	ctl 0 set "$pid" called=7
	until_true printed '^called back 7$' || fail 'it was not called' "$(cat "$tmp/program")"
	[ "$(value_of threads) $(value_of mode) $(value_of called)" = '5 1 7' ] || fail 'they are not listed'
}

# Each refusal is one line, and leaves the value as it was.
refused()
{
	ctl 9 set "$pid" threads=9
	says "quartzctl: threads of process PID stays what it was, not 9: libquartz refuses it: it is out of range; 'quartzctl knobs PID' shows what is allowed"
	ctl 9 set "$pid" threads=-9223372036854775808
	has 'out of range'
	ctl 9 set "$pid" chunk=40
	says "quartzctl: chunk of process PID stays what it was, not 40: libquartz refuses it: it is between two steps; 'quartzctl knobs PID' shows what is allowed"
	ctl 9 set "$pid" called=13
	says "quartzctl: called of process PID stays what it was, not 13: the program refuses it; 'quartzctl knobs PID' shows what is allowed"
	ctl 2 set "$pid" mode=slow
	says "quartzctl: mode of process PID cannot be 'slow'; 'quartzctl knobs PID' shows what is allowed"
	ctl 2 set "$pid" threads=9223372036854775808
	ctl 2 set "$pid" threads=
	ctl 2 set "$pid" none=1
	says "quartzctl: process PID has no knob 'none'; 'quartzctl knobs PID' lists what it has"
	[ "$(value_of threads) $(value_of chunk) $(value_of mode) $(value_of called)" = '5 32 1 7' ] ||
		fail 'a refused value was taken'
}

is_asked()
{
	[ "$("$out/quartzctl" knobs "$pid" --json | jq '.processes[0].knobs[0].pending')" = "$1" ]
}

# A program that comes to no safe point takes the value when it does; one that ended, none.
late()
{
	local setter

	start_program "$programs/knobs" deaf
	ctl 1 set "$pid" threads=5 --limit 100ms
	has 'threads of process PID: not taken yet, .* it will take 5 then$'
	[ "$(wc -l <"$tmp/out")" = 1 ] || fail 'more than a line' "$(cat "$tmp/out")"
	ctl 0 knobs "$pid"
	has '^threads +2 +5 '
	"$out/quartzctl" set "$pid" threads=6 --limit 10min 2>"$tmp/set" &
	setter=$!
	until_true is_asked 6 || fail 'it does not ask'
	kill -KILL "$pid"
	wait $setter
	[ $? = 1 ] || fail 'status when the process has died' "$(cat "$tmp/set")"
	[ "$(cat "$tmp/set")" = "quartzctl: process $pid has ended before it took the value" ] ||
		fail 'it is not said' "$(cat "$tmp/set")"
	end_program
	ctl 1 set "$pid" threads=5
	says "quartzctl: no process PID; 'quartzctl knobs' lists those with knobs"
	ctl 1 tune --pid "$pid" --knob threads
	says 'quartzctl: there is no process PID'
}

# Neither this shell, nor what a program becomes by exec, nor another user's.
others()
{
	ctl 1 knobs $$
	says 'quartzctl: process PID has no knobs; its program must register them with quartz_knob(), see quartz(3)'
	ctl 1 set $$ threads=1
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid 65534 --regid 65534 --clear-groups "$out/quartzctl" set "$pid" threads=3 >"$tmp/raw" 2>&1
		[ $? = 4 ] || fail 'other users may set' "$(cat "$tmp/raw")"
		grep -q 'only its owner and root may' "$tmp/raw" || fail 'it is not said' "$(cat "$tmp/raw")"
	fi
}

# With all its threads: the signal takes a moment.
is_stopped()
{
	! grep -h ^State: /proc/"$pid"/task/*/status | grep -qv 'T (stopped)'
}

# start_tune ARG...: in the background; sets tuner.
start_tune()
{
	env --default-signal=INT,QUIT "$out/quartzctl" tune --pid "$pid" "$@" >"$tmp/tune" 2>&1 &
	tuner=$!
	until_true eval '[ "$(value_of threads)" != 3 ]' || fail 'it tries nothing' "$(cat "$tmp/tune")"
}

# A search that is interrupted, whose program stands or dies, puts back what was there.
put_back()
{
	local signal

	for signal in INT TERM HUP QUIT; do
		start_tune --knob threads:4-32 --duration 100ms
		kill -$signal $tuner
		wait $tuner
		[ $? = $((128 + $(kill -l $signal))) ] || fail "status after $signal" "$(cat "$tmp/tune")"
		grep -q '^Interrupted' "$tmp/tune" || fail "$signal" "$(cat "$tmp/tune")"
		[ "$(value_of threads)" = 3 ] || fail "$signal: the value is $(value_of threads)"
	done
	start_tune --knob threads:4-32 --duration 5s
	kill -KILL $tuner
	wait $tuner 2>/dev/null
	until_true eval '[ "$(value_of threads)" = 3 ]' || fail "after a kill it has $(value_of threads)"
	kill -STOP "$pid"
	until_true is_stopped || fail 'it does not stop'
	ctl 1 tune --pid "$pid" --knob threads:4-32 --duration 100ms
	has '^quartzctl: process PID: what it does cannot be counted'
	kill -CONT "$pid"
	until_true eval '[ "$(value_of threads)" = 3 ]' || fail "after a stop it has $(value_of threads)"
	start_tune --knob threads --duration 100ms
	kill -KILL "$pid"
	wait $tuner
	[ $? = 1 ] || fail 'status when the process has died' "$(cat "$tmp/tune")"
	[ "$(grep -c '^quartzctl: ' "$tmp/tune")" = 1 ] || fail 'not one line' "$(cat "$tmp/tune")"
	grep -q "^quartzctl: process $pid has ended" "$tmp/tune" || fail 'it is not said' "$(cat "$tmp/tune")"
}

# It has knobs, but tells no events.
without_events()
{
	ctl 1 tune --pid "$pid" --knob chunk --duration 50ms
	has '^quartzctl: process PID: what it does cannot be counted, since it reports no events'
	[ "$(value_of chunk)" = 32 ] || fail 'it was set'
}

tune_dry()
{
	ctl 0 tune --pid "$pid" --knob threads --dry-run
	says 'threads: 32 values from 1 to 32, 3 at the start; 12 of the others at most are tried, in 3 pairs of runs each at least, for 600 s at most'
	ctl 2 tune --pid "$pid" --knob threads:8,16-16
	ctl 2 tune --pid "$pid" --knob threads:0-8
	says "quartzctl: --knob 'threads:0-8': it cannot be 0; 'quartzctl knobs' shows what is allowed"
	ctl 2 tune --pid "$pid" --knob none
	says "quartzctl: process PID has no knob 'none'; 'quartzctl knobs PID' lists what it has"
	ctl 1 tune --pid $$ --knob none
	says 'quartzctl: process PID has no knobs; its program must register them with quartz_knob(), see quartz(3)'
	[ "$(value_of threads)" = 3 ] || fail 'a dry run has set it'
}

# The pool of a made up disk: eight get the most done. How near to eight the search comes, and whether it is sure that it is
# not by chance, is up to what else the machine does; what it says is what the process has.
tune_pool()
{
	local chosen

	ctl 0 tune --pid "$pid" --knob threads --duration 100ms --for 1min
	has '^- +threads=[0-9]+ ' '^process PID has threads [0-9]+'
	chosen=$(sed -nE 's/^process .* has threads ([0-9]+).*/\1/p' "$tmp/out")
	[ "$(value_of threads)" = "$chosen" ] || fail 'it has another one' "$(cat "$tmp/out")"
	ctl 0 set "$pid" threads=3
}

start_program "$programs/knobs"
listed
set_by_hand
refused
others
without_events
end_program
late
start_program "$programs/pool" 8 3
tune_dry
tune_pool
put_back
