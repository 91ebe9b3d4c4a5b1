# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034
# One process that takes all it can get does not starve the others, and Quartz does not cost what it may not.

# view PID: report.json is the live report of the process.
view()
{
	"$out/quartzctl" report --scope "pid=$1" --json >report.json 2>report.err ||
		fail "report of $1 ended with status $?" "$(cat report.err)"
}

# await_view PID FILTER: until this holds of the first scope.
await_view()
{
	local i

	for ((i = 0; i < 60; i++)); do
		if "$out/quartzctl" report --scope "pid=$1" --json >report.json 2>report.err &&
			jq -e ".scopes[0] | $2" report.json >expect.out; then
			return 0
		fi
		sleep 2 # each is a snapshot of the whole machine
	done
	fail "never so of process $1: $2" "$(cat report.err)" "$(essence)"
}

# serve OPTION...: a quartzd --system that answers when this returns; sets daemon.
serve()
{
	start quartzd "$out/quartzd" --system --cpu none --history 0 --output "$T/profile" "$@"
	daemon=$pid
	await quartzd.err 'attached to'
}

# hog KIND EVENT: it is refused what the event counts; what begins after that has its figures whole.
hog()
{
	local quiet

	serve
	start hog "$programs/hog" 600 "$1"
	await_view "$pid" '.limited > 0'
	start quiet "$programs/lock_queue" 3 1000000 200
	quiet=$pid
	await_view "$quiet" '.waits > 500 and
		([.rows[] | select(.kind == "object" and .name == "hot_lock")] | length) == 1'
	view "$quiet"
	expect 'the quiet one is refused nothing' '.scopes[0].limited == 0'
	expect 'it waits for its lock by whole stacks' '.scopes[0] as $s |
		[$s.rows[] | select(.name == "contender" and .kind == "procedure")][0].total as $c |
		$c.causes.futex.waits > 0 and $c.causes.futex.blocked_ns > 0'
	expect 'and the ledger knows' ".ledger.events.$2 > 0"
	kill_now "$quiet"
	detach
}

# Rates are lowered when Quartz costs more than it may; the ledger has what was expected at each rate.
governor()
{
	local i

	serve --max-overhead 0.01 --rate 999
	start_busy 2
	for ((i = 0; i < 240; i++)); do
		"$out/quartzctl" status --json >status.json 2>status.err &&
			jq -e '.rate_halvings >= 4 and .window_ns >= 50e9' status.json >state.out &&
			break
		sleep 0.5
	done
	[ "$i" -lt 240 ] || fail 'the rate was not lowered' "$(cat status.json status.err quartzd.err)"
	kill_now "$busy"
	detach
	"$out/quartzctl" report -i profile --json >report.json || fail "report ended with status $?"
	expect 'what was expected follows the rate' '.ledger |
		(.unaccounted | fabs) <= 0.1 * .expected + 1000'
	expect 'rate and costs are part of the profile' '
		.costs.rate_halvings >= 4 and .costs.ceiling_ppm == 100 and
		.costs.sampling_ns > 0 and .costs.accounting_ns > 0 and .costs.daemon_ns > 0'
}

try stacks hog stacks wait_stacks_limited
try words hog words objects_limited
try governor governor
