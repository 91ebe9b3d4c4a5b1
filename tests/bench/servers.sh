# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Processor time of the machine for a unit of work of servers and of short programs, at a rate that leaves the
# processors idle at times: with nothing, with quartzd --system, with the one in OTHER, with empty programs at the tracepoints
# where quartzd has its own, and with perf, in turn.
# A ratio is to the mean of the two windows with nothing beside it. WORK says which (all). The work goes on all the time at its
# rate, so that no window has its start or end in it. WINDOW says of how many seconds one is (4), WARM how many quartzd has before
# (11), in which its governor decides: what is read once, as unwind tables of programs, is not what a profiler costs that runs for
# months. PROFILERS says beside which; `nothing` among them shows what the machine's noise makes of a ratio.

seconds=${WINDOW-4}
warm=${WARM-11}
measuring=3 # seconds, of a rate
read -r -a works <<<"${WORK:-selects updates redis nginx compile fork_storm exec_storm}"
read -r -a profilers <<<"${PROFILERS:-quartzd ${OTHER:+other} empty perf perf_switches}"
tracepoints=(sched_switch sched_waking task_newtask sched_process_exec sched_process_exit task_rename vm_unmapped_area) # of quartzd --system
forever=100000 # seconds

# shellcheck source=/dev/null
. "$here/load.sh"

# ---- work ----

# half UNITS: of so many as could be done in `measuring` seconds, in one.
half()
{
	echo $(($1 / measuring / 2))
}

# bench_postgres SECONDS ARG...
bench_postgres()
{
	local time=$1

	shift
	exec "${as_nobody[@]}" "$postgres/pgbench" -n -h "$T/data" -c 8 -T "$time" "$@" postgres
}

transactions()
{
	(bench_postgres "$@") 2>/dev/null | sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p'
}

# ask_redis RATE SECONDS: by as many connections as redis-benchmark has.
ask_redis()
{
	exec "$out/tests/bench/redis_rate" "$T/redis" 50 "$1" "$2"
}

# ask_nginx SECONDS [RATE]: each connection has a request at a time, and a timer in steps of a millisecond or so.
ask_nginx()
{
	exec h2load --h1 -c 200 -D "$1" ${2:+--rps $(($2 / 200))} http://127.0.0.1:8093/
}

start_nginx()
{
	needs /usr/sbin/nginx nginx
	needs h2load nghttp2-client
	printf 'daemon off; master_process off; pid %s/nginx.pid; error_log /dev/null;
		events { } http { access_log off; keepalive_requests 1000000000; server { listen 127.0.0.1:8093; root %s; } }' "$T" "$T" >"$T/nginx.conf"
	echo hello >"$T/index.html"
	chmod 755 "$T"
	start nginx /usr/sbin/nginx -c "$T/nginx.conf"
	until h2load --h1 -n 1 http://127.0.0.1:8093/ | grep -q '1 succeeded'; do sleep 0.05; done
}

# libquartz, with the usual build.
make_library()
{
	rm -rf "$T/made"
	make -C "$here/../.." -s -j2 O="$T/made" "$T/made/libquartz.so"
}

# each_second COMMAND...: until it is to end.
each_second()
{
	local due=${EPOCHREALTIME/./} left

	while [ -e "$T/goes_on" ] && "$@" >/dev/null 2>&1; do
		due=$((due + 1000000))
		left=$((due - ${EPOCHREALTIME/./}))
		[ $left -le 0 ] || sleep "$(printf '0.%06d' $left)"
	done
}

# begin WORK: it goes on from now on, at `rate` units a second; what does it is the process `load`.
begin()
{
	touch "$T/goes_on"
	case $1 in
	selects | updates)
		[ -d "$T/data" ] || serve_postgres
		local kind=()
		[ "$1" = updates ] || kind=(-S)
		rate=$(half "$(transactions $measuring "${kind[@]}")")
		start load bench_postgres $forever -R "$rate" "${kind[@]}"
		;;
	redis)
		serve_redis
		rate=$(half "$(ask_redis 1000000000 $measuring)")
		start load ask_redis "$rate" $forever
		;;
	nginx)
		start_nginx
		rate=$(half "$( (ask_nginx $measuring) | sed -n 's/^requests: .* \([0-9]*\) succeeded.*/\1/p')")
		start load ask_nginx $forever "$rate"
		;;
	compile)
		rate=1
		start load each_second make_library
		;;
	fork_storm)
		rate=5000
		start load "$out/tests/bench/storm" forks $rate $forever
		;;
	exec_storm)
		rate=1000
		start load "$out/tests/bench/storm" execs $rate $forever
		;;
	*) fail "servers: no work '$1'" ;;
	esac
	load=$pid
	sleep 2
}

