#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# exporter.sh: what quartz-exporter serves, and what it refuses.
# shellcheck source=tests/cli/exporter-lib.sh disable=SC2154,SC2015
. "$(dirname "$0")/exporter-lib.sh"

# has FILE LINE...: whole lines.
has()
{
	local file=$1 line

	shift
	for line; do
		grep -qxF -- "$line" "$file" || fail "there is no line: $line" "$(cat "$file")"
	done
}

# answers WORDS ARGUMENT...: what get says of the answer begins with these.
answers()
{
	local want=$1

	shift
	get "$@" >"$tmp/body" 2>"$tmp/head"
	[[ $(cat "$tmp/head") = "$want"* ]] || fail "$*: not $want" "$(cat "$tmp/head" "$tmp/body")"
}

# The figures are renewed each second.
metrics()
{
	sleep 1.1
	answers '200 text/plain; version=0.0.4' "$url/metrics"
	cp "$tmp/body" "$1"
}

check_metrics()
{
	metrics "$tmp/first"
	has "$tmp/first" 'quartz_up 1' 'quartz_measuring 1' 'quartz_build_info{version="0.1.0"} 1' \
		'# TYPE quartz_machine_busy_seconds_total counter' \
		'quartz_machine_busy_seconds_total 9.000000000' \
		'quartz_machine_serial_seconds_total 6.000000000' \
		'quartz_machine_busy_processor_seconds_total 12.000000000' \
		'quartz_machine_level_seconds_total{busy="0"} 1.000000000' \
		'quartz_machine_level_seconds_total{busy="2"} 3.000000000' \
		'quartz_machine_parallelism 1.333333' \
		'quartz_machine_serial_ratio 0.666667' \
		'quartz_cpu_seconds_total{unit="postgresql.service"} 12.000000000' \
		'quartz_serial_seconds_total{unit="postgresql.service"} 6.000000000' \
		'quartz_lost_samples_total{cause="stack_map_full"} 5' \
		'quartz_daemon_cpu_seconds_total 1.500000000'
	touch "$tmp/later"
	metrics "$tmp/second"
	has "$tmp/second" 'quartz_observed_seconds_total 20.000000000' \
		'quartz_machine_level_seconds_total{busy="4"} 5.000000000' \
		'quartz_machine_busy_seconds_total 18.000000000' \
		'quartz_cpu_seconds_total{unit="postgresql.service"} 23.000000000' \
		'quartz_cpu_seconds_total{unit="evil.scope"} 10.000000000' \
		'quartz_lost_samples_total{cause="stack_map_full"} 12'
	awk 'NR == FNR { if ($1 ~ /_total/) was[$1] = $NF; next }
		$1 in was { n++; if ($NF + 0 < was[$1] + 0) { print; bad = 1 } }
		END { exit bad || !n }' "$tmp/first" "$tmp/second" || fail 'a counter fell'
	grep -qxF '{"method":"io.quartz.Snapshot","parameters":{"detail":"scopes","since_ns":0}}' "$tmp/requests" ||
		fail 'not asked for scopes alone' "$(cat "$tmp/requests")"
	grep -qE '"detail":"scopes","since_ns":[1-9][0-9]{17}}' "$tmp/requests" ||
		fail 'asked for what it had' "$(cat "$tmp/requests")"
	metrics "$tmp/third"
	diff "$tmp/second" "$tmp/third" || fail 'something grew between equal snapshots'
}

check_openmetrics()
{
	answers '200 application/openmetrics-text; version=1.0.0' "$url/metrics" GET \
		'Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5'
	has "$tmp/body" '# TYPE quartz_cpu_seconds counter' '# UNIT quartz_cpu_seconds seconds' \
		'# TYPE quartz_build info'
	[ "$(tail -n 1 "$tmp/body")" = '# EOF' ] || fail 'no end'
}

