#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# prometheus.sh: Debian's own Prometheus finds nothing wrong with the figures, and scrapes them. Where it is not
# installed its package is unpacked into the build directory. Exit status 77 when it cannot be had.
# shellcheck source=tests/cli/exporter-lib.sh disable=SC2154
. "$(dirname "$0")/exporter-lib.sh"

bring()
{
	local to=$out/prometheus

	if command -v prometheus >/dev/null && command -v promtool >/dev/null; then
		return
	fi
	if [ ! -x "$to/usr/bin/prometheus" ]; then
		mkdir -p "$tmp/package" "$to" &&
			(cd "$tmp/package" && apt-get -q download prometheus) >"$tmp/log" 2>&1 &&
			dpkg --fsys-tarfile "$tmp"/package/prometheus_*.deb |
			tar -x -C "$to" ./usr/bin || return
	fi
	PATH=$to/usr/bin:$PATH
}

# query EXPRESSION: the value of the one series that there is.
query()
{
	get "$prometheus/api/v1/query?query=$1" 2>/dev/null | jq -r '.data.result[0].value[1] // ""'
}

has_grown()
{
	[ -n "$(query "$(printf '%s' 'rate(quartz_machine_busy_seconds_total[1m]) > 0' | jq -sRr @uri)")" ]
}

is_there()
{
	[ -n "$(query quartz_up 2>/dev/null)" ]
}

if ! bring; then
	echo "prometheus.sh: skipped, Debian's package prometheus is not to be had here"
	exit 77
fi
start_quartzd
start_exporter
get "$url/metrics" 2>/dev/null >"$tmp/metrics"
promtool check metrics <"$tmp/metrics" >"$tmp/log" 2>&1 || fail 'promtool finds' "$(cat "$tmp/log")"
[ ! -s "$tmp/log" ] || fail 'promtool says' "$(cat "$tmp/log")"

rules=$here/../../service/prometheus/quartz.rules.yml
promtool check rules "$rules" >"$tmp/log" 2>&1 || fail 'promtool does not take the rules' "$(cat "$tmp/log")"
promtool test rules "$here/quartz.rules.test.yml" >"$tmp/log" 2>&1 || fail 'the rules are wrong' "$(cat "$tmp/log")"

cat >"$tmp/prometheus.yml" <<END
global:
  scrape_interval: 1s
scrape_configs:
  - job_name: quartz
    static_configs:
      - targets: ["${url#http://}"]
END
port=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
prometheus=http://127.0.0.1:$port
prometheus --config.file="$tmp/prometheus.yml" --storage.tsdb.path="$tmp/data" \
	--web.listen-address="127.0.0.1:$port" >"$tmp/log" 2>&1 &
children+=($!)
until_true is_there || fail 'nothing was scraped' "$(tail "$tmp/log")"
[ "$(query quartz_up)" = 1 ] || fail 'quartzd is not up'
[ "$(query 'quartz_cpu_seconds_total%7Bunit=%22postgresql.service%22%7D')" = 12 ] ||
	fail 'not the processor time' "$(query quartz_cpu_seconds_total)"
# Each panel of the dashboard shows something of a machine that works.
touch "$tmp/later"
until_true has_grown || fail 'nothing grows'
"$here/fleet.py" queries "$here/../../service/grafana/quartz.json" >"$tmp/queries"
[ -s "$tmp/queries" ] || fail 'the dashboard asks for nothing'
while read -r expression; do
	[ -n "$(query "$expression")" ] || fail 'a panel is empty' "$expression"
done <"$tmp/queries"

get "$prometheus/api/v1/targets" 2>/dev/null |
	jq -e '.data.activeTargets[0] | .health == "up" and .lastError == ""' >/dev/null ||
	fail 'the target is not well'
