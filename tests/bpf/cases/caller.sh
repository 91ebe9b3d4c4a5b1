# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2015,SC2016
# quartzctl record as who calls by sudo types it: whose the command and the profile are, and what is said.

uid=$(id -u nobody)

# by_nobody COMMAND...: as sudo starts it for the user nobody; in the background; sets pid.
by_nobody()
{
	chmod 755 "$T"
	start record env SUDO_UID="$uid" SUDO_GID="$(id -g nobody)" SUDO_USER=nobody "$@"
}

# as_nobody COMMAND...: sets status.
as_nobody()
{
	setpriv --reuid nobody --regid nogroup --clear-groups "$@" >nobody.out 2>nobody.err
	status=$?
}

# said WORDS...: each in a line of its own, and nothing by any other name than that of quartzctl.
said()
{
	local words

	for words in "$@"; do
		grep -q -e "$words" record.err || fail "not said: $words" "$(cat record.err)"
	done
	! grep -v '^quartzctl: ' record.err || fail 'not as quartzctl'
}

own_profile()
{
	local profile

	by_nobody "$out/quartzctl" record --cpu none -- sh -c 'echo $$; id -u; echo $HOME $USER; ls -l /proc/self/fd'
	ended "$pid"
	[ "$status" = 0 ] || fail "status $status" "$(cat record.err)"
	said 'sh is run as nobody; with --user root' 'quartzctl: see it with: quartzctl report$'
	[ "$(sed -n 2p record.out)" = "$uid" ] || fail 'not run as nobody' "$(cat record.out)"
	[ "$(sed -n 3p record.out)" = "$(getent passwd nobody | cut -d: -f6) nobody" ] ||
		fail 'not with its own home' "$(cat record.out)"
	! grep -E 'anon_inode|socket:|bpf' record.out || fail 'descriptors of quartzd'
	profile=$(echo state/users/"$uid"/sh-"$(sed -n 1p record.out)"-*.pb.gz)
	[ -s "$profile" ] || fail 'not named after its process' "$(find state)"
	[ "$(stat -c '%u %a' "$profile")" = "$uid 640" ] || fail 'not its own' "$(ls -l "$profile")"
	[ "$(stat -c '%u %a' "state/users/$uid")" = '0 750' ] || fail 'others can plant files there'
	cp "$out/quartzctl" quartzctl
	as_nobody ./quartzctl report
	[ "$status" = 0 ] || fail 'nobody cannot see it' "$(cat nobody.err)"
	SUDO_UID=$uid "$out/quartzctl" report >root.out || fail 'nor can root by sudo'
	by_nobody "$out/quartzctl" record --user root --cpu none -- id -u
	ended "$pid"
	[ "$(cat record.out)" = 0 ] || fail 'not run as root'
	! grep 'is run as' record.err || fail 'it is said all the same'
}

# What tune runs, as what scale asks, is the user's as what record runs is; and a number that is no user's is not root.
own_trials()
{
	mkdir mine && chown nobody mine
	by_nobody "$out/quartzctl" tune --knob "n:1,2:id -u >>mine/{}; id -g >>mine/{}; echo \$HOME >>mine/{}" --for 5s
	ended "$pid"
	[ "$status" = 0 ] || fail "status $status" "$(cat record.err)"
	said 'the command is run as nobody; with --user root'
	[ "$(sort -u mine/1 mine/2)" = "$(printf '%s\n' "$uid" "$(id -g nobody)" "$(getent passwd nobody | cut -d: -f6)" | sort -u)" ] ||
		fail 'not run as nobody' "$(cat mine/*)"
	by_nobody "$out/quartzctl" tune --user root --knob "n:1,2:id -u >>mine/root; : {}" --for 5s
	ended "$pid"
	[ "$(sort -u mine/root)" = 0 ] || fail 'not run as root'
	start_busy 1
	by_nobody "$out/quartzctl" scale --pid "$busy" --processors 1 --runs 1 --duration 300ms -o scaled \
		--events 'id -u >mine/asked; date +%s%N'
	ended "$pid"
	[ "$(cat mine/asked)" = "$uid" ] || fail 'asked as another one' "$(cat record.err)"
	SUDO_UID=4294967000 "$out/quartzctl" record -o none -- touch ran 2>refused.err
	status=$?
	[ "$status" = 2 ] && [ ! -e ran ] && [ "$(wc -l <refused.err)" = 1 ] && grep -q 'is no user here.*--user' refused.err ||
		fail "status $status" "$(cat refused.err)"
}

