# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# The line at the bottom of a terminal while a recording runs, in a terminal of tmux.

tm()
{
	tmux -S "$T/tmux" -f /dev/null "$@"
}

screen()
{
	tm capture-pane -p
}

# on_terminal SCRIPT: it runs on a terminal of 10 lines, with what it ended with in status.txt.
on_terminal()
{
	command -v tmux >/dev/null || skip 'there is no tmux'
	tm new-session -d -x 80 -y 10 "PATH='$out':\$PATH TERM=xterm sh -c '$1'; echo \$? >status.txt; sleep 600"
}

# shown PATTERN: waits until the screen has it.
shown()
{
	local i

	for ((i = 0; i < 600 * slow; i++)); do
		if screen | grep -qE "$1"; then
			return 0
		fi
		sleep 0.1
	done
	fail "never shown: $1" "$(screen)"
}

over()
{
	local i

	for ((i = 0; i < 600 * slow; i++)); do
		if [ -s status.txt ]; then
			return 0
		fi
		sleep 0.1
	done
	fail 'it does not end' "$(screen)"
}

# What the program prints scrolls above the line, also where its last line is not complete; and there is no line in the end.
command_on_terminal()
{
	trap 'tm kill-server' RETURN
	on_terminal 'quartzctl record --cpu none -o profile -- sh -c "printf half; while [ ! -e go ]; do sleep 0.1; done; echo done; seq 20"'
	shown '^[0-9]+ s, [0-9]+ samples, [0-9.]+ CPUs: measuring sh$'
	[ "$(screen | tail -n 1 | grep -c measuring)" = 1 ] || fail 'it is not the last line' "$(screen)"
	touch go
	over
	[ "$(cat status.txt)" = 0 ] || fail "status $(cat status.txt)"
	screen | grep -q measuring && fail 'the line is still there' "$(screen)"
	tm capture-pane -p -S - | grep -qx halfdone || fail 'what the program printed is damaged' "$(tm capture-pane -p -S -)"
	[ "$(tm capture-pane -p -S - | grep -cxE '[0-9]+')" = 20 ] || fail 'lines are missing' "$(tm capture-pane -p -S -)"
}

attached_on_terminal()
{
	trap 'tm kill-server' RETURN
	start_busy 1
	on_terminal "quartzctl record --cpu none -o profile -p $busy -d $((5 * slow))"
	shown "CPUs: measuring process $busy \\(phases\\)"
	over
	screen | grep -q measuring && fail 'the line is still there' "$(screen)"
	screen | grep -q 'see it with' || fail 'the end says nothing' "$(screen)"
}

# A program that has the whole screen keeps it.
whole_screen()
{
	trap 'tm kill-server' RETURN
	on_terminal 'quartzctl record --cpu none -o profile -- sh -c "stty raw; sleep 4; stty sane"'
	while ! [ -s status.txt ] && tm has-session; do
		screen | grep -q measuring && fail 'a line where a program has the screen' "$(screen)"
		sleep 0.1
	done
	[ -s status.txt ] || fail 'the terminal has ended'
}

no_terminal()
{
	record sleep 2
	[ "$status" = 0 ] || fail "status $status"
	grep -q measuring record.err && fail 'a file has a line'
	return 0
}

try 'a line says how far a recording is, below what its command prints' command_on_terminal
thorough 'the same while attached' attached_on_terminal
thorough 'a program that has the whole screen keeps it' whole_screen
try 'there is no line without a terminal' no_terminal
