# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2015,SC2016
# quartzd as a process: one at a time, ended by signals, killed.

# Which programs and links a process holds, as "prog ID" and "link ID", but for iterators.
held_by()
{
	cat "/proc/$1/fdinfo/"* 2>/dev/null | awk '
		$1 == "link_type:" { iterator = $2 == "iter" }
		$1 == "link_id:" && !iterator { print "link", $2 }
		$1 == "prog_id:" { print "prog", $2 }' | sort -u
}

# All of the machine whose line has none of these words, as held_by and objects_of say it.
all_but()
{
	local kind

	for kind in prog link map; do
		bpftool $kind show | sed -n "/$1/d; s/^\([0-9]*\): .*/$kind \1/p"
	done | sort
}

# gone FILE [BUT]: none of these is there any more, within a second. Pinned text tables may be.
gone()
{
	local i left

	for ((i = 0; i < 20; i++)); do
		left=$(all_but "${2-name text_}" | comm -12 - "$1")
		[ -n "$left" ] || return 0
		sleep 0.05
	done
	fail 'still there after a second:' "$left"
}

killed()
{
	start_busy 2
	attach --pid "$busy"
	held_by "$daemon" >held
	[ "$(grep -c '^prog' held)" -ge 7 ] && [ "$(grep -c '^link' held)" -ge 6 ] ||
		fail 'the programs are not there while it runs' "$(cat held)"
	kill_now "$daemon"
	gone held
	attach --pid "$busy" --duration 1s
	held_by "$daemon" >held
	finished
	! grep -i 'cannot' quartzd.err || fail 'the next start complains'
	lawful
	gone held
}

# quartzd's children, and theirs.
descendants()
{
	local child

	for child in $(pgrep -P "$1"); do
		echo "$child"
		descendants "$child"
	done
}

# All that it holds in the kernel: programs, links and maps, as "KIND ID".
objects_of()
{
	sed -n 's/^\(prog\|link\|map\)_id:[[:space:]]*/\1 /p' "/proc/$1/fdinfo/"* 2>/dev/null
}

# None of the processes in the file is one of quartzd's any more.
ended_all()
{
	local i pid left

	for ((i = 0; i < 200; i++)); do
		left=
		while read -r pid; do
			! grep -q ^quartz "/proc/$pid/comm" 2>/dev/null || left="$left $pid"
		done <"$1"
		[ -n "$left" ] || return 0
		sleep 0.05
	done
	fail "still running after ten seconds:$left"
}

# attached TARGET...: attaches and detaches; notes what there was meanwhile in objects and children.
attached()
{
	kill -STOP "$busy" # as in attach_to
	attach "$@"
	kill -CONT "$busy"
	sleep 0.1
	objects_of "$daemon" >>objects
	descendants "$daemon" >>children
	kill -INT "$daemon"
	ended "$daemon"
	# 7: no samples, which a tenth of a second may well have
	[ "$status" = 0 ] || [ "$status" = 7 ] || fail "quartzd ended with status $status"
}

# Every fifth time to all processes. ATTACHMENTS says how often.
over_and_over()
{
	local i kind times=${ATTACHMENTS:-10} files

	start_busy 2
	files=$(find "/proc/$busy/fd" -type l | wc -l)
	for ((i = 0; i < times; i++)); do
		if ((i % 5 == 4)); then
			attached --system
		else
			attached --pid "$busy"
		fi
	done
	sort -u -o objects objects
	for kind in prog link map; do
		[ "$(grep -c "^$kind" objects)" -ge "$times" ] || fail "no ${kind}s while it runs"
	done
	ended_all children
	gone objects '^$'
	! find "$T/run" -type f -o -type s | grep -qv 'lock$\|page.flag$' ||
		fail 'files are left in the runtime directory' "$(ls -R "$T/run")"
	[ "$(find "/proc/$busy/fd" -type l | wc -l)" = "$files" ] || fail 'the target has other files'
	await_threads "$busy" 2
}

# by_signal INT|TERM
by_signal()
{
	start_busy 1
	attach --pid "$busy"
	sleep 0.3
	detach "$1"
	grep -q 'samples in .*, saved to' quartzd.err || fail 'no line about the snapshot'
	lawful
	expect 'not ended, with samples' '.scopes[0] | .samples > 0 and (.ended | not)'
}

one_at_a_time()
{
	start_busy 1
	attach --pid "$busy"
	"$out/quartzd" --pid "$busy" -o other 2>second.err
	status=$?
	[ $status = 1 ] || fail "the second ended with status $status"
	[ "$(wc -l <second.err)" = 1 ] && grep -q "process $daemon" second.err ||
		fail "not one line that names process $daemon" "$(cat second.err)"
	"$out/quartzctl" record --cpu none -o other -- "$programs/phases" --time 1:0.2 >/dev/null \
		2>record.err || fail "record beside it ended with status $?"
	detach
	lawful
}

live()
{
	start_busy 2
	attach --pid "$busy"
	sleep 1.5
	"$out/quartzctl" report --json >report.json || fail "live report ended with status $?"
	expect 'a live report of it' '.live and .scopes[0].pid == $busy and .scopes[0].samples > 0' \
		--argjson busy "$busy"
	expect 'levels are exact while it runs' '.scopes[0] | (.level_ns | sum) == .elapsed_ns and
		([.rows[].self.norm_ns] | sum) + .unattributed_ns + .instrumentation_ns ==
			.busy_ns'
	expect 'named already' 'row("phase_2").self.samples > 0'
	cp report.json live.json
	detach
	lawful
	expect 'the end is later' '(.live | not) and .window_ns > $live[0].window_ns and
		.scopes[0].cpu_ns >= $live[0].scopes[0].cpu_ns' --slurpfile live live.json
}

try 'kill -9 leaves nothing attached' killed
thorough 'attaching over and over leaves nothing' over_and_over
try 'SIGINT saves the snapshot' by_signal INT
try 'SIGTERM saves the snapshot' by_signal TERM
thorough 'one quartzd at a time' one_at_a_time
thorough 'report of a running quartzd' live
