#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# fleet.sh: what the rules of Prometheus and the dashboard of Grafana use is what the exporter serves.
# shellcheck source=tests/cli/exporter-lib.sh disable=SC2154
. "$(dirname "$0")/exporter-lib.sh"

service=$here/../../service

# fails_for WORDS SCRIPT FILE: the check sees that this sed script has made a file wrong.
fails_for()
{
	local rules=$service/prometheus/quartz.rules.yml dashboard=$service/grafana/quartz.json

	sed "$2" "$service/$3" >"$tmp/changed"
	! cmp -s "$service/$3" "$tmp/changed" || fail "$2: changes nothing in $3"
	case $3 in
	*.yml) rules=$tmp/changed ;;
	*) dashboard=$tmp/changed ;;
	esac
	"$here/fleet.py" check "$rules" "$dashboard" "$tmp"/page.* >"$tmp/log" && fail "$2: is not seen"
	grep -q "$1" "$tmp/log" || fail "$2: not $1" "$(cat "$tmp/log")"
}

start_quartzd
for by in unit comm cgroup process; do
	start_exporter --by $by
	get "$url/metrics" 2>/dev/null >"$tmp/page.$by"
done
"$here/fleet.py" check "$service/prometheus/quartz.rules.yml" "$service/grafana/quartz.json" "$tmp"/page.* ||
	fail 'not what is exported'
fails_for 'quartz_ups is not exported' 's/quartz_up == 0/quartz_ups == 0/' prometheus/quartz.rules.yml
fails_for 'no metric of it has the label reason' 's/without (cause)/without (reason)/' prometheus/quartz.rules.yml
fails_for 'instance:quartz_lost:rate5m is not recorded' 's/expr: instance:quartz_lost_samples:ratio_rate5m/expr: instance:quartz_lost:rate5m/' \
	prometheus/quartz.rules.yml
fails_for 'has no label host' 's/{instance=~/{host=~/' grafana/quartz.json
fails_for 'no metric of it has the label reason' 's/{{cause}}/{{reason}}/' grafana/quartz.json
fails_for 'quartz_spun_seconds_total is not exported' 's/quartz_machine_spin_seconds_total/quartz_spun_seconds_total/' \
	grafana/quartz.json