# What the user could make belongs to the user; what root alone could make stays root's. Nothing is followed.
own_output()
{
	mkdir mine && chown nobody mine
	echo theirs >target
	ln -s "$T/target" mine/link
	by_nobody "$out/quartzctl" record --cpu none -o mine/link -- true
	ended "$pid"
	said 'see it with: quartzctl report -i mine/link'
	[ "$(cat target)" = theirs ] || fail 'a link was followed'
	[ "$(stat -c '%F %U' mine/link)" = 'regular file nobody' ] || fail 'not its own' "$(ls -l mine)"
	by_nobody "$out/quartzctl" record --cpu none -o 'root'\''s one' -- true
	ended "$pid"
	[ "$(stat -c %u root?s*)" = 0 ] || fail "root's was given away" "$(ls -l)"
	said "see it with: sudo quartzctl report -i 'root'.''s one'\$"
	mkfifo pipe
	for place in mine pipe /dev/null mine/; do
		by_nobody "$out/quartzctl" record -o "$place" -- touch ran
		ended "$pid"
		[ "$status" = 1 ] || fail "status $status of -o $place" "$(cat record.err)"
		said 'cannot be written'
	done
	[ ! -e ran ] || fail 'the command was run all the same'
	[ -c /dev/null ] || fail '/dev/null is no device any more'
}

state_of_others()
{
	local place status

	mkdir state mine && chown nobody state mine && chmod 700 mine
	for place in state mine/state; do
		QUARTZ_STATE_DIR=$T/$place "$out/quartzd" --system --duration 1 -o profile 2>refused.err
		status=$?
		[ "$status" = 1 ] || fail "status $status with $place" "$(cat refused.err)"
		grep -q "$place/history: .*root's own" refused.err || fail "$(cat refused.err)"
	done
	"$out/quartzctl" record touch ran 2>refused.err
	grep -q "state: cannot be written: .*root's own" refused.err || fail "$(cat refused.err)"
	[ ! -e ran ] || fail 'the command was run all the same'
	QUARTZ_STATE_DIR=$T/mine/state "$out/quartzctl" record true 2>record.err ||
		fail 'not saved where only root comes' "$(cat record.err)"
	[ "$(find mine/state/profiles -name 'true-*' | wc -l)" = 1 ] || fail 'saved elsewhere'
}

interrupts()
{
	mkdir mine && chown nobody mine
	by_nobody "$out/quartzctl" record --cpu none -o profile -- sh -c 'trap "" INT; echo $$ >mine/left; echo here; exec sleep 600'
	await record.out here
	kill -INT "$pid"
	await record.err 'interrupted; the profile is saved when sh and all'
	kill -INT "$pid"
	ended "$pid"
	[ "$status" = 130 ] || fail "status $status"
	said 'interrupted; saving the profile' 'see it with'
	kill -KILL "$(cat mine/left)"
	start record "$out/quartzctl" record -o early -- touch ran
	until [[ $(cat "/proc/$pid/comm") = quartz* ]]; do # bash, until then, and its handlers
		kill -0 "$pid" || fail 'it has ended'
	done
	kill -TERM "$pid"
	ended "$pid"
	[ "$status" = 143 ] || fail "status $status of one that was still loading"
	[ ! -e ran ] && [ ! -e early ] || fail 'it went on'
}

# Whatever ends a recording, what it has measured is saved: that of a hang-up as that of SIGTERM, what is killed from time to time.
ended_from_outside()
{
	local i name

	for name in HUP QUIT XCPU USR1 USR2 ALRM; do
		start record "$out/quartzctl" record --cpu none -o profile -- sh -c 'echo here; exec sleep 600'
		await record.out here
		kill -s "$name" "$pid"
		ended "$pid"
		[ "$status" = $((128 + $(kill -l "$name"))) ] && [ -s profile ] || fail "status $status of SIG$name"
		rm profile
	done
	start record nohup "$out/quartzctl" record --cpu none -o profile -- \
		sh -c 'echo $$ >left; exec "$1" 600000' - "$programs/spin_cpu"
	for ((i = 0; i < 600; i++)); do
		[ ! -s profile ] || break
		sleep 0.1
	done
	kill -HUP "$pid"
	kill -0 "$pid" || fail 'nohup is of no use'
	kill_now "$pid"
	kill -KILL "$(cat left)"
	"$out/quartzctl" report -i profile --json >report.json 2>report.err || fail 'nothing was kept'
	jq -e '.scopes[0] | .cpu_ns > 0 and any(.rows[]; .name == "fixed_work")' report.json >jq.out ||
		fail 'what was kept lacks the program' "$(head -c 2000 report.json)"
	[ -z "$(find . -name '*.part')" ] || fail 'a part of a file was left'
}

