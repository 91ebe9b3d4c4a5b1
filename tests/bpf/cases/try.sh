# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2015,SC2016
# quartzctl advise --try, which measures a command first: whose the runs are, what is kept, and how it ends. What needs no root is in
# tests/cli/cases/try.

uid=$(id -u nobody)

# Runs, --check and the file are the user's who called sudo.
tries_as_user()
{
	chmod 755 "$T"
	mkdir mine && chown nobody mine
	start try env SUDO_UID="$uid" SUDO_GID="$(id -g nobody)" SUDO_USER=nobody XDG_DATA_HOME="$T/mine/data" \
		"$out/quartzctl" advise --try --for 6s --check 'id -u >>mine/checks; grep -qx done' -- \
		sh -c 'id -u >>mine/runs; sleep 0.05; echo done'
	ended "$pid"
	[ "$status" = 0 ] || fail "status $status" "$(cat try.out try.err)"
	grep -q 'sh is run as nobody' try.err || fail 'not said whose it is' "$(cat try.err)"
	[ "$(sort -u mine/runs)" = "$uid" ] && [ "$(wc -l <mine/runs)" -ge 7 ] || fail 'not run as nobody' "$(cat mine/runs)"
	[ "$(sort -u mine/checks)" = "$uid" ] || fail 'not checked as nobody' "$(cat mine/checks)"
	# once more than checked, to be measured
	[ "$(wc -l <mine/runs)" -gt "$(wc -l <mine/checks)" ] || fail 'runs are not all checked' "$(cat mine/*s)"
	[ "$(stat -c '%u %a' mine/data/quartz/tries/*.json)" = "$uid 600" ] || fail 'not its own' "$(ls -lR mine)"
	jq -e '.schema == "quartz.try/v1" and .compared == "check" and .command[0] == "sh" and
		any(.trials[]; .pairs >= 3 and .rule == null and (.with_ns | length) == .pairs)' mine/data/quartz/tries/*.json >/dev/null ||
		fail 'not these figures' "$(cat mine/data/quartz/tries/*.json)"
	SUDO_UID=$uid XDG_DATA_HOME=$T/mine/data "$out/quartzctl" advise --record >record.out || fail 'not shown'
	grep -q '^1 try from ' record.out || fail 'not counted' "$(cat record.out)"
	[ -z "$(ls -d /var/tmp/quartz-once.?????? /var/tmp/quartz-try.?????? 2>/dev/null)" ] || fail 'files are left'
}

