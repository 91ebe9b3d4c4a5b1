# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# What `quartzctl advise --try --pid` finds of servers under load, what they do before and after it, and how soon all is as before if it is
# killed. FOR is how long each is tried [60s], ONLY a pattern of
# the names of servers. See doc/try.md.

# shellcheck source=/dev/null
. "$here/load.sh"

# state_of PID: processors, nice values and policies of all threads of a server and its children.
state_of()
{
	local of=$1 task

	for task in /proc/"$of"/task/* $(pgrep -P "$of" | sed 's|.*|/proc/&/task/&|'); do
		printf '%s %s\n' "$(sed -n 's/^Cpus_allowed_list:\t//p' "$task/status")" "$(cut -d ' ' -f 19,41 "$task/stat")"
	done | sort | uniq -c
}

# state_and_setting PID: and what `setting`, of the server, prints.
state_and_setting()
{
	state_of "$1"
	setting
}

# rows NAME: what was tried of a server.
rows()
{
	jq -r --arg name "$1" '
		def percent: if . == null then "-" else . / 1e4 | round end;
		"| \($name) | \(.rate_before | round) | \(.rate_after | round) | \([.trials[] | select(.remedies | length == 1) |
			"\(.remedies[0].name): \(.gain_ppm | percent) ± \(.gain_ci_ppm | percent) \(.verdict)"] | join("; ")) |"' "$T/try.json"
}

# kill_during NAME PID OPTION...: kills quartzctl once a change is in force; prints the milliseconds until all is as before.
kill_during()
{
	local name=$1 server=$2 before i began

	shift 2
	sleep 2 # until processes of earlier settings have ended
	before=$(state_and_setting "$server")
	start try env XDG_DATA_HOME="$T" "$out/quartzctl" advise --try --pid "$server" "$@"
	for ((i = 0; i < 600; i++)); do
		[ "$(state_and_setting "$server")" = "$before" ] || break
		sleep 0.05
	done
	if [ $i = 600 ]; then
		echo "| $name, killed | nothing was changed: $(tail -n 1 "$T/try.err") |"
		return 0
	fi
	began=${EPOCHREALTIME/./}
	end "$pid"
	until [ "$(state_and_setting "$server")" = "$before" ] || [ $((${EPOCHREALTIME/./} - began)) -gt 10000000 ]; do sleep 0.01; done
	printf '| %s, killed | as before after %d ms |\n' "$name" $(((${EPOCHREALTIME/./} - began) / 1000))
}

# try_server NAME PID OPTION...
try_server()
{
	local name=$1 server=$2

	shift 2
	XDG_DATA_HOME=$T "$out/quartzctl" advise --try --pid "$server" --for "${FOR-60s}" --json "$@" >"$T/try.json" 2>"$T/try.err" </dev/null ||
		echo "| $name | $(tail -n 1 "$T/try.err") |"
	[ ! -s "$T/try.json" ] || rows "$name"
	kill_during "$name" "$server" "$@"
	# which ends its children, too
	kill -TERM "$server"
	wait "$server"
	for pid in "${started[@]}"; do
		end "$pid"
	done
	started=()
} 2>/dev/null

# await_port PORT: until the server that was started last listens there.
await_port()
{
	until (: <>/dev/tcp/127.0.0.1/"$1") 2>/dev/null; do
		kill -0 "$pid" 2>/dev/null || fail "no server at port $1"
		sleep 0.05
	done
}

echo '| server | a second, before | after | gain, % |'
echo '|---|---|---|---|'

if is_wanted redis; then
	serve_redis
	server=$pid
	setting() { redis-cli -s "$T/redis" config get hz; }
	start ask redis-benchmark -s "$T/redis" -c 20 -n 1000000000 -q -t set
	try_server redis "$server" -e "redis-cli -s $T/redis info stats | sed -n 's/^total_commands_processed:\([0-9]*\).*/\1/p'" \
		-k "hz:10,500:redis-cli -s $T/redis config set hz {}"
fi

# A pool of connections before PostgreSQL: 40 clients, of which so many are served at a time.
if is_wanted pgbouncer; then
	needs pgbouncer pgbouncer
	serve_postgres
	printf '%s\n' '[databases]' "postgres = host=$T/data user=nobody" '[pgbouncer]' "unix_socket_dir = $T/data" listen_addr= listen_port=6432 \
		auth_type=any pool_mode=transaction default_pool_size=20 server_login_retry=1 max_client_conn=200 admin_users=nobody ignore_startup_parameters=extra_float_digits \
		>"$T/data/pgbouncer.ini"
	chown nobody "$T/data/pgbouncer.ini"
	start pgbouncer "${as_nobody[@]}" pgbouncer -q "$T/data/pgbouncer.ini"
	server=$pid
	pooler="${as_nobody[*]} psql -h $T/data -p 6432 -U nobody -d pgbouncer -qAt -c"
	until $pooler 'show version' >/dev/null 2>&1; do sleep 0.05; done
	setting() { $pooler 'show config' 2>/dev/null | grep '^default_pool_size'; }
	start ask "${as_nobody[@]}" "$postgres/pgbench" -n -h "$T/data" -p 6432 -c 40 -T 86400 postgres
	try_server 'pgbouncer, pool' "$server" \
		-e "$pooler 'show stats_totals' | awk -F '|' '{ n += \$2 } END { print n }'" \
		-k "pool:20,2,8:$pooler 'set default_pool_size={}' && $pooler reconnect"
fi

if is_wanted nginx; then
	needs /usr/sbin/nginx nginx
	needs wrk wrk
	head -c 200000 /dev/urandom | base64 >"$T/index.html"
	chmod 755 "$T"
	configure="sed 's/WORKERS/{}/' $T/nginx.in >$T/nginx.conf"
	printf 'daemon off; worker_processes WORKERS; pid %s/nginx.pid; error_log /dev/null; events { }
		http { access_log off; gzip on; gzip_types *; server { listen 127.0.0.1:8093; root %s; } }\n' "$T" "$T" >"$T/nginx.in"
	sh -c "${configure/\{\}/1}"
	start nginx /usr/sbin/nginx -c "$T/nginx.conf"
	server=$pid
	setting() { cat "$T/nginx.conf"; }
	await_port 8093
	start ask wrk -t 1 -c 20 -d 86400 -H 'Accept-Encoding: gzip' http://127.0.0.1:8093/
	try_server nginx "$server" -k "workers:1,2:$configure && kill -HUP \$(cat $T/nginx.pid)"
fi

if is_wanted memcached; then
	needs memcached memcached
	needs memcaslap libmemcached-tools
	start memcached memcached -u nobody -p 8094 -l 127.0.0.1 -t 4
	server=$pid
	setting() { :; }
	await_port 8094
	start ask memcaslap -s 127.0.0.1:8094 -t 86400s -T 1 -c 16
	try_server memcached "$server"
fi
