# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Who may ask a running quartzd for what, and what clients can do to it.

# as_nobody COMMAND...: sets status.
as_nobody()
{
	setpriv --reuid nobody --regid nogroup --clear-groups "$@" >nobody.out 2>nobody.err
	status=$?
}

# The programs are where the user nobody may execute them.
reachable()
{
	chmod 755 "$T"
	cp "$out/quartzctl" quartzctl
	start_busy 1
	attach --pid "$busy"
}

# refuses WORDS COMMAND...: quartzctl, for the user nobody.
refuses()
{
	local words=$1

	shift
	as_nobody ./quartzctl "$@"
	[ "$status" != 0 ] && [ ! -s nobody.out ] || fail "nobody may $*" "$(cat nobody.out)"
	grep -q -e "$words" nobody.err || fail "not about '$words'" "$(cat nobody.err)"
}

others()
{
	reachable
	refuses '' status
	refuses '' report
	chmod 666 run/quartzd.sock
	refuses 'group quartz' status
	refuses 'group quartz' report
	refuses 'group quartz' pause
	./quartzctl status --json >status.json || fail 'root may not ask'
	jq -e '.state == "running"' status.json >/dev/null || fail 'it does not run' "$(cat status.json)"
	as_nobody cat state/profiles/*
	[ "$status" != 0 ] || fail 'nobody may read snapshots'
	detach
}

# What others see of the tables, where the file system lets them come so far.
tables()
{
	local mode

	reachable
	for table in /sys/fs/bpf/quartz/*; do
		mode=$(stat -c '%u %a' "$table")
		[ "$mode" = '0 440' ] || fail "$table has owner and mode $mode"
	done
	detach
}

# Connections that say nothing, too much, or only half; the fifth of one user is not taken.
bad_clients()
{
	reachable
	python3 - "$T/run/quartzd.sock" >clients.out 2>&1 <<-'END' || fail "$(cat clients.out)"
		import socket
		import sys

		def connect():
		    s = socket.socket(socket.AF_UNIX)
		    s.settimeout(120)
		    s.connect(sys.argv[1])
		    return s

		def ended(s):
		    try:
		        return s.recv(1) == b""
		    except ConnectionResetError:
		        return True

		idle = [connect() for _ in range(4)]
		idle[0].sendall(b'{"method":')
		assert ended(connect()), "a fifth one was taken"
		assert all(ended(s) for s in idle), "idle ones stay"
		large = connect()
		try:
		    large.sendall(b"x" * 4096)
		except BrokenPipeError:
		    pass
		assert ended(large), "a large request was taken"
		for request in b"", b"{", b"[]", b'{"method":1}', b'{"method":"io.quartz.None"}', b"\xff":
		    s = connect()
		    s.sendall(request + b"\0")
		    answer = s.recv(4096)
		    assert b'"error"' in answer, (request, answer)
	END
	"$out/quartzctl" status >status.out || fail 'it does not answer any more'
	detach
}

try 'other users learn nothing' others
try 'text tables are not for everybody' tables
try 'clients that behave badly' bad_clients