# Names that others chose, and no more series than wanted.
check_names()
{
	touch "$tmp/later"
	start_exporter --by process --rows 10
	metrics "$tmp/names"
	has "$tmp/names" 'quartz_cpu_seconds_total{pid="600",comm="e\\x1b[31m\"v\\x0a\\il"} 10.000000000'
	start_exporter --by comm --rows 1
	metrics "$tmp/names"
	has "$tmp/names" 'quartz_cpu_seconds_total{comm="postgres"} 23.000000000' \
		'quartz_cpu_seconds_total{comm="other (limited)"} 10.000000000'
}

check_refusals()
{
	answers '404 ' "$url/debug/pprof/heap"
	answers '404 ' "$url/metrics/../etc"
	answers '405 ' "$url/metrics" POST
	answers '405 ' "$url/" DELETE
	answers '400 ' "$url/debug/pprof/profile?seconds=0"
	answers '400 ' "$url/debug/pprof/profile?seconds=1e9"
	answers '200 ' "$url/metrics" HEAD
	answers '200 text/plain' "$url/"
}

# Names that Quartz itself gives, taken by programs: whatever they are, no series is there twice.
check_forged_names()
{
	local by again

	kill "$daemon"
	start_quartzd "$here/profiles/names.pb.gz" "$here/profiles/names.pb.gz"
	for by in comm unit cgroup process; do
		start_exporter --by $by
		get "$url/metrics" >"$tmp/names" 2>/dev/null
		grep -q "^quartz_cpu_seconds_total{.*\[kernel\]" "$tmp/names" || fail 'no figures' "$(cat "$tmp/names")"
		again=$(sed -n 's/^\([^#].*\) .*/\1/p' "$tmp/names" | sort | uniq -d)
		[ -z "$again" ] || fail "series twice, by $by" "$again"
		[ "$by" != comm ] || has "$tmp/names" 'quartz_cpu_seconds_total{comm="other (limited)"} 0.000000000' \
			'quartz_cpu_seconds_total{comm="\\x6fther (limited)"} 1.000000000' \
			'quartz_cpu_seconds_total{comm="other (ended)"} 1.000000000' \
			'quartz_cpu_seconds_total{comm="\\x6fther (ended)"} 1.000000000'
	done
}

# attacked NAME NUMBER: whether figures are to be had while a user without rights does that. It is waited for the
# first connections to be told to go, or to be too many.
attacked()
{
	local attacker i nobody=()

	[ "$(id -u)" != 0 ] || nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	"${nobody[@]}" python3 - "${url##*:}" "$1" "$2" <"$here/attack.py" >"$tmp/ready" 2>&1 &
	attacker=$!
	children+=("$attacker")
	until_true grep -q ready "$tmp/ready" || fail "no attack" "$(cat "$tmp/ready")"
	until_true eval '[ "$(threads)" -ge 16 ]' || fail "$1: only $(threads) threads"
	for ((i = 0; i < 5; i++)); do
		answers '200 text/plain' "$url/metrics"
	done
	[ "$(threads)" -le 110 ] || fail "$1: $(threads) threads"
	kill "$attacker"
	wait "$attacker" 2>/dev/null
}