# An interrupt ends the run with all that it has started, and shows what is known.
ends_at_interrupt()
{
	export XDG_DATA_HOME=$T/data
	touch runs
	start try "$out/quartzctl" advise --try -- \
		sh -c 'echo $$ >>runs; [ "$(wc -l <runs)" -lt 5 ] || exec sleep 1000.238; sleep 0.3; echo done'
	for ((i = 0; i < 1200; i++)); do
		[ "$(wc -l <runs)" -lt 5 ] || break
		sleep 0.05
	done
	kill -INT "$pid"
	ended "$pid"
	[ "$status" = 130 ] || fail "status $status" "$(cat try.out try.err)"
	grep -q '^Interrupted; of what was measured until then:' try.out || fail 'nothing is shown' "$(cat try.out)"
	! pgrep -fx 'sleep 1000.238' || fail 'the run goes on'
	jq -e '.complete == false' data/quartz/tries/*.json >/dev/null || fail 'kept as complete'
}

# A command that sleeps without what is tried.
tells_what_helps()
{
	# shellcheck disable=SC2016 # for that shell
	LD_PRELOAD=libm.so.6 taskset -c 0 "$out/quartzctl" advise --try --for 15s \
		-i "$here/../unit/core/advise/recorded/allocator.pb.gz" -- \
		sh -c '[ "$MALLOC_ARENA_MAX" ] || sleep 0.5; echo done' >try.out 2>try.err || fail "status $?" "$(cat try.err)"
	grep -q '^allocator .*MALLOC_ARENA_MAX=4 .* helps$' try.out || fail 'it does not help' "$(cat try.out)"
	grep -q '^keep: MALLOC_ARENA_MAX=4 sh -c' try.out || fail 'nothing to keep' "$(cat try.out)"
}

# One command: the profile is kept as that of any recording, and what its findings and the table of remedies have is tried, as its user.
records_and_tries()
{
	chmod 755 "$T"
	mkdir mine && chown nobody mine
	start try env SUDO_UID="$uid" SUDO_GID="$(id -g nobody)" SUDO_USER=nobody XDG_DATA_HOME="$T/mine/data" \
		"$out/quartzctl" record --try --for 6s -- sh -c 'id -u >>mine/runs; sleep 0.05; echo done'
	ended "$pid"
	[ "$status" = 0 ] || fail "status $status" "$(cat try.out try.err)"
	[ "$(grep -c 'sh is run as nobody' try.err)" = 1 ] || fail 'not said once whose it is' "$(cat try.err)"
	grep -q 'see it with: quartzctl report$' try.err || fail 'no profile' "$(cat try.err)"
	[ "$(head -n 1 try.out)" = 'done' ] || fail 'its own output is not shown' "$(cat try.out)"
	grep -qE '^Of the profile: [0-9]+ findings?\. [0-9]+ remed(y|ies) to try' try.out || fail 'nothing is tried' "$(cat try.out)"
	[ "$(sort -u mine/runs)" = "$uid" ] && [ "$(wc -l <mine/runs)" -ge 7 ] || fail 'not run as nobody' "$(cat mine/runs)"
	jq -e '.schema == "quartz.try/v1" and .command[0] == "sh" and any(.trials[]; .pairs >= 3)' mine/data/quartz/tries/*.json >/dev/null ||
		fail 'not kept so' "$(cat mine/data/quartz/tries/*.json)"
	SUDO_UID=$uid "$out/quartzctl" report >report.out || fail 'no report'
	grep -q ': sh ' report.out || fail 'another report' "$(cat report.out)"
}

# A command that fails has nothing to try; its status and its profile stay.
tries_nothing_of_failures()
{
	start try "$out/quartzctl" record --try -o failed.pb.gz -- sh -c 'exit 3'
	ended "$pid"
	[ "$status" = 3 ] || fail "status $status" "$(cat try.out try.err)"
	grep -q -- '^quartzctl: --try: the recording ended with status 3, so that nothing is tried$' try.err || fail 'not said' "$(cat try.err)"
	[ -s failed.pb.gz ] || fail 'no profile'
}

# The command is asked to end, and no other run begins.
recording_is_ended()
{
	start try "$out/quartzctl" record --try -o ended.pb.gz -- sh -c 'echo $$ >>runs; exec sleep 1000.237'
	for ((i = 0; i < 1200; i++)); do
		[ ! -s runs ] || break
		sleep 0.05
	done
	kill -TERM "$pid"
	ended "$pid"
	[ "$status" = 143 ] || fail "status $status" "$(cat try.out try.err)"
	[ "$(wc -l <runs)" = 1 ] && ! pgrep -fx 'sleep 1000.237' || fail 'it goes on' "$(cat runs)"
	[ -s ended.pb.gz ] || fail 'no profile'
}

# make_group: a control group that is called as a unit; sets group.
make_group()
{
	local place

	for place in $(findmnt -nr -t cgroup,cgroup2 -o TARGET); do
		group=$place/quartz-try-$$.service
		mkdir "$group" 2>/dev/null || continue
		(echo "$BASHPID" >"$group/cgroup.procs") 2>/dev/null && return
		rmdir "$group"
	done
	skip 'no control group can be made'
}

# What counts until it is ended, in that group, with a pause that it reads once, when it starts.
make_service()
{
	mkfifo never
	echo 20 >pause
	cat >serve <<-'EOF'
		#!/bin/bash
		echo $BASHPID >"$1/cgroup.procs"
		exec 9<>never
		printf -v pause 0.%03d "$(cat pause)"
		for ((n = 1; ; n++)); do
			echo $n >>counted
			read -rt "$pause" -u 9
		done
	EOF
	cat >restart <<-'EOF'
		#!/bin/bash
		# restart PAUSE GROUP
		echo "$1" >pause
		kill "$(cat pid)" && while kill -0 "$(cat pid)" 2>/dev/null; do sleep 0.01; done
		setsid ./serve "$2" >/dev/null 2>&1 </dev/null &
		echo $! >pid
		echo "$1" >>restarts
	EOF
	chmod +x serve restart
	setsid ./serve "$group" >serve.out 2>&1 </dev/null &
	echo $! >pid
	for ((i = 0; i < 1200; i++)); do
		[ ! -s counted ] || return 0
		sleep 0.05
	done
	fail 'the service does not start' "$(cat serve.out)"
}

end_service()
{
	kill "$(cat pid)"
	while kill -0 "$(cat pid)"; do sleep 0.01; done
	rmdir "$group"
} 2>/dev/null

# A service that a knob starts anew is found again by its group, and gets back what it had by one more start.
tries_by_restart()
{
	local group before

	make_group
	make_service
	before=$(ps -o ni= -p "$(cat pid)")
	trap 'end_all; end_service' EXIT
	export XDG_DATA_HOME=$T/data
	"$out/quartzctl" advise --try --unit "quartz-try-$$" -i "$here/../unit/core/advise/recorded/allocator.pb.gz" \
		--events 'tail -n 1 counted' --duration 500ms --for 10s --knob "pause:20,2:./restart {} '$group'" --knob nice:0,5 \
		>try.out 2>try.err || fail "status $?" "$(cat try.out try.err)"
	[ "$(tail -n 1 restarts)" = 20 ] && [ "$(cat pause)" = 20 ] || fail 'it is not as before' "$(cat restarts)"
	kill -0 "$(cat pid)" || fail 'there is no service any more'
	[ "$(ps -o ni= -p "$(cat pid)")" = "$before" ] || fail 'its priority is another one'
	jq -e 'any(.trials[]; .remedies[0].name == "pause=2" and .pairs >= 1)' data/quartz/tries/*.json >/dev/null ||
		fail 'not kept so' "$(cat data/quartz/tries/*.json)"
}

try 'try: as the user who called sudo' tries_as_user
try 'try: record --try' records_and_tries
try 'try: record --try of what fails' tries_nothing_of_failures
try 'try: record --try is ended' recording_is_ended
try 'try: a service that is started anew' tries_by_restart
try 'try: an interrupt' ends_at_interrupt
thorough 'try: what helps is told' tells_what_helps
