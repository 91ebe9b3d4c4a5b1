# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# What quartzd --system costs a busy server: redis, PostgreSQL, a compiler, a compressor and processes that
# come and go, all at once, beside 500 processes that sleep. What each gets done in a window of time without
# Quartz, with it, and so on in turn: the ratio of each window with it to the mean of the two beside it.

seconds=${WINDOW-15}
components=(redis postgres compile compress forks)

# shellcheck source=/dev/null
. "$here/load.sh"

start_sleepers()
{
	for ((i = 0; i < 500; i++)); do
		start sleeper sleep infinity
	done
}

# ---- figures ----

# What each has done so far.
count()
{
	count_redis
	"${as_nobody[@]}" "$postgres/psql" -h "$T/data" -Atc 'select txid_current()' postgres
	stat -c %s "$T/done.compile" "$T/done.compress" "$T/done.forks"
}

# take_window FILE: adds a line with the rates of all.
take_window()
{
	local before after began=${EPOCHREALTIME/./}

	mapfile -t before < <(count)
	sleep "$seconds"
	mapfile -t after < <(count)
	echo "${before[*]} ${after[*]} $((${EPOCHREALTIME/./} - began))" |
		awk '{ for (i = 1; i <= 5; i++) printf "%.3f ", ($(i + 5) - $i) * 1e6 / $11; print "" }' >>"$1"
}

# quartzd with all that it has started.
family()
{
	local keeper

	keeper=$(pgrep -P "$daemon")
	echo "$daemon $keeper $(pgrep -P "$keeper" | tr '\n' ' ')"
}

# Processor time in ns, and memory that is neither files nor BPF maps in KiB: of quartzd, and of all.
used_by_family()
{
	local ns=0 kib=0 own=0 member figure rest

	for member in $(family); do
		for figure in "/proc/$member/task"/*/schedstat; do
			read -r figure rest <"$figure" && ns=$((ns + figure))
		done
		figure=$(awk '$1 == "RssAnon:" { print $2 }' "/proc/$member/status")
		kib=$((kib + figure))
		[ "$member" != "$daemon" ] || own=$figure
	done
	echo "$ns $own $kib"
} 2>/dev/null

start_service()
{
	start quartzd "$out/quartzd" --system --output "$T/profile"
	daemon=$pid
	await quartzd.err 'attached to'
	sleep 10
}

stop_service()
{
	local began=${EPOCHREALTIME/./}

	kill -TERM "$daemon"
	wait "$daemon"
	echo $(((${EPOCHREALTIME/./} - began) / 1000)) >>"$T/ends"
}

# watch COMMAND...: prints what quartzd used meanwhile: % of a processor, own and all memory in MiB,
# and the rate in force.
watch()
{
	local before after began=${EPOCHREALTIME/./}

	read -r before _ < <(used_by_family)
	"$@"
	read -r -a after < <(used_by_family)
	echo "$before ${after[*]} $((${EPOCHREALTIME/./} - began)) $("$out/quartzctl" status --json |
		jq '.rate_hz / pow(2; .rate_halvings)')" |
		awk '{ printf "%.2f %.1f %.1f %.3g\n", ($2 - $1) / $5 / 10, $3 / 1024, $4 / 1024, $6 }'
}

# column N FILE: its median, least and greatest.
column()
{
	awk -v n="$1" '{ print $n }' "$2" | median
}

print_daemon()
{
	local cpu own all rate

	read -r cpu _ < <(column 1 "$2")
	read -r _ _ own < <(column 2 "$2")
	read -r _ _ all < <(column 3 "$2")
	read -r rate _ < <(column 4 "$2")
	printf '%-22s %8.2f %10.1f %10.1f %10.3g\n' "$1" "$cpu" "$own" "$all" "$rate"
}

# Lines of without are one more than lines of with.
ratios()
{
	awk -v n="$1" 'NR == FNR { without[NR] = $n; next }
		{ print 2 * $n / (without[FNR] + without[FNR + 1]) }' "$T/without" "$T/with" | median
}

# The geometric means of the components, each line as one column.
add_means()
{
	awk '{ p = 1; for (i = 1; i <= 5; i++) p *= $i; print $0, p ^ (1 / 5) }' "$1" >"$T/means"
	mv "$T/means" "$1"
}

export QUARTZ_RUNTIME_DIR=$T/run QUARTZ_STATE_DIR=$T/state QUARTZ_CONFIG_DIR=$T/etc QUARTZ_CACHE_DIR=$T/cache
start_sleepers
start_service
watch sleep "$seconds" >>"$T/idle"
stop_service
start_redis
start_postgres
start_work
sleep 5
take_window "$T/without"
for ((round = 0; round < rounds; round++)); do
	start_service
	watch take_window "$T/with" >>"$T/busy"
	stop_service
	take_window "$T/without"
done

processes=$(pgrep -c .)
stop_load
echo "$processes processes; windows of $seconds s"
printf '%-10s %12s %8s %15s  %s\n' work 'per second' ratio min..max bar
add_means "$T/without"
add_means "$T/with"
for ((i = 0; i <= ${#components[@]}; i++)); do
	read -r rate _ < <(column $((i + 1)) "$T/without")
	read -r ratio least most < <(ratios $((i + 1)))
	printf '%-10s %12.1f %8.3f %7.3f..%.3f\n' "${components[i]-all}" "$rate" "$ratio" "$least" "$most"
done
echo 'all: the geometric mean; its bar is 0.99'
printf '%-22s %8s %10s %10s %10s\n' quartzd '% of one' 'own MiB' 'all MiB' 'rate, Hz'
print_daemon 'beside sleepers' "$T/idle"
print_daemon 'under the load' "$T/busy"
echo "ends after SIGTERM, ms: $(median "$T/ends") (median, least, most)"
echo 'bars: 1% of one processor, 64 MiB of its own, 2000 ms'
