#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# top.sh: quartzctl top in a terminal of 80 by 24, with keys. Exit status 77 without tmux.
# shellcheck source=tests/cli/exporter-lib.sh disable=SC2154
. "$(dirname "$0")/exporter-lib.sh"

if ! command -v tmux >/dev/null; then
	echo "top.sh: skipped, no tmux here"
	exit 77
fi

screens=1 # one socket each: a server that ends may still have its own

terminal()
{
	tmux -f /dev/null -S "$tmp/tmux$screens" "$@"
}

# new_terminal COLUMNS ROWS: with top in it, whose status is told when it ends.
new_terminal()
{
	screens=$((screens + 1))
	terminal new-session -d -x "$1" -y "$2" "TERM=screen '$out/quartzctl' top; echo \"left \$?\"; sleep 60"
	children+=("$(terminal display-message -p '#{pid}')")
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

# A screen may be seen while it is drawn: what stands where in it comes sooner or later, too.
is_above()
{
	local above below

	terminal capture-pane -p >"$tmp/screen"
	above=$(grep -nE -m 1 "$1" "$tmp/screen") && below=$(grep -nE -m 1 "$2" "$tmp/screen") &&
		[ "${above%%:*}" -lt "${below%%:*}" ]
}

# shows_above PATTERN PATTERN MESSAGE: the first line of the one is above that of the other.
shows_above()
{
	until_true is_above "$1" "$2" || fail "$3" "$(cat "$tmp/screen")"
}

# key NAME...
key()
{
	terminal send-keys "$@"
}

"$out/quartzctl" top </dev/null >"$tmp/out" 2>&1
status=$?
[ $status = 1 ] && grep -q 'needs a terminal' "$tmp/out" || fail "without a terminal: $status"

new_terminal 120 24
shows "quartzd is not running: 'systemctl start quartzd' or" '^left 3$'

start_quartzd
export LC_ALL=C.UTF-8
new_terminal 80 24

# first what there is since quartzd began, then what a second snapshot has more
shows '^10\.0 s: busy 90%, parallelism 1\.3 of 4, serial 67%, lost 5$' 'by process, sorted by norm$' \
	'^1 200 samples at 100 Hz; ~: below 16$' \
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
shows_above '^ +500 ' '^ +600 ' 'not sorted by CPU'
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
shows 'process 500 postgres: procedures' ' main$' ' LWLockAcquire$' '^[A-Z ]+: '
key w
shows 'process 500 postgres: procedures since quartzd measures it' ' main$'
key w
shows 'process 500 postgres: procedures$'
key Escape p
shows 'paused'
key p h
shows 'look into a process'
key x
shows 'by process'
key q
shows '^left 0$'

# the rate was lowered, and most of the processor time is of rows with too few samples
stop_quartzd
start_quartzd "$here/profiles/lowered.pb.gz" "$here/profiles/lowered-later.pb.gz"
rm "$tmp/later"
new_terminal 80 24
shows 'by process, sorted by CPU: too few samples to sort by norm$' \
	'^25 samples at 99 Hz, lowered to 3\.1 Hz to hold 1% overhead; ~: below 16$' \
	'^ +502 +100\.0 +~0 +1\.7 +33 +0 +1 brief +std::vector<std:$' \
	'^ +500 +40\.0 +48 +1\.0 +100 +0 +1 postgres +std::vector<std:$'
shows_above '^ +502 ' '^ +500 ' 'not sorted by what is exact'
[ "$(wc -L <"$tmp/screen")" -le 80 ] || fail 'wider than the screen' "$(cat "$tmp/screen")"
key n
shows 'sorted by norm$'
shows_above '^ +500 ' '^ +502 ' 'not sorted by norm'
key d
shows 'sorted by CPU: too few'
key Enter
shows 'process 502 brief: procedures'
touch "$tmp/later"
shows 'process 502 brief has ended, Esc goes back: procedures'

# a wide terminal shows names in full
new_terminal 160 50
shows '^ +500 .* postgres +std::vector<std::basic_string<char>>::_M_realloc_insert\(char const\*\)$'
key b b
shows 'by unit' ' a-service-with-a-long-name\.service  *std::vector'
stop_quartzd
shows "^quartzd is not running: 'systemctl start quartzd' or 'quartzd --system' starts it"
key q
shows '^left 0$'
