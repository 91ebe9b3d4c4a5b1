# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2015,SC2016
# The units, run by a systemd that is the first process of namespaces of its own.

group='' init=''

# boot: that systemd, with the unit of quartzd and what it writes in memory; sets init, which is its pid here.
boot()
{
	local groups target i

	[ -x /lib/systemd/systemd ] || skip 'no systemd'
	mkdir units
	sed "s|/[^ =]*/quartzctl|$out/quartzctl|g; s|=/[^ ]*/quartzd |=$out/quartzd |" \
		"$out/service/quartzd.service" >units/quartzd.service
	for target in test sysinit basic shutdown; do
		printf '[Unit]\nDefaultDependencies=no\n' >units/$target.target
	done
	# its root is this group, whatever manages the others here
	groups=$(findmnt -nr -t cgroup2 -o TARGET | head -n 1)
	[ -z "$groups" ] || group=$groups/quartz-test.$$
	[ -z "$group" ] || mkdir "$group" || skip 'no control group can be made'
	trap shut_down EXIT
	start systemd env -u QUARTZ_RUNTIME_DIR -u QUARTZ_STATE_DIR -u QUARTZ_CONFIG_DIR -u QUARTZ_CACHE_DIR bash -c '
		[ -z "$1" ] || echo $$ >"$1/cgroup.procs"
		exec unshare --fork --pid --mount --uts --ipc --cgroup --mount-proc bash -c "$2"' - "$group" "
		for place in /run /var/lib /var/cache /mnt; do
			mount -t tmpfs none \$place || exit 1
		done
		mkdir /run/systemd /mnt/upper /mnt/work
		mount -t overlay -o lowerdir=/etc,upperdir=/mnt/upper,workdir=/mnt/work none /etc &&
			mount -t cgroup2 none /sys/fs/cgroup && mount -t bpf none /sys/fs/bpf || exit 1
		export container=quartz-test SYSTEMD_UNIT_PATH=$T/units
		exec /lib/systemd/systemd --system --unit=test.target"
	for ((i = 0; i < 600; i++)); do
		init=$(cat "/proc/$pid/task/$pid/children")
		init=${init%% *}
		if [ -n "$init" ]; then
			inside systemctl is-system-running >running.out 2>running.err
			! grep -qx 'running\|degraded' running.out || return 0
		fi
		kill -0 "$pid" 2>/dev/null || fail 'systemd has ended' "$(cat systemd.err)"
		sleep 0.1
	done
	fail 'systemd does not start' "$(cat running.*)"
}

# Its end is that of all that it runs.
shut_down()
{
	local i

	[ -z "$init" ] || kill -KILL "$init"
	end_all
	for ((i = 0; i < 100; i++)); do
		[ -n "$group" ] && [ -d "$group" ] || break
		find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null
		sleep 0.1
	done
}

# inside COMMAND...: as that systemd sees the machine.
inside()
{
	env -u QUARTZ_RUNTIME_DIR -u QUARTZ_STATE_DIR -u QUARTZ_CONFIG_DIR -u QUARTZ_CACHE_DIR nsenter --target "$init" --all "$@"
}

# value PROPERTY: of the unit.
value()
{
	inside systemctl show --property "$1" --value quartzd
}

# until_value PROPERTY VALUE
until_value()
{
	local i

	for ((i = 0; i < 1200; i++)); do
		[ "$(value "$1")" != "$2" ] || return 0
		sleep 0.1
	done
	fail "$1 is $(value "$1"), not $2" "$(inside systemctl show quartzd | grep -E 'Result|State|Restarts')"
}

lives()
{
	local before

	boot
	inside systemctl start quartzd || fail 'it does not start' "$(value Result)"
	before=$(value MainPID)
	inside systemctl reload quartzd >reload.out 2>reload.err || fail 'it is not read again' "$(cat reload.err)"
	inside "$out/quartzctl" status >status.out 2>status.err || fail 'it does not answer' "$(cat status.err)"
	inside sh -c 'mkdir -p /etc/quartz && echo rate=none >/etc/quartz/quartzd.conf'
	! inside systemctl reload quartzd >reload.out 2>reload.err || fail 'wrong settings are taken'
	[ "$(value MainPID)" = "$before" ] && [ "$(value ActiveState)" = active ] || fail 'it was started anew'
	inside systemctl stop quartzd || fail 'it does not stop'
	[ "$(value Result)" = success ] || fail "ended with $(value Result)"
	inside sh -c 'ls /var/lib/quartz/profiles' | grep -q 'system-.*pb.gz' || fail 'nothing was saved'
	# the same settings two seconds later
	! inside systemctl start quartzd >start.out 2>start.err || fail 'it starts with wrong settings'
	until_value ActiveState failed
	[ "$(value ExecMainStatus),$(value NRestarts)" = 6,0 ] ||
		fail "status $(value ExecMainStatus), started $(value NRestarts) times again"
}

# What a new start might mend is tried five times in all.
given_up()
{
	boot
	mkdir units/quartzd.service.d
	printf '[Service]\nExecStart=\nExecStart=/bin/false\n' >units/quartzd.service.d/false.conf
	inside systemctl daemon-reload
	! inside systemctl start quartzd >start.out 2>start.err || fail 'it starts'
	until_value ActiveState failed
	[ "$(value NRestarts)" = 5 ] || [ "$(value NRestarts)" = 4 ] || fail "started $(value NRestarts) times again"
}

try 'a unit that is started, reloaded and stopped' lives
thorough 'a unit that cannot start' given_up