# The work ends; what is being made is made first.
finish()
{
	kill -0 "$load" 2>/dev/null || fail "$work ended: $(tail -n 1 "$T/load.err")"
	rm "$T/goes_on"
	if [ "$work" = compile ]; then
		wait "$load"
	else
		end "$load"
	fi
}

# ---- windows ----

# Nanoseconds that processors were idle, waited for a disk, or were the host's.
idle_ns()
{
	awk '/^cpu / { printf "%.0f\n", ($5 + $6 + $9) * 1e7 }' /proc/stat
}

# Prints ns of processor time a unit.
take()
{
	local began=${EPOCHREALTIME/./} idle

	idle=$(idle_ns)
	sleep "$seconds"
	echo "$(($(idle_ns) - idle)) $((${EPOCHREALTIME/./} - began)) $rate $(nproc)" |
		awk '{ print ($4 * $2 * 1e3 - $1) / ($2 / 1e6 * $3) }'
}

# window PROFILER: as take. The kernel's statistics of programs are of the time before: they take a tenth of what a program
# takes at a switch.
window()
{
	local profiler=$1 build=$out

	case $profiler in
	nothing) start profiler sleep infinity ;;
	quartzd | other)
		[ "$profiler" = quartzd ] || build=$OTHER
		start profiler "$build/quartzd" --system --cpu none --history 0 --output "$T/profile"
		await profiler.err 'attached to'
		echo 1 >/proc/sys/kernel/bpf_stats_enabled
		sleep "$warm"
		echo 0 >/proc/sys/kernel/bpf_stats_enabled
		;;
	empty) start_empty "${tracepoints[@]}" ;;
	perf) start profiler perf record -B -N -q -a -g -F 99 -o "$T/perf.data" ;;
	perf_switches) start profiler perf record -B -N -q -a -g -F 99 --switch-events -o "$T/perf.data" ;;
	esac
	sleep 1
	take
	[ "$profiler" != quartzd ] || programs_of "$pid" >"$T/programs"
	stop
} 2>/dev/null

# ratios FILE: of its windows to those without.
ratios()
{
	awk 'NR == FNR { without[NR] = $1; next } { print 2 * $1 / (without[FNR] + without[FNR + 1]) }' \
		"$T/without" "$1" | sort -g >"$T/ratios"
	awk '{ v[NR] = $1 } END { q = int((NR + 3) / 4); m = int((NR + 1) / 2)
		printf "%.3f %.3f %.3f\n", (v[m] + v[NR + 1 - m]) / 2, v[q], v[NR + 1 - q] }' "$T/ratios"
}

# us_a_unit FILE: the median of its windows.
us_a_unit()
{
	awk '{ print $1 / 1000 }' "$1" | median | cut -d' ' -f1
}

export QUARTZ_RUNTIME_DIR=$T/run QUARTZ_STATE_DIR=$T/state QUARTZ_CONFIG_DIR=$T/etc QUARTZ_CACHE_DIR=$T/cache
echo "windows of $seconds s, $rounds rounds"
printf '%-10s %-14s %10s %12s %7s %s\n' work profiler 'units/s' 'us a unit' ratio quartiles
for work in "${works[@]}"; do
	rm -f "$T/without" "$T"/with.* "$T/programs"
	begin "$work"
	window nothing >>"$T/without"
	for ((round = 0; round < rounds; round++)); do
		for profiler in "${profilers[@]}"; do
			window "$profiler" >>"$T/with.$profiler"
		done
		window nothing >>"$T/without"
	done
	finish
	printf '%-10s %-14s %10d %12.1f\n' "$work" - "$rate" "$(us_a_unit "$T/without")"
	for profiler in "${profilers[@]}"; do
		read -r ratio low high < <(ratios "$T/with.$profiler")
		printf '%-10s %-14s %10s %12.1f %7.3f %s..%s\n' "$work" "$profiler" '' \
			"$(us_a_unit "$T/with.$profiler")" "$ratio" "$low" "$high"
	done
	[ ! -e "$T/programs" ] || awk '$2 { printf "%-10s   %s: %d calls, %d ns each\n", "'"$work"'", $1, $2, $3 / $2 }' "$T/programs"
done
if [ -n "${server-}" ]; then
	kill -INT "$server"
	wait "$server"
fi
