# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2034 # failed is for those that read this
# What the scripts that run tests in a guest share: they `try` each and end with `exit $failed`.
failed=0

uptime_ms()
{
	awk '{ printf "%.0f", $1 * 1000 }' /proc/uptime
}

# try NAME COMMAND...: the test passes when the command succeeds. One that fails is tried once more, and is then
# flaky, not ok. "took MS" is by the guest's clock. LIST=1 shows names only.
try()
{
	name=$1 verdict=ok
	began=$(uptime_ms)
	shift
	if [ -n "${LIST-}" ]; then
		echo "$name"
		return
	fi
	if ! said=$("$@" 2>&1); then
		[ -z "$said" ] || printf '%s\n' "$said" | sed 's/^/    /'
		echo "again $name"
		verdict=flaky
		said=$("$@" 2>&1) || verdict=FAIL failed=1
	fi
	[ -z "$said" ] || printf '%s\n' "$said" | sed 's/^/    /'
	echo "took $(($(uptime_ms) - began))"
	echo "$verdict $name"
}