threads()
{
	local all=("/proc/$exporter/task"/*)

	echo ${#all[@]}
}

# Connections that ask for nothing, or for ever, do not keep others out; nor do those that ask for profiles.
check_attacks()
{
	local i waiting=()

	start_exporter --profiles
	attacked silent 40
	attacked slow 200
	attacked addresses 200
	attacked unread 40
	touch "$tmp/hang"
	for ((i = 0; i < 4; i++)); do
		get "$url/debug/pprof/profile?seconds=1" >/dev/null 2>"$tmp/heads.$i" & # each a file of its own: lines stay whole
		waiting+=($!)
	done
	until_true eval '[ "$(cat "$tmp"/heads.? | grep -c "^503")" -eq 2 ]' || fail 'more than two profiles'
	answers '200 text/plain' "$url/metrics"
	has "$tmp/body" 'quartz_measuring 1'
	[ "$(cat "$tmp"/heads.? | grep -c ^)" -eq 2 ] || fail 'figures were waited for' "$(cat "$tmp"/heads.?)"
	rm "$tmp/hang"
	wait "${waiting[@]}"
	[ "$(cat "$tmp"/heads.? | grep -c "^200 application/octet-stream")" -eq 2 ] || fail 'no profile' "$(cat "$tmp"/heads.?)"
}

# The whole of a request has a deadline, however many pieces it comes in; it is not this machine's speed that counts.
check_deadline()
{
	python3 - "${url##*:}" <<-'END' || fail 'a request may take for ever'
		import socket, sys, time
		s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
		s.settimeout(0.5)
		s.send(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
		for _ in range(200):
		    try:
		        s.send(b"a")
		        if not s.recv(4096):
		            sys.exit(0)
		    except TimeoutError:
		        pass
		    except OSError:
		        sys.exit(0)
		sys.exit(1)
	END
}

# asked HOST...: the status of an answer to a request with these Host headers.
asked()
{
	python3 - "${url##*:}" "$@" <<-'END'
		import socket, sys
		s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 60)
		hosts = "".join(f"Host: {host}\r\n" for host in sys.argv[2:])
		s.sendall(f"GET /metrics HTTP/1.{'1' if hosts else '0'}\r\n{hosts}Connection: close\r\n\r\n".encode())
		answer = b""
		while piece := s.recv(65536):
		    answer += piece
		head, _, body = answer.decode().partition("\r\n\r\n")
		print(head.split()[1], body.count("\n"), body if body.count("\n") == 1 else "")
	END
}

# A page that has its own name resolve to this address cannot read what is here.
check_hosts()
{
	local host

	start_exporter --host metrics.example --host Other.Example
	for host in localhost LOCALHOST:1 127.0.0.1 127.1.2.3:9972 '[::1]' metrics.example:80 other.example.; do
		[[ $(asked "$host") = '200 '* ]] || fail "not served: $host"
	done
	[[ $(asked) = '200 '* ]] || fail 'HTTP/1.0 is not served'
	for host in evil.example evil.example:80 localhost.evil.example 192.0.2.1 '[::2]' metrics.example.evil; do
		[[ $(asked "$host") = "421 1 "*"'$host'"*--host* ]] || fail "$host: not refused" "$(asked "$host")"
	done
	[[ $(asked localhost evil.example) = 4* ]] || fail 'two names'
	[[ $(asked "$(printf 'a\033[31mb')") = 4* ]] || fail 'controls'
}

# Pages of other origins, as browsers tell of them, take no place of those that look; a link to the page is followed.
check_foreign_pages()
{
	local path site

	start_exporter --profiles
	for path in /page/deltas /debug/pprof/all '/debug/pprof/profile?seconds=1' /page /metrics; do
		for site in cross-site same-site; do
			answers '403 ' "$url$path" GET "Sec-Fetch-Site: $site" 'Sec-Fetch-Mode: no-cors' 'Sec-Fetch-Dest: image'
		done
	done
	answers '403 ' "$url/page" GET 'Sec-Fetch-Site: cross-site' 'Sec-Fetch-Dest: iframe'
	answers '403 ' "$url/page/deltas" GET 'Sec-Fetch-Site: cross-site' 'Sec-Fetch-Dest: document'
	answers '200 text/html' "$url/page" GET 'Sec-Fetch-Site: cross-site' 'Sec-Fetch-Dest: document'
	answers '200 application/octet-stream' "$url/debug/pprof/all" GET 'Sec-Fetch-Site: same-origin' 'Sec-Fetch-Dest: empty'
	answers '200 application/octet-stream' "$url/debug/pprof/all" GET 'Sec-Fetch-Site: none' 'Sec-Fetch-Dest: document'
}

# The seconds asked for begin with the first snapshot and end with the second.
check_difference()
{
	mv "$tmp/later" "$tmp/once"
	get "$url/debug/pprof/profile?seconds=1" >"$tmp/difference" 2>"$tmp/head"
	[[ $(cat "$tmp/head") = '200 application/octet-stream' ]] || fail 'no profile' "$(cat "$tmp/head")"
	"$out/quartzctl" ps -i "$tmp/difference" --json >"$tmp/json" || fail 'it cannot be read'
	jq -e '.window_ns == 10e9 and .busy_ns == 9e9 and .lost == 7 and ([.rows[].cpu_ns] | add) == 21e9' \
		"$tmp/json" >/dev/null || fail 'not the difference' "$(cat "$tmp/json")"
	answers '200 application/octet-stream' "$url/debug/pprof/all"
	cmp -s <(zcat "$tmp/body") <(zcat "$here/profiles/system-later.pb.gz") || fail 'not all'
}

check_pprof()
{
	if ! command -v go >/dev/null; then
		echo "exporter.sh: without 'go tool pprof' (package golang-go)"
		return
	fi
	export PPROF_TMPDIR=$tmp HOME=$tmp GOFLAGS=-mod=mod GOTOOLCHAIN=local
	mv "$tmp/later" "$tmp/once"
	go tool pprof -top -unit=ns -sample_index=cpu -timeout 100 "$url/debug/pprof/profile?seconds=1" \
		>"$tmp/top" 2>&1 || fail 'pprof failed' "$(cat "$tmp/top")"
	grep -q ' of 21000000000ns total' "$tmp/top" || fail 'pprof sees another sum' "$(cat "$tmp/top")"
}

check_end()
{
	kill "$daemon"
	until_true eval "! kill -0 $daemon 2>/dev/null"
	metrics "$tmp/last"
	has "$tmp/last" 'quartz_up 0' 'quartz_measuring 0' \
		'quartz_cpu_seconds_total{unit="postgresql.service"} 23.000000000'
	answers '503 ' "$url/debug/pprof/profile?seconds=1"
	grep -q 'quartzd is not running' "$tmp/body" || fail 'no reason' "$(cat "$tmp/body")"
	kill -TERM "$exporter"
	wait "$exporter" || fail "it ended with status $?"
}

# Without being told to it gives no names of procedures, and with a password nothing to others.
check_access()
{
	start_exporter
	answers '403 ' "$url/debug/pprof/profile?seconds=1"
	answers '403 ' "$url/debug/pprof/all"
	answers '403 ' "$url/page"
	answers '403 ' "$url/page/deltas"
	answers '200 text/plain' "$url/metrics"
	printf 'two words\nmore\n' >"$tmp/password"
	start_exporter --profiles --password-file "$tmp/password"
	for page in / /metrics /none '/debug/pprof/profile?seconds=1' /debug/pprof/all /page /page/deltas; do
		answers '401 ' "$url$page"
		answers '401 ' "${url/\/\////quartz:two@}$page"
		answers '401 ' "${url/\/\////quartz:two words and@}$page"
	done
	answers '200 text/plain' "${url/\/\////anybody:two words@}/metrics"
	answers '200 application/octet-stream' "${url/\/\////:two words@}/debug/pprof/all"
	answers '200 text/plain' "$url/metrics" GET "Authorization: basic $(printf 'a:two words' | base64)"
	answers '401 ' "$url/metrics" GET "Authorization: Basic $(printf 'a:two words\0x' | base64)"
}

check_options()
{
	local status

	"$out/quartz-exporter" --listen localhost 2>"$tmp/err"
	status=$?
	[ $status = 2 ] && grep -q 'ADDRESS:PORT' "$tmp/err" || fail "status $status" "$(cat "$tmp/err")"
	"$out/quartz-exporter" --listen "${url#http://}" 2>"$tmp/err"
	status=$?
	[ $status = 1 ] && grep -q 'Address already in use' "$tmp/err" ||
		fail "status $status" "$(cat "$tmp/err")"
	echo >"$tmp/password"
	printf 'two\0words\n' >"$tmp/cut"
	for file in "$tmp/password" "$tmp/none" "$tmp/cut" /dev/zero; do
		"$out/quartz-exporter" --listen 127.0.0.1:0 --password-file "$file" 2>"$tmp/err"
		status=$?
		[ $status = 1 ] && grep -q "$file: " "$tmp/err" || fail "status $status" "$(cat "$tmp/err")"
	done
}

start_quartzd
start_exporter --profiles
check_metrics
check_openmetrics
check_refusals
check_difference
check_pprof
check_options
check_end
start_quartzd
check_names
check_access
check_attacks
check_deadline
check_hosts
check_foreign_pages
check_forged_names
