# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# How well waits are estimated of which only some are looked at: two quartzd --system at once beside servers, one of them
# --exact. Of processes with many waits, how many there were by either, and of the ten places that were waited
# at for longest how many have the exact blocked time within the interval of the estimate. SKIPS=4 has the first one count
# switches for a sixteenth of the time, as its governor does where there are many.

seconds=${WINDOW-30}

# shellcheck source=/dev/null
. "$here/load.sh"

# follow NAME OPTION...: sets pid.
follow()
{
	local name=$1

	shift
	QUARTZ_RUNTIME_DIR=$T/run.$name QUARTZ_STATE_DIR=$T/state.$name QUARTZ_CONFIG_DIR=$T/etc \
		start "$name" "$out/quartzd" --system --private --cpu none --history 0 --output "$T/$name.profile" "$@"
}

# waits NAME: of each process.
waits()
{
	"$out/quartzctl" report -i "$T/$1.profile" --scope all --waits --rows 0 --json | jq -c '[.scopes[] |
		select(.pid and .pid > 0) | {pid, comm, waits,
		elapsed: .elapsed_ns,
		preempted: (.causes.preempted.waits // 0),
		ready: ([.causes[].ready_ns] | add // 0),
		places: [.rows[] | select(.total.waits) | {name, ns: .total.blocked_ns,
			within: (.total.waits_ci_ns // 0)}]}]' >"$T/$1.waits"
}

serve_redis
serve_postgres
start ask_redis "$out/tests/bench/redis_rate" "$T/redis" 50 60000 $((seconds + 10))
start ask_postgres "${as_nobody[@]}" "$postgres/pgbench" -n -h "$T/data" -c 8 -R 1500 -T $((seconds + 10)) postgres
MALLOC_ARENA_MAX=1 start arena "$out/tests/bench/arena" $((seconds + 10))
both=()
for name in sampled exact; do
	if [ $name = sampled ]; then
		QUARTZ_SKIP_SWITCHES=${SKIPS-} follow $name
	else
		follow $name --exact
	fi
	both+=("$pid")
done
pid=${both[0]} await sampled.err 'attached to'
await exact.err 'attached to'
sleep "$seconds"
kill -TERM "${both[@]}"
wait "${both[@]}"
waits sampled
waits exact
printf '| process | waits | estimated | of them preemptions | estimated | ready, s | estimated | of ten places within |\n'
printf '|---|---|---|---|---|---|---|---|\n'
# the windows of the two are not the same, so that times are of what both have
jq -r --slurpfile sampled "$T/sampled.waits" '
	def s: . / 1e7 | round / 100;
	.[] as $e | $sampled[0][] | select(.pid == $e.pid and $e.waits > 10000) | . as $s |
	($e.elapsed / $s.elapsed) as $scale |
	[$e.places | sort_by(-.ns)[:10][] | . as $p | [$s.places[] | select(.name == $p.name)][0] // {ns: 0, within: 0} |
		(.ns * $scale - $p.ns | fabs) <= .within + 0.002 * $e.elapsed] as $near |
	"| \($e.comm) | \($e.waits) | \($s.waits) | \($e.preempted) | \($s.preempted) | \($e.ready | s) | \($s.ready | s) " +
	"| \($near | map(select(.)) | length) of \($near | length) |"' "$T/exact.waits"
kill -INT "$server"
wait "$server"