what_runs()
{
	local first

	start_busy 1
	first=$busy
	start_busy 2
	"$out/quartzctl" record -p "$first,$busy" -d 500ms --cpu none -o profile 2>record.err ||
		fail "status $?" "$(cat record.err)"
	said 'attached to 2 targets'
	metadata profile | jq -e --argjson a "$first" --argjson b "$busy" \
		'[.scopes[].pid] == [$a, $b]' >jq.out || fail 'not these two'
	"$out/quartzctl" record -a --duration 1 -o profile 2>record.err || fail "status $?" "$(cat record.err)"
	metadata profile | jq -e --argjson b "$busy" 'any(.scopes[]; .comm == "machine") and
		([.scopes[].pid] | any(. == $b))' >jq.out || fail 'not the machine'
	[ ! -e state/history ] || fail 'slices beside those of the service'
}

# A server whose children do the work.
children()
{
	local server

	start server bash -c '"$1" 600000 & "$1" 600000 & echo $! >child; wait' - "$programs/spin_cpu"
	server=$pid
	for ((i = 0; i < 600; i++)); do
		[ ! -s child ] || break
		sleep 0.05
	done
	for pid in $(cat "/proc/$server/task/$server/children"); do
		started+=("$pid")
	done
	"$out/quartzctl" record -p "$server" -d 300ms --cpu none -o alone 2>record.err
	said "process $server (bash) has 2 child processes (spin_cpu), left out; --tree $server takes them in"
	"$out/quartzctl" report -i alone >report.txt 2>report.err
	grep -q "^It had 2 child processes, which are not in this profile: record --tree $server" report.txt ||
		fail 'children are not told later' "$(head -n 12 report.txt)"
	"$out/quartzctl" record --tree "$server" -d 300ms --cpu none -o profile 2>record.err || fail "status $?" "$(cat record.err)"
	! grep 'left out' record.err || fail 'left out all the same'
	"$out/quartzctl" report -i profile --json >report.json 2>report.err
	jq -e '.scopes[0] | .cpu_ns > 0 and any(.rows[]; .name == "fixed_work")' report.json >jq.out ||
		fail 'without the children' "$(head -c 2000 report.json)"
}

# One that another thread than the first has started, and one that is started while the run goes on.
children_of_threads()
{
	local server

	mkfifo gate
	start server python3 -c '
import subprocess, sys, threading
def work(name):
	child = subprocess.Popen([sys.argv[1], "600000"])
	with open(name, "w") as file:
		print(child.pid, file=file)
	child.wait()
threading.Thread(target=work, args=["first"]).start()
open("gate").read()
work("second")' "$programs/spin_cpu"
	server=$pid
	await first .
	started+=("$(cat first)")
	start record "$out/quartzctl" record -p "$server" --cpu none -o profile
	await record.err attached
	: >gate
	await second .
	started+=("$(cat second)")
	kill -INT "$pid"
	ended "$pid"
	[ "$status" = 0 ] || fail "status $status" "$(cat record.err)"
	metadata profile | jq -e '.scopes[0].children == 2' >jq.out || fail "$(cat jq.out) children"
}

# The command runs at once, and what it does in the time is not measured.
later()
{
	local before

	before=$(date +%s%N)
	"$out/quartzctl" record --delay 5 --cpu none -o profile -- \
		sh -c 'date +%s%N >began; until [ -e enough ]; do sleep 0.1; done' 2>record.err &
	pid=$!
	started+=("$pid")
	for ((i = 0; i < 1200; i++)); do
		[ ! -s began ] || break
		sleep 0.1
	done
	sleep 6
	touch enough
	ended "$pid"
	[ "$status" = 0 ] || fail "status $status" "$(cat record.err)"
	"$out/quartzctl" report -i profile --json >report.json 2>report.err
	jq -e --argjson before "$before" --argjson began "$(cat began)" '
		.wall_start_ns >= $before + 5e9 and .wall_start_ns > $began' report.json >jq.out ||
		fail 'not later' "$(cat began)"
	"$out/quartzctl" record --delay 1h -o early -- true 2>record.err
	status=$?
	[ "$status" = 7 ] && [ ! -e early ] || fail "status $status of a command that ended before"
	said 'ended within the time of --delay'
}

# had VARIABLE WORDS COMMAND...: what the command's environment had.
had()
{
	local words=$1

	shift
	PATH=$T:$PATH "$out/quartzctl" record --cpu none -o profile "$@" >program.out 2>record.err
	status=$?
	[ "$status" = 0 ] || fail "status $status" "$(cat record.err)"
	[ "$(cat program.out)" = "$words" ] || fail "not '$words'" "$(cat program.out record.err)"
}

