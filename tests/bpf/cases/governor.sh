# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034
# Quartz does not cost what it may not, and says what it costs and what it left out.

# Rates are lowered when Quartz costs more than it may; the ledger has what was expected at each rate.
governor()
{
	serve --max-overhead 0.01 --rate 999
	start_busy 2
	await_status '.rate_halvings >= 2' 'the rate was not lowered'
	kill_now "$busy"
	detach
	"$out/quartzctl" report -i profile --json >report.json || fail "report ended with status $?"
	expect 'what was expected follows the rate' '.ledger |
		(.unaccounted | fabs) <= $unaccounted * .expected + 1000' \
		--argjson unaccounted "${UNACCOUNTED:-0.1}"
	expect 'rate and costs are part of the profile' '
		.costs.rate_halvings >= 2 and .costs.ceiling_ppm == 100 and
		.costs.sampling_ns > 0 and .costs.accounting_ns > 0 and .costs.daemon_ns > 0'
}

# What Quartz costs, by part: all of it.
parts()
{
	serve --max-overhead 50
	start storm "$programs/forks" 1000000 4
	await_status '.overhead_ppm > 0' 'no overhead is known'
	"$out/quartzctl" status >status.text || fail "status ended with status $?"
	kill "$pid"
	detach
	jq -e '.overhead_parts_ppm as $of |
		($of.daemon + $of.accounting + $of.sampling + $of.walking - .overhead_ppm | fabs) <= 4 and
		([$of.daemon, $of.sampling, $of.accounting] | all(. > 0))' \
		status.json >parts.out || fail 'the parts are not the whole' "$(cat status.json)"
	grep -q "quartzd [0-9.]*%, the scheduler's log [0-9.]*%, samples" \
		status.text || fail 'the parts are not shown' "$(cat status.text)"
	grep -q '^overhead [0-9.]*% of the processors, at most 50%; [0-9.]*% of the time that they were busy$' status.text ||
		fail 'the share of the busy time is not shown' "$(cat status.text)"
}

# With next to nothing that it may cost, an eighth of the time is measured.
windows()
{
	events_lost=true
	start program "$programs/pingpong" pipe threads 1000000000
	start_busy 1
	attach --system --rate 99 --max-overhead 0.01
	await quartzd.err 'measuring 12.5% of the time'
	sleep $((11 * slow)) # one of the governor's windows, and one of the log's
	detach
	"$out/quartzctl" report -i profile >report.txt || fail 'no report'
	tr '\n' ' ' <report.txt | grep -q 'Quartz measured for .* of the time, since all of it would cost more' ||
		fail 'the first lines say nothing' "$(cat report.txt)"
	lawful
	expect 'what was left out is told, and is not called lost' '.ledger.events | .log_off_ns > 10e9 and
		.log_lost_ns == 0 and .log_impossible == 0'
	"$out/quartzctl" report -i profile --scope "pid=$busy" --json >report.json || fail 'no report'
	expect 'who ran all the time ran for what was measured' '.scopes[0] | (.threads | length) == 1 and
		.threads[0].unknown_ns > 5e9 and .elapsed_ns < (.threads[0] | .end_ns - .start_ns) - 5e9'
}

try 'what Quartz costs, by part' parts
thorough governor governor
thorough 'a log that is off for a part of the time' windows
