# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# The pollers: slots that one processor reads in a second, and what the program pays for being looked
# at: its processor time for the same work, beside that without a poller.

for shape in '64 4' '64 8' '1000 8' '10000 8' '64 32'; do
	# shellcheck disable=SC2086
	"$out/tests/bench/slots" $shape
done

# scopes_under OPTION...: processor time of half a million scopes on processor 0.
scopes_under()
{
	"$out/quartzd" --private -q -o "$T/profile" "$@" -- taskset -c 0 "$out/tests/bench/scopes" 500000
}

if [ "$(nproc)" -lt 2 ]; then
	echo 'one processor: none for a poller'
else
	for ((round = 0; round < rounds; round++)); do
		scopes_under --cpu none >>"$T/off"
		scopes_under --cpu 1 >>"$T/rate"
		scopes_under --cpu 1 --busy >>"$T/busy"
	done
	for kind in off rate busy; do
		echo "$kind $(median "$T/$kind")"
	done | awk '{ if (!off) off = $2
		printf "%-5s median %.1f ms, least %.1f ms, ratio of medians %.3f\n",
			$1, $2 / 1e6, $3 / 1e6, $2 / off }'
fi
