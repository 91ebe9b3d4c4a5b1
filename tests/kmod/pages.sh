# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# pages: libquartz over /dev/quartz; tests/bpf/lib.sh runs it, with quartz.ko loaded and no other quartzd
# that opens page sets.

# numbered: a page set's number. They are given out one by one, so that two of them count the others.
numbered()
{
	"$out/tests/kmod/hold" number
}

# over WHERE SETS COMMAND...: a run that takes so many sets of the device, with its profile in
# WHERE.profile.
over()
{
	local where=$1 sets=$2 before after

	shift 2
	[ "$sets" = 0 ] || before=$(numbered)
	"$out/quartzd" --cpu none --output "$T/$where.profile" -- "$@" >"$where.out" 2>"$where.err" ||
		fail "quartzd ended with status $?"
	[ "$sets" = 0 ] && return
	after=$(numbered)
	[ $((after - before - 1)) = "$sets" ] ||
		fail "$((after - before - 1)) sets of the device, not $sets"
}

# Without the device, the socket is left.
over_socket()
{
	mv /dev/quartz /dev/quartz.hidden
	over socket 0 "$@"
	mv /dev/quartz.hidden /dev/quartz
}

report_of()
{
	"$out/quartzctl" report -i "$T/$1.profile" --json "${@:2}" || fail "no report of $*"
}

# Who called whom how often; the procedures that compute for a time are called as often as it takes.
calls_of()
{
	local procedure

	for procedure in main middle leaf; do
		report_of "$1" "$procedure" | jq -c --arg of "$procedure" '.scopes[0] |
			(.callees[] | [$of, .procedure.name, .calls]), (.callers[] | [.procedure.name, $of, .calls]) |
			select(.[2] and (all(.[]; tostring | test("^(compute|truth)") | not)))'
	done | sort -u
}

# The sums that are exact in every report.
exact()
{
	report_of "$1" | jq -e '.scopes | length > 0 and all(.[];
		([.rows[].self.norm_ns] | add) + .unattributed_ns + .instrumentation_ns == .busy_ns and
		(.level_ns | add) == .elapsed_ns and
		(.effective_ns | add) == .elapsed_ns and .samples > 0)' >/dev/null ||
		fail "sums of the run over the $1 are not equal"
}

# The procedures that libquartz told of.
procedures_of()
{
	report_of "$1" | jq -r '.scopes[].rows[].name' | grep -E '_scope$|^(main|middle|leaf|loop)$' | sort -u
}

same()
{
	"$1" device >one
	"$1" socket >other
	diff one other || fail "$1 differ"
}

ledger()
{
	metadata "$T/$1.profile" | jq -e ".ledger.events | $2" >/dev/null ||
		fail "$1: not $2" "$(metadata "$T/$1.profile" | jq -c .ledger.events)"
}

exact_calls()
{
	over device 1 "$programs/called" 0.1 30000
	over_socket "$programs/called" 0.1 30000
	same calls_of
	mv one calls
	same procedures_of
	for pair in '"main","loop",1' '"main","middle",30000' '"middle","leaf",60000' '"main","leaf",1'; do
		grep -qxF "[$pair]" calls || fail "no [$pair]" "$(cat calls)"
	done
	exact device
	exact socket
}

# The child has a set of its own.
forks()
{
	over device 2 "$programs/profiled" fork 0.3
	over_socket "$programs/profiled" fork 0.3
	same procedures_of
	procedures_of device >procedures
	[ "$(grep -cxE 'child_scope|inner_scope' procedures)" = 2 ] || fail "$(cat procedures)"
	exact device
	exact socket
}

# More threads at a time than the slots that are there at first.
churn()
{
	over device 1 "$programs/profiled" churn 640
	ledger device '.profile_slots_refused == 0 and .pages_refused == 0'
	metadata "$T/device.profile" | jq -e '.scopes[0].threads_seen == 641' >/dev/null ||
		fail 'threads are missing'
	exact device
}

# Neither a file nor a socket in common; quartzd comes after the program, and comes again.
without_a_directory()
{
	local before

	[ ! -e /run/quartz/page.flag ] || skip 'another quartzd has been here'
	start linger env -u QUARTZ_RUNTIME_DIR "$programs/profiled" linger "$T/go"
	linger=$pid
	await linger.out ready
	before=$(numbered)
	attach --pid "$linger"
	touch go
	sleep 1
	kill_now "$daemon"
	attach --pid "$linger"
	sleep 1
	detach
	[ $(($(numbered) - before - 1)) = 2 ] || fail 'it has not asked each quartzd for a page set'
	mv profile device.profile
	procedures_of device | grep -qx linger_scope || fail 'nothing is said of linger_scope'
	exact device
}

# Programs that may be profiled but are not: refused, and none the worse.
not_followed()
{
	start sleeper sleep 1000
	attach --pid "$pid"
	"$programs/profiled" scopes 0.1 >program.out || fail 'it does not work'
	kill -0 "$daemon" || fail 'quartzd is gone'
}

try 'exact numbers of calls over the device and over the socket' exact_calls
try 'forks over the device and over the socket' forks
try 'many threads over the device' churn
try 'the device alone' without_a_directory
try 'a program that is not followed' not_followed
