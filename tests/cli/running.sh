#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# running.sh: quartzctl advise --try --pid, on programs that the test starts. It needs no root, since the findings are those of a recorded
# profile. O names the build directory.
# shellcheck source=tests/cli/exporter-lib.sh disable=SC2154,SC2016
. "$(dirname "$0")/exporter-lib.sh"
profile=$here/../unit/core/advise/recorded/allocator.pb.gz
export XDG_DATA_HOME=$tmp/data

# start_counter: a program that counts what it does in a file, and rests for 20 ms, or as many as another file says. It starts no others.
start_counter()
{
	echo 20 >"$tmp/pause"
	mkfifo "$tmp/never"
	bash -c 'exec 9<>"$0/never"
		for ((n = 1; ; n++)); do
			echo $n >>"$0/done"
			read -r next <"$0/pause" && printf -v pause 0.%03d "$next"
			read -rt "$pause" -u 9
		done' "$tmp" &
	pid=$!
	children+=("$pid")
	disown
	until_true test -s "$tmp/done" || fail 'it does not count'
}

# try_on STATUS ARG...: with its output in $tmp/out.
try_on()
{
	local wanted=$1 status

	shift
	"$out/quartzctl" advise --try -i "$profile" --pid "$pid" --events "tail -n 1 '$tmp/done'" "$@" >"$tmp/out" 2>&1
	status=$?
	[ $status = "$wanted" ] || fail "status $status, not $wanted" "$(cat "$tmp/out")"
}

has()
{
	grep -qE -- "$1" "$tmp/out" || fail "no '$1'" "$(cat "$tmp/out")"
}

# How all its threads are scheduled, and what its commands have set.
state()
{
	local task

	for task in /proc/"$pid"/task/*; do
		awk '{ sub(".*\\) ", ""); print $17, $39 }' "$task/stat"
		grep Cpus_allowed_list "$task/status"
	done
	cat "$tmp/pause"
	[ ! -e "$tmp/knobs" ] || "$out/quartzctl" knobs "$pid" --json | jq '.processes[0].knobs[].value'
}

is_changed()
{
	[ "$(state)" != "$before" ]
}

is_back()
{
	[ "$(state)" = "$before" ]
}

# kept PAUSE FILTER: what the try that was kept last says of this remedy.
kept()
{
	jq -e --arg name "pause=$1" ".keep as \$keep | any(.trials[]; .remedies[0].name == \$name and ($2))" \
		"$(find "$tmp/data" -name "*.json" -printf "%T@ %p\\n" | sort -n | tail -n 1 | cut -d" " -f2)" >/dev/null ||
		fail "not kept so: $2" "$(cat "$tmp"/data/quartz/tries/*.json)"
}

# A fifth of the pause, and the command to keep, if that is told: on a machine that is busy it may not be known. At the end it has what it
# had.
helps()
{
	before=$(state)
	try_on 0 --duration 500ms --for 14s --knob "pause:20,4:echo {} >'$tmp/pause'"
	has '^- +pause=4 .* (helps|not known)$'
	has '^what --events counts in a second, without a remedy: .* at the end; all is put back$'
	is_back || fail 'it is not put back' "$(state)"
	kept 4 '.pairs >= 3 and .gain_ppm > 0 and .remedies[0].how == "command" and (.verdict != "helps" or $keep != null)'
	jq -e --argjson pid "$pid" '.schema == "quartz.try/v1" and .pid == $pid and .command == [] and .by == "command"' \
		"$tmp"/data/quartz/tries/*.json >/dev/null || fail 'not kept so' "$(cat "$tmp"/data/quartz/tries/*.json)"
}

# What does harm is put back long before its time is over, and not tried a third time.
harms()
{
	try_on 0 --duration 1s --for 25s --knob "pause:20,999:echo {} >'$tmp/pause'"
	has '^- +pause=999 .* harms$'
	has '^pause=999 was dropped: put back at once, since it did less than half as much$'
	is_back || fail 'it is not put back' "$(state)"
	kept 999 '.pairs < 3 and .verdict == "harms"'
}

# tried_for_ever ARG...: until this test ends it; sets tuner.
tried_for_ever()
{
	before=$(state)
	env --default-signal=INT,QUIT "$out/quartzctl" advise --try -i "$profile" --pid "$pid" --duration 200ms --for 1000min "$@" \
		>"$tmp/out" 2>&1 &
	tuner=$!
	until_true is_changed || fail 'nothing is tried' "$(cat "$tmp/out")"
}

# Killed as soon as something is changed, it leaves nothing behind.
killed()
{
	tried_for_ever "$@"
	kill -KILL $tuner
	wait $tuner 2>/dev/null
	until_true is_back || fail 'something is left' "$before, now $(state)"
}

interrupted()
{
	local signal

	for signal in INT TERM; do
		tried_for_ever "$@"
		kill -$signal $tuner
		wait $tuner
		[ $? = $((128 + $(kill -l $signal))) ] || fail "status after $signal" "$(cat "$tmp/out")"
		is_back || fail "$signal: something is left" "$before, now $(state)"
	done
}

refused()
{
	try_on 2 --check true
	has '^quartzctl: --check looks at what a COMMAND prints: not with --pid or --unit; '
	try_on 2 --unit none
	has '^quartzctl: --try needs a COMMAND, or a --pid or a --unit; '
	try_on 1 --knob 'pause:1,2'
	has "^quartzctl: process $pid has no knobs; "
	[ "$(id -u)" != 0 ] || setpriv --reuid 65534 --regid 65534 --clear-groups "$out/quartzctl" advise --try -i "$profile" --pid "$pid" \
		>"$tmp/out" 2>&1
	[ "$(id -u)" != 0 ] || has "^quartzctl: process $pid is somebody else's: only root may try something on it$"
	"$out/quartzctl" advise --try -i "$profile" --pid "$pid" --duration 100ms >"$tmp/out" 2>&1
	has "^quartzctl: process $pid: what it does cannot be counted, since it reports no events .* --events 'COMMAND' can count$"
}

start_counter
refused
helps
harms
by=(--events "tail -n 1 '$tmp/done'")
killed "${by[@]}" --knob "pause:20,19:echo {} >'$tmp/pause'"
[ "$(nproc)" -lt 2 ] || killed "${by[@]}" --knob cpus
killed "${by[@]}" --knob nice:0,7
interrupted "${by[@]}" --knob "pause:20,19:echo {} >'$tmp/pause'"
kill "$pid"
# shellcheck disable=SC2154 # of exporter-lib.sh
"$out/tests/programs/pool" 8 3 >"$tmp/program" &
pid=$!
children+=("$pid")
disown
until_true grep -qs ready "$tmp/program" || fail 'pool does not start'
touch "$tmp/knobs"
killed --knob threads:3,8
