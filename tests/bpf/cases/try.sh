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
	start try "$out/quartzctl" advise --try -- sh -c 'echo $$ >>runs; sleep 1.237; echo done'
	for ((i = 0; i < 1200; i++)); do
		[ "$(wc -l <runs)" -lt 5 ] || break
		sleep 0.05
	done
	kill -INT "$pid"
	ended "$pid"
	[ "$status" = 130 ] || fail "status $status" "$(cat try.out try.err)"
	grep -q '^Interrupted; of what was measured until then:' try.out || fail 'nothing is shown' "$(cat try.out)"
	! pgrep -fx 'sleep 1.237' || fail 'the run goes on'
	jq -e '.complete == false' data/quartz/tries/*.json >/dev/null || fail 'kept as complete'
}

# A command that sleeps without what is tried.
tells_what_helps()
{
	# shellcheck disable=SC2016 # for that shell
	LD_PRELOAD=libm.so.6 taskset -c 0 "$out/quartzctl" advise --try --for 20s \
		-i "$here/../unit/core/advise/recorded/allocator.pb.gz" -- \
		sh -c '[ "$MALLOC_ARENA_MAX" ] || sleep 0.5; echo done' >try.out 2>try.err || fail "status $?" "$(cat try.err)"
	grep -q '^allocator .*MALLOC_ARENA_MAX=4 .* helps$' try.out || fail 'it does not help' "$(cat try.out)"
	grep -q '^keep: MALLOC_ARENA_MAX=4 sh -c' try.out || fail 'nothing to keep' "$(cat try.out)"
}

try 'try: as the user who called sudo' tries_as_user
try 'try: an interrupt' ends_at_interrupt
thorough 'try: what helps is told' tells_what_helps
