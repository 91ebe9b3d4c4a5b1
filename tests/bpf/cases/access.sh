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
	refuses '' pause
	refuses '' report --scope "pid=$busy"
	refuses '' ps --last 1h
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

# start_as_nobody NAME COMMAND...: sets pid.
start_as_nobody()
{
	local name=$1

	shift
	start "$name" setpriv --reuid nobody --regid nogroup --clear-groups "$@"
}

# seen_by_root PID SAMPLES: waits until more than so many samples of it are in what root is shown.
seen_by_root()
{
	local i

	for ((i = 0; i < 600; i++)); do
		"$out/quartzctl" report --scope "pid=$1" --json >seen.json 2>seen.err &&
			jq -e "[.scopes[].samples] | add > $2" seen.json >/dev/null && return
		sleep 0.1
	done
	fail "root is not shown $2 samples of process $1" "$(cat seen.err seen.json)"
}

# own_report PID SAMPLES: as nobody, whose process it is, sees it, in own.json. Root is asked first: after an answer to all other
# users they get none for a hundred times as long as it took.
own_report()
{
	local i

	seen_by_root "$@"
	for ((i = 0; i < 600; i++)); do
		as_nobody ./quartzctl report --scope all --json
		[ "$status" != 0 ] || break
		sleep 0.1
	done
	[ "$status" = 0 ] && jq -e "[.scopes[] | select(.pid == $1) | .samples] | add > $2" nobody.out >/dev/null ||
		fail "nobody is not shown $2 samples of process $1" "$(cat nobody.err nobody.out)"
	mv nobody.out own.json
}

# insist COMMAND...: quartzctl, for root; quartzd may be late on a busy machine.
insist()
{
	local i

	for ((i = 0; i < 10; i++)); do
		! "$out/quartzctl" "$@" 2>insist.err || return 0
	done
	fail "root gets no $1" "$(cat insist.err)"
}

# A user's own processes, and nothing of others: neither what they are, nor the kernel's code, nor those of
# root that the user has started.
own()
{
	local mine theirs

	chmod 755 "$T"
	cp "$out/quartzctl" quartzctl
	for program in mine theirs raised; do
		cp "$programs/phases" "$program"
	done
	chmod u+s raised
	start theirs ./theirs --time 1:600
	theirs=$pid
	start_as_nobody raised ./raised --time 1:600
	start_as_nobody mine ./mine --time 1:600
	mine=$pid
	attach --system
	own_report "$mine" 20
	grep -q 'your own processes alone' nobody.err || fail 'it is not said' "$(cat nobody.err)"
	jq -e --argjson mine "$mine" '
		all(.scopes[]; .kind == "process" and .pid > 0) and
		([.scopes[] | select(.pid == $mine) | .rows[].name] | any(. == "phase_1")) and
		all(.scopes[].rows[]; .module != "[kernel]") and
		([.scopes[].comm] | any(. == "mine") and all(. != "theirs" and . != "raised"))' own.json >jq.out ||
		fail 'not its own, or not alone' "$(cat own.json)"
	insist report --scope all --json >all.json
	jq -e --argjson theirs "$theirs" '([.scopes[].comm] | contains(["mine", "raised"])) and
		any(.scopes[]; .pid == $theirs)' all.json >jq.out || fail 'root does not see all'
	python3 - "$T/run/users.sock" >asked.out 2>&1 <<-'END' || fail 'the socket for all users' "$(cat asked.out)"
		import os, socket, sys

		os.setgroups([]), os.setgid(65534), os.setuid(65534)

		def connect(request):
		    s = socket.socket(socket.AF_UNIX)
		    s.settimeout(120)
		    s.connect(sys.argv[1])
		    s.sendall(request + b"\0")
		    return s

		def answer(s):
		    return b"".join(iter(lambda: s.recv(65536), b""))

		for method in b"Status", b"Pause", b"Reload", b"None":
		    got = answer(connect(b'{"method":"io.quartz.%s"}' % method))
		    assert b"NotPermitted" in got, (method, got)
		all = [connect(b'{"method":"io.quartz.Snapshot"}') for _ in range(4)]
		got = [answer(s) for s in all]
		assert any(b"more than it may cost" in a for a in got), [a[:200] for a in got]
	END
	insist status >status.out
	detach
}

