#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# top.sh: quartzctl top in a terminal of 80 by 24, with keys. Exit status 77 without tmux.
# shellcheck source=tests/cli/exporter-lib.sh disable=SC2154
. "$(dirname "$0")/exporter-lib.sh"

if ! command -v tmux >/dev/null; then
	echo "top.sh: skipped, no tmux here"
	exit 77
fi

terminal()
{
	tmux -f /dev/null -S "$tmp/tmux" "$@"
}

has_on_screen()
{
	terminal capture-pane -p >"$tmp/screen" && grep -qE -- "$1" "$tmp/screen"
}

# shows PATTERN...: each stands in a line of the screen, sooner or later.
shows()
{
	local pattern

	for pattern; do
		until_true has_on_screen "$pattern" || fail "not on the screen: $pattern" "$(cat "$tmp/screen")"
	done
}

# key NAME...
key()
{
	terminal send-keys "$@"
}

"$out/quartzctl" top </dev/null >"$tmp/out" 2>&1
status=$?
[ $status = 1 ] && grep -q 'needs a terminal' "$tmp/out" || fail "without a terminal: $status"

start_quartzd
export LC_ALL=C.UTF-8
terminal new-session -d -x 80 -y 24 "TERM=screen '$out/quartzctl' top; echo \"left \$?\" >'$tmp/left'; sleep 60"
children+=("$(terminal display-message -p '#{pid}')")

# first what there is since quartzd began, then what a second snapshot has more
shows '^10\.0 s: busy 90%, parallelism 1\.3 of 4, serial 67%, lost 5$' 'by process, sorted by norm' \
	'^ +PID +CPU%' '^ +500 +120\.0 +90\.0 +1\.3 +67 .* postgres +ExecutorRun'
touch "$tmp/later"
shows '^10\.0 s: busy 90%, parallelism 3\.0 of 4, serial 11%, lost 7$' '^ +500 +110\.0 ' \
	'^ +600 +100\.0 .* e\\x1b\[31m"v\\x0a +l\\x1b\[2Joop$'
[ "$(wc -l <"$tmp/screen")" = 24 ] || fail 'not 24 lines' "$(cat "$tmp/screen")"
! grep -q $'\e' "$tmp/screen" || fail 'a name got through'

key a
shows 'sorted by name'
key c
shows 'sorted by CPU'
[ "$(grep -nE '^ +500 ' "$tmp/screen" | cut -d: -f1)" -lt "$(grep -nE '^ +600 ' "$tmp/screen" | cut -d: -f1)" ] ||
	fail 'not sorted by CPU' "$(cat "$tmp/screen")"
key b b
shows 'by unit' 'postgresql.serv ' 'evil.scope'
key Enter
shows 'only single processes'
key b b
shows 'by process'
key Down Enter
shows 'process 600 e\\x1b\[31m"v\\x0a\\il: procedures' 'TOTAL%' '2\.0 +0\.000  l\\x1b\[2Joop$'
grep -qE '"detail":"procedures","since_ns":[0-9]+,"pid":600,"start_ns":' "$tmp/requests" ||
	fail 'not asked for the process' "$(cat "$tmp/requests")"
key o
shows 'objects$' 'NORM%  WAITS'
key Escape
shows 'by process'
key Home Enter
shows 'process 500 postgres: procedures' ' main$' ' LWLockAcquire$'
key Escape p
shows 'paused'
key p h
shows 'look into a process'
key x
shows 'by process'
key q
until_true test -s "$tmp/left" || fail 'it does not end'
[ "$(cat "$tmp/left")" = 'left 0' ] || fail "$(cat "$tmp/left")"
