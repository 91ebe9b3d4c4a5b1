# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Real programs before and after a known fix, for truth.sh and what_if.sh: WORK keeps what they read, and the profiles;
# ONLY is a pattern of the names of cases. truth_first.sh and truth_second.sh have the cases; who reads them defines
#
#     fix NAME RULES CULPRIT BEFORE AFTER     a case
#     well NAME COMMAND                       a program with nothing wrong

[ -d "${WORK-}" ] || fail 'WORK does not name a directory with a gigabyte of room'
cd "$WORK" || fail "$WORK"
# shellcheck source=tests/bench/truth_inputs.sh
. "$here/truth_inputs.sh"
[ "$rounds" -le 9 ] || rounds=3

# seconds COMMAND: that it takes; its own words are kept for when it fails.
seconds()
{
	local began=${EPOCHREALTIME/./}

	bash -c "$(sed 's/^!\w* //' <<<"$1")" >"$T/fix.out" 2>"$T/fix.err" </dev/null || fail "$1: $(tail -n 3 "$T/fix.err")"
	awk "BEGIN { print (${EPOCHREALTIME/./} - $began) / 1e6 }"
}

# try_fix NAME BEFORE AFTER: the seconds of alternated pairs, in NAME.before and NAME.after. Sets gain, least and most: what
# the fix gains, in percent of the run before it.
try_fix()
{
	: >"$T/$1.before"
	: >"$T/$1.after"
	seconds "$3" >/dev/null # reads its files from the disk
	for ((round = 0; round < rounds; round++)); do
		seconds "$2" >>"$T/$1.before"
		seconds "$3" >>"$T/$1.after"
	done
	# shellcheck disable=SC2034 # for the caller
	read -r gain least most < <(paste "$T/$1.before" "$T/$1.after" | awk '{ print 100 * (1 - $2 / $1) }' | median)
}

# record_case NAME ARG...: quartzctl record, into NAME.profile.
record_case()
{
	local name=$1

	shift
	"$out/quartzctl" record --cpu none -o "$WORK/$name.profile" "$@" >"$T/fix.out" 2>"$T/fix.err" </dev/null ||
		fail "$name: $(tail -n 3 "$T/fix.err")"
}

# advised NAME COMMAND: its findings; of "!PROGRAM COMMAND", those of the program from a profile of the machine.
advised()
{
	local program command scope=()

	if [[ $2 == !* ]]; then
		read -r program command <<<"${2#!}"
		bash -c "$command" >/dev/null 2>&1 </dev/null &
		record_case "$1" -F 499 --system --duration 3
		scope=(-s "comm=$program")
		wait
	else
		record_case "$1" -- bash -c "$2"
	fi
	"$out/quartzctl" advise -i "$WORK/$1.profile" "${scope[@]}" --json
}
