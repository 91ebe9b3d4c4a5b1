# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
# A quartz-exporter before a quartzd of two snapshots, for the tests of it.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 1
out=$(cd "${O:-build}" && pwd) || exit 1
tmp=$(mktemp -d) || exit 1
children=()
# A test may leave them running, or stopped: such a one would hold the pipe that the test's output goes through.
clean_up()
{
	[ ${#children[@]} -eq 0 ] || kill "${children[@]}" 2>/dev/null
	[ ${#children[@]} -eq 0 ] || kill -CONT "${children[@]}" 2>/dev/null
	rm -rf "$tmp"
}
trap clean_up EXIT
export QUARTZ_RUNTIME_DIR=$tmp PATH=/usr/sbin:/usr/bin:/sbin:/bin

fail()
{
	echo "${0##*/}: $1"
	[ $# -lt 2 ] || echo "$2"
	exit 1
}

# until_true COMMAND...: a minute is for machines that are busy with other things.
until_true()
{
	local i

	for ((i = 0; i < 1200; i++)); do
		"$@" && return
		sleep 0.05
	done
	return 1
}

# start_quartzd [FIRST LATER]: one that gives these snapshots.
start_quartzd()
{
	rm -f "$tmp/quartzd.sock"
	daemon=$("$here/quartzd.py" "${1:-$here/profiles/system.pb.gz}" "${2:-$here/profiles/system-later.pb.gz}")
	children+=("$daemon")
}

stop_quartzd()
{
	kill "$daemon"
	rm "$tmp/quartzd.sock"
}

# start_exporter OPTION...: sets exporter and url.
start_exporter()
{
	rm -f "$tmp/exporter.err"
	"$out/quartz-exporter" --listen 127.0.0.1:0 "$@" 2>"$tmp/exporter.err" &
	exporter=$!
	children+=("$exporter")
	until_true grep -qs 'at port' "$tmp/exporter.err" ||
		fail 'the exporter does not listen' "$(cat "$tmp/exporter.err")"
	url=http://127.0.0.1:$(sed -n 's/.*at port //p' "$tmp/exporter.err")
}

get()
{
	python3 "$here/get.py" "$@"
}
