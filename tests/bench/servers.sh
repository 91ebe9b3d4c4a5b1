# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Processor time of the machine for a unit of work of servers and of short programs, at a rate that leaves the
# processors idle at times: with nothing, with quartzd --system, with the one in OTHER, and with perf, in turn.
# A ratio is to the mean of the two windows with nothing beside it. WORK says which (all), WINDOW seconds each (5), after two
# of the same work; before these quartzd has WARM seconds (8) of it, in which its governor decides: what is read once, as unwind
# tables of programs, is not what a profiler costs that runs for months. PROFILERS says beside which; `nothing` among them shows
# what the machine's noise makes of a ratio.

seconds=${WINDOW-5}
warm=${WARM-8}
read -r -a works <<<"${WORK:-selects updates redis nginx compile forks fork_storm exec_storm}"
read -r -a profilers <<<"${PROFILERS:-quartzd ${OTHER:+other} perf perf_switches}"

# shellcheck source=/dev/null
. "$here/load.sh"

# ---- work: each prints how many units it did ----

pgbench()
{
	"${as_nobody[@]}" "$postgres/pgbench" -n -h "$T/data" -c 8 -T "$seconds" "$@" postgres 2>/dev/null |
		sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p'
}

# half COMMAND...: of what it does in a second as fast as it can.
half()
{
	echo $(($("$@") / seconds / 2))
}

selects() { pgbench -S -R "$select_rate"; }
updates() { pgbench -R "$update_rate"; }

# redis_at RATE: by as many connections as redis-benchmark has.
redis_at() { "$out/tests/bench/redis_rate" "$T/redis" 50 "$1" "$seconds"; }
redis() { redis_at "$redis_rate"; }

# nginx_at [RATE]: each connection has a request at a time, and a timer in steps of a millisecond or so.
nginx_at()
{
	h2load --h1 -c 200 -D "$seconds" ${1:+--rps $(($1 / 200))} http://127.0.0.1:8093/ |
		sed -n 's/^requests: .* \([0-9]*\) succeeded.*/\1/p'
}

nginx() { nginx_at "$nginx_rate"; }

# until_over COMMAND...: how often it was done.
until_over()
{
	local n=0 end=$((SECONDS + seconds))

	while [ $SECONDS -lt $end ]; do
		"$@" >/dev/null 2>&1
		n=$((n + 1))
	done
	echo $n
}

# libquartz, as everybody builds it.
make_library()
{
	rm -rf "$T/made"
	make -C "$here/../.." -s -j2 O="$T/made" "$T/made/libquartz.so"
}

compile() { until_over make_library; }
forks() { until_over "$out/tests/programs/forks" 20 4; }
fork_storm() { "$out/tests/bench/storm" forks 5000 "$seconds"; }
exec_storm() { "$out/tests/bench/storm" execs 1000 "$seconds"; }

start_nginx()
{
	needs /usr/sbin/nginx nginx
	needs h2load nghttp2-client
	printf 'daemon off; master_process off; pid %s/nginx.pid; error_log /dev/null;
		events { } http { access_log off; server { listen 127.0.0.1:8093; root %s; } }' "$T" "$T" >"$T/nginx.conf"
	echo hello >"$T/index.html"
	chmod 755 "$T"
	start nginx /usr/sbin/nginx -c "$T/nginx.conf"
	until h2load --h1 -n 1 http://127.0.0.1:8093/ | grep -q '1 succeeded'; do sleep 0.05; done
}

# wants WORK: whether it is to be done, or one of WORK|WORK.
wants()
{
	[[ " ${works[*]} " =~ \ ($1)\  ]]
}

# ---- windows ----

# Nanoseconds that processors were idle, waited for a disk, or were the host's.
idle_ns()
{
	awk '/^cpu / { printf "%.0f\n", ($5 + $6 + $9) * 1e7 }' /proc/stat
}

# take WORK: prints ns of processor time a unit, units a second.
take()
{
	local began=${EPOCHREALTIME/./} idle units

	idle=$(idle_ns)
	units=$("$1")
	echo "$(($(idle_ns) - idle)) $((${EPOCHREALTIME/./} - began)) ${units:-0} $(nproc)" |
		awk '{ print ($4 * $2 * 1e3 - $1) / $3, $3 * 1e6 / $2 }'
}

# warm_up SECONDS. The kernel's statistics of programs are of this: they take a tenth of what a program takes at a switch.
warm_up()
{
	local seconds=$1

	echo 1 >/proc/sys/kernel/bpf_stats_enabled
	[ "$seconds" = 0 ] || "$work" >/dev/null
	echo 0 >/proc/sys/kernel/bpf_stats_enabled
}

# with PROFILER COMMAND...
with()
{
	local profiler=$1 build=$out

	shift
	case $profiler in
	nothing) start profiler sleep infinity ;;
	quartzd | other)
		[ "$profiler" = quartzd ] || build=$OTHER
		start profiler "$build/quartzd" --system --cpu none --history 0 --output "$T/profile"
		await profiler.err 'attached to'
		warm_up "$warm"
		;;
	perf) start profiler perf record -B -N -q -a -g -F 99 -o "$T/perf.data" ;;
	perf_switches) start profiler perf record -B -N -q -a -g -F 99 --switch-events -o "$T/perf.data" ;;
	esac
	sleep 1
	warm_up 2
	"$@"
	[ "$profiler" != quartzd ] || programs_of "$pid" >"$T/programs.$work"
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

export QUARTZ_RUNTIME_DIR=$T/run QUARTZ_STATE_DIR=$T/state QUARTZ_CONFIG_DIR=$T/etc
if wants redis; then
	serve_redis
	redis_rate=$(half redis_at 1000000000)
	echo "rate: $redis_rate commands a second"
fi
if wants 'selects|updates'; then
	serve_postgres
	select_rate=$(half pgbench -S)
	update_rate=$(half pgbench)
	echo "rates: $select_rate selects, $update_rate updates a second"
fi
if wants nginx; then
	start_nginx
	nginx_rate=$(half nginx_at)
	echo "rate: $nginx_rate requests a second"
fi
echo "windows of $seconds s, $rounds rounds"
printf '%-8s %-14s %12s %10s %7s %s\n' work profiler 'us a unit' 'units/s' ratio quartiles
for work in "${works[@]}"; do
	rm -f "$T/without" "$T"/with.*
	with nothing take "$work" >>"$T/without"
	for ((round = 0; round < rounds; round++)); do
		for profiler in "${profilers[@]}"; do
			with "$profiler" take "$work" >>"$T/with.$profiler"
		done
		with nothing take "$work" >>"$T/without"
	done
	printf '%-8s %-14s %12.1f %10.1f\n' "$work" - \
		"$(awk '{ print $1 / 1000 }' "$T/without" | median | cut -d' ' -f1)" \
		"$(awk '{ print $2 }' "$T/without" | median | cut -d' ' -f1)"
	for profiler in "${profilers[@]}"; do
		read -r ratio low high < <(ratios "$T/with.$profiler")
		printf '%-8s %-14s %12.1f %10.1f %7.3f %s..%s\n' "$work" "$profiler" \
			"$(awk '{ print $1 / 1000 }' "$T/with.$profiler" | median | cut -d' ' -f1)" \
			"$(awk '{ print $2 }' "$T/with.$profiler" | median | cut -d' ' -f1)" "$ratio" "$low" "$high"
	done
	awk '$2 { printf "%-8s   %s: %d calls, %d ns each\n", "'"$work"'", $1, $2, $3 / $2 }' "$T/programs.$work"
done
if wants 'selects|updates'; then
	kill -INT "$server"
	wait "$server"
fi