# What a process of nobody makes of itself before it works on; its name says it, and mem() who may see it.
other_selves()
{
	cat >self.py <<-'END'
		import ctypes, os, sys, time

		PR_SET_DUMPABLE, PR_SET_NAME = 4, 15
		libc, name = ctypes.CDLL(None), sys.argv[1]
		if os.getuid() == 0:
		    os.setgroups([]), os.setgid(65534), os.setuid(65534)
		if name == "undumped":
		    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
		libc.prctl(PR_SET_NAME, name.encode(), 0, 0, 0)
		print("so", flush=True)
		while True:
		    time.sleep(0.03 * (sum(range(300000)) > 0))
	END
	start descended /usr/bin/python3 self.py descended # from root, without exec
	selves=("$pid")
	start_as_nobody undumped /usr/bin/python3 self.py undumped
	selves+=("$pid")
	start grouped setpriv --reuid nobody --regid daemon --clear-groups /usr/bin/python3 self.py grouped
	selves+=("$pid")
	start able setpriv --reuid nobody --regid nogroup --clear-groups --inh-caps +net_raw --ambient-caps +net_raw \
		/usr/bin/python3 self.py able
	selves+=("$pid")
	start_as_nobody plain /usr/bin/python3 self.py plain
	plain=$pid
	for name in descended undumped grouped able plain; do
		await $name.out so
	done
}

# What the kernel does not let a user see of processes of this user, Quartz does not show either.
uninspected()
{
	local selves plain pid

	chmod 755 "$T"
	cp "$out/quartzctl" quartzctl
	other_selves
	for pid in "${selves[@]}"; do
		as_nobody head -c 0 "/proc/$pid/mem"
		[ "$status" != 0 ] || fail "nobody may open the memory of $(cat "/proc/$pid/comm")"
	done
	as_nobody head -c 0 "/proc/$plain/mem"
	[ "$status" = 0 ] || fail 'nobody may not open the memory of its own' "$(cat nobody.err)"
	attach --system --max-overhead 0
	own_report "$plain" 0
	jq -e '[.scopes[].comm] | all(. != "descended" and . != "undumped" and . != "grouped" and . != "able")' own.json \
		>jq.out || fail 'shown to nobody' "$(jq -c '[.scopes[].comm]' own.json)"
	insist report --scope all --json >all.json
	jq -e '[.scopes[].comm] | contains(["descended", "undumped", "grouped", "able"])' all.json >jq.out ||
		fail 'root does not see all'
	detach
}

# A user who connects and asks nothing, over and over, keeps no other one out.
half_open()
{
	local mine

	chmod 755 "$T"
	cp "$out/quartzctl" quartzctl
	start_as_nobody mine /usr/bin/python3 -c 'while True: pass'
	mine=$pid
	attach --system
	start silent setpriv --reuid daemon --regid daemon --clear-groups /usr/bin/python3 -c '
import socket, sys, threading

def hold():
    while True:
        s = socket.socket(socket.AF_UNIX)
        try:
            s.connect(sys.argv[1])
            s.sendall(b"{\"method\":")
            s.recv(1)
        except OSError:
            pass

for _ in range(39):
    threading.Thread(target=hold).start()
print("so", flush=True)
hold()' "$T/run/users.sock"
	await silent.out so
	own_report "$mine" 0
	kill_now "$pid"
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

# lock_as_nobody FILE: as soon as that can be, and for as long as it can, if it may be opened.
lock_as_nobody()
{
	local name=${1##*/}

	start_as_nobody "$name" flock -F "$1" sh -c 'echo locked; exec sleep 600'
}

# What nobody can open while quartzd runs, nobody has locked when it has ended: to read is all that takes. A
# lock of an earlier version, which all users could open, is none any more.
locks()
{
	local file

	chmod 755 "$T"
	mkdir -p run
	echo 1 >run/quartzd.lock
	chmod 644 run/quartzd.lock
	lock_as_nobody run/quartzd.lock
	await quartzd.lock.out locked
	reachable
	for file in run/*; do
		lock_as_nobody "$file"
	done
	sleep 1
	detach
	await page.flag.out locked
	attach --pid "$busy"
	[ "$(stat -c %a run/quartzd.lock run/page.lock)" = $'600\n600' ] || fail "$(ls -l run)"
	! "$out/quartzd" --pid "$busy" --output other >other.out 2>other.err || fail 'a second one has started'
	grep -q "process $daemon;" other.err || fail 'the holder is not named' "$(cat other.err)"
	! grep -q 'is not read' quartzd.err || fail 'page sets are not served'
	detach
}

try 'other users learn nothing' others
try 'other users hold no lock' locks
thorough 'users see their own processes' own
thorough 'what the kernel does not show of a process' uninspected
thorough 'one who asks nothing over and over' half_open
with_text_tables try 'text tables are not for all users' tables
thorough 'clients that behave badly' bad_clients