runtimes()
{
	local names='--perf-basic-prof --interpreted-frames-native-stack'

	# shellcheck disable=SC2016 # for that shell
	printf '#!/bin/sh\necho "$NODE_OPTIONS"\n' >node
	printf '#!/usr/bin/env -S node --no-warnings\n' >app
	# shellcheck disable=SC2016
	printf '#!/bin/sh\necho "${NODE_OPTIONS-none}"\n' >other
	chmod +x node app other
	unset NODE_OPTIONS
	had "$names" node
	said 'names for JavaScript, NODE_OPTIONS has --perf-basic-prof'
	had "$names" ./app
	NODE_OPTIONS=--no-deprecation had "--no-deprecation $names" ./node
	NODE_OPTIONS="$names" had "$names" ./node
	! grep NODE_OPTIONS record.err || fail 'it says that it does what was done'
	had '' --runtime none ./node
	had "$names" sh -c 'exec ./node --version'
	printf '#!/bin/sh\nHOME=/nowhere\nexec "./node"\n' >starts-it
	chmod +x starts-it
	had "$names" ./starts-it
	had "$names" env A=b sh ./starts-it
	# shellcheck disable=SC2016
	printf '#!/bin/sh\necho "${JAVA_TOOL_OPTIONS##*Unlock}"\n' >javac
	chmod +x javac
	had 'DiagnosticVMOptions -XX:+PreserveFramePointer -XX:+DumpPerfMapAtExit' ./javac
	had none ./other
	! grep -- --runtime record.err || fail 'of a program that is no runtime'
}

# Those that the C library keeps for itself, 32 and 33, are its own.
own_signals()
{
	local name mask

	while read -r name mask; do
		printf '%s %x\n' "$name" $((0x$mask & 0x7fffffff))
	done
}

# What it ignores and blocks is what it would alone, whatever quartzd does for itself.
as_alone()
{
	local signals

	for signals in '' PIPE 'PIPE XFSZ' 'USR1 XFSZ'; do
		# shellcheck disable=SC2086 # of several words
		(
			[ -z "$signals" ] || trap '' $signals
			grep '^Sig[BIC]' /proc/self/status >alone.out
			exec "$out/quartzctl" record --cpu none -o profile -- grep '^Sig[BIC]' /proc/self/status
		) >record.out 2>record.err || fail "$(cat record.err)"
		diff <(own_signals <alone.out) <(own_signals <record.out) >signals.diff ||
			fail "other signals than alone: '$signals'" "$(cat signals.diff)"
	done
}

# Its procedures cannot be named, which is said once. A kernel may refuse to run it: then it ends as it would alone.
of_32_bits()
{
	local alone status

	cat >loop.s <<-'END'
		.globl _start
		_start:	mov $300000000, %ecx
		1:	dec %ecx
			jnz 1b
			mov $1, %eax
			xor %ebx, %ebx
			int $0x80
	END
	gcc -m32 -nostdlib -static -o loop loop.s || fail 'gcc'
	if ! ./loop 2>/dev/null; then
		env ./loop 2>/dev/null
		alone=$?
		"$out/quartzctl" record --cpu none -o profile -- ./loop 2>record.err
		status=$?
		[ $status = $alone ] || fail "it ends with status $status, alone with $alone" "$(cat record.err)"
		return
	fi
	"$out/quartzctl" record --cpu none -o profile -- ./loop 2>record.err || fail "$(cat record.err)"
	said 'loop is code of 32 bits: its procedures and locks have no names'
	[ "$(grep -c 'loop is code of 32 bits' record.err)" = 1 ] || fail 'not said once' "$(cat record.err)"
	for view in report advise; do
		"$out/quartzctl" $view -i profile | head -n 8 | tr '\n' ' ' >first.txt
		grep -q 'has no names: most of it is in loop, of 32 bits' first.txt || fail "$view" "$(cat first.txt)"
	done
	"$out/quartzctl" doctor "$(metadata profile | jq '.scopes[0].pid')" -i profile >doctor.txt
	grep -q '^warn  32_bits .*code of 32 bits has no names' doctor.txt || fail doctor "$(cat doctor.txt)"
}

try 'the command and the profile of who calls by sudo' own_profile
try 'the command has the signals that it would have alone' as_alone
try 'a program of 32 bits' of_32_bits
try 'trials of who calls by sudo' own_trials
try 'a file of who calls by sudo' own_output
try 'a state directory of others' state_of_others
try 'interrupts are answered' interrupts
try 'signals that end a recording, and a kill' ended_from_outside
try 'a server whose children do the work' children
try 'children of any thread, at any time' children_of_threads
try 'runtimes are told to name their code' runtimes
thorough 'processes that run, and the machine' what_runs
thorough 'measuring later' later
