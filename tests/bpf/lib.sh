# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# lib.sh OUT CASE PATTERN: runs the tests of one case file; see run.
#
# Ends with an error where one has failed. A test is a function. It ends with `fail REASON` or `skip REASON`, or has passed. Its directory is $T,
# and what it started by `start` is ended.
set -u
out=$1 case=$2 pattern=$3
programs=$out/tests/programs
# shellcheck disable=SC2034 # for cases: so many times as long as elsewhere takes here what quartzd does
slow=${SLOW:-1}
here=$(dirname "${BASH_SOURCE[0]}")
export LC_ALL=C QUARTZ_PAGER=cat
unset DEBUGINFOD_URLS

# ---- verdicts ----

fail()
{
	printf '    %s\n' "$@"
	exit 1
}

skip()
{
	echo "$*" >"$T/skip"
	exit 77
}

end_all()
{
	local pid

	for pid in "${started[@]}"; do
		kill_now "$pid"
	done 2>/dev/null
}

# attempt FUNCTION [ARG]...: in a directory and a daemon's world of its own, but for unwind tables and types of the kernel: those of
# one test serve the next ones. Sets status.
attempt()
{
	T=$(mktemp -d /var/tmp/quartz-test.XXXXXX)
	(
		started=() events_lost=false stolen_before=$(stolen_ns)
		trap end_all EXIT
		export QUARTZ_RUNTIME_DIR=$T/run QUARTZ_STATE_DIR=$T/state \
			QUARTZ_CONFIG_DIR=$T/etc QUARTZ_CACHE_DIR=${CACHE:-$T/cache}
		cd "$T" && "$@"
	)
	status=$?
	case $status in
	0) ;;
	77) reason=$(cat "$T/skip") ;;
	*) sed 's/^/    | /' "$T"/*.err 2>/dev/null ;;
	esac
	rm -rf "$T"
}

# try NAME FUNCTION [ARG]...: a test that fails is tried once more, and both are shown, since the host
# can stop this machine between any two steps of it. What is wrong with Quartz fails again. LIST=1
# shows names only.
try()
{
	local name=$1 passed=ok status reason

	# shellcheck disable=SC2053
	[[ $name == $pattern ]] || return
	if [ -n "${LIST-}" ]; then
		echo "$name"
		return
	fi
	shift
	attempt "$@"
	if [ $status != 0 ] && [ $status != 77 ]; then
		echo "again $name"
		passed=flaky
		attempt "$@"
	fi
	case $status in
	0) echo "$passed $name" ;;
	77) echo "skip $name: $reason" ;;
	*) echo "FAIL $name" && any_failed=1 ;;
	esac
}

# thorough NAME FUNCTION [ARG]...: a test that `make check` leaves to `make check-all`.
thorough()
{
	[ -n "${QUICK-}" ] || try "$@"
}

# What doctor says of text tables.
text_tables_verdict()
{
	"$out/quartzctl" doctor --json | jq -r '.checks[] | select(.check == "text_files").verdict'
}

# lets_text_tables: whether this kernel lets quartzd have them. In a guest it must: TEXT_TABLES=1.
lets_text_tables()
{
	: "${TEXT_TABLES:=$(text_tables_verdict)}"
	[ "$TEXT_TABLES" = ok ] || [ "$TEXT_TABLES" = 1 ]
}

# own_cache: for tests of what is kept there.
own_cache()
{
	export QUARTZ_CACHE_DIR=$T/cache
}

# with_text_tables try|thorough NAME FUNCTION [ARG]...: where there are none, it says that the test is left to a guest.
with_text_tables()
{
	if lets_text_tables; then
		"$@"
	elif [ -z "${LIST-}" ]; then
		echo "    left to a guest of tests/vm, since this kernel refuses text tables: $2"
	fi
}

# ---- processes ----

# start NAME COMMAND...: in the background, with output in NAME.out and NAME.err; sets pid.
start()
{
	local name=$1

	shift
	# not by the redirections below alone: who waits for a line must not find that of the one before
	: >"$name.out"
	: >"$name.err"
	"$@" >"$name.out" 2>"$name.err" &
	pid=$!
	started+=("$pid")
}

# await FILE WORDS: until a line of the file, which the last one started writes, has these words.
await()
{
	local i

	for ((i = 0; i < 1200; i++)); do
		! grep -q -e "$2" "$1" 2>/dev/null || return 0
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.05
	done
	grep -q -e "$2" "$1" || fail "no '$2' in $1"
}

# ended PID: waits for its end; sets status.
ended()
{
	wait "$1" 2>/dev/null
	status=$?
}

# It has ended when this returns.
kill_now()
{
	kill -KILL "$1"
	ended "$1"
}

# attach ARG...: a quartzd that is attached when this returns; sets daemon.
attach()
{
	start quartzd "$out/quartzd" --cpu none --output "$T/profile" "$@"
	daemon=$pid
	await quartzd.err 'attached to'
}

# attach_to PID ARG...: the same to a program that stands still until then: in a guest it would take from quartzd
# the processors that quartzd needs to start.
attach_to()
{
	kill -STOP "$1"
	attach --pid "$@"
	kill -CONT "$1"
}

# serve OPTION...: a quartzd --system that answers when this returns; sets daemon.
serve()
{
	start quartzd "$out/quartzd" --system --cpu none --history 0 --ended-memory 32 \
		--output "$T/profile" "$@"
	daemon=$pid
	await quartzd.err 'attached to'
}

# await_status FILTER MESSAGE: until it holds of what quartzd says of itself, which is in status.json then.
await_status()
{
	local i

	for ((i = 0; i < 240; i++)); do
		"$out/quartzctl" status --json >status.json 2>status.err &&
			jq -e "$1" status.json >state.out && return
		sleep 0.5
	done
	fail "$2" "$(cat status.json status.err quartzd.err)"
}

# detach [SIGNAL]: ends it, with its snapshot in $T/profile.
detach()
{
	kill "-${1:-INT}" "$daemon"
	finished
}

# Waits until quartzd has ended by itself.
finished()
{
	ended "$daemon"
	[ "$status" = 0 ] || fail "quartzd ended with status $status"
}

# record COMMAND...: its output in program.out; sets status, to 124 when it hangs.
record()
{
	timeout --foreground 300 "$out/quartzctl" record --cpu none -o "$T/profile" -- "$@" \
		>program.out 2>record.err
	status=$?
}

# launch COMMAND...: the same for one that must succeed.
launch()
{
	record "$@"
	[ "$status" = 0 ] || fail "record of $* ended with status $status"
}

# Threads of a process that compute until they are ended.
start_busy()
{
	start busy "$programs/phases" --time "$1:${2:-$((600 * slow))}"
	busy=$pid
	await_threads "$busy" "$1"
}

await_threads()
{
	local i

	for ((i = 0; i < 200; i++)); do
		[ "$(ls "/proc/$1/task" 2>/dev/null | wc -l)" -lt "$2" ] || return 0
		sleep 0.05
	done
	fail "process $1 has not $2 threads after ten seconds"
}

# What interrupts and the host took from all processors since boot, in ns, to a tick of 10 ms each. The
# kernel leaves it out of the processor time of threads.
stolen_ns()
{
	awk '/^cpu / { printf "%.0f\n", ($7 + $8 + $9) * 1e7 }' /proc/stat
}

# Processor time of a process in ns, by the kernel's account; of threads alive.
cpu_of()
{
	cat "/proc/$1/task"/*/schedstat | awk '{ ns += $1 } END { printf "%.0f\n", ns }'
}

# ---- results ----

# The metadata of a snapshot: its last string, in JSON.
metadata()
{
	zcat "$1" | grep -ao '{"schema":"quartz.meta/v1".*' | jq -n input
}

# Makes report.json of $T/profile, and checks all that holds for every profile. Where others can
# flood the ring of events, a test sets events_lost=true before. HOST_STOPS is the number of samples
# that may be missing because the host stopped the machine: such stops, of half a second even, are in
# no account of this kernel. 0 where time is made of instructions. THREAD_CLOCK is the share of a thread's
# time by which the kernel's account of it may be wrong to the good of another one's: it does not read its
# clock again when a wake-up is why it switches (rq_clock_skip_update in kernel/sched/core.c). That is taken to
# be why two threads in a guest that wake each other differ by 1.4 % and their sum does not.
lawful()
{
	local broken

	"$out/quartzctl" report -i profile --scope all --json >report.json 2>report.err ||
		fail "report ended with status $?"
	metadata profile >meta.json
	broken=$(jq -r --slurpfile meta meta.json --argjson unaccounted "${UNACCOUNTED:-0.05}" \
		--argjson events_lost $events_lost --argjson stops "${HOST_STOPS:-1000}" \
		--argjson thread_clock "${THREAD_CLOCK:-0.01}" --argjson left_out "${LEFT_OUT:-0}" \
		--argjson stolen $(($(stolen_ns) - stolen_before)) -f "$here/laws.jq" report.json) ||
		fail 'the laws could not be checked'
	[ -z "$broken" ] || fail "$broken"
}

# expect WHAT FILTER [JQ-OPTION]...: a condition on report.json, with `row(NAME)` for a procedure
# of the first scope, `near(A; B; SHARE; NS)`, `sum`, and of the first scope, in ns:
#   ran   the time its threads ran: their processor time, and what the host and interrupts took of it,
#         which the kernel leaves out of processor time and the time of samples has in it
#   took  A of samples is processor time B, as near as that, and what was taken
#   cut   about the time of the samples whose stacks did not reach the outermost frame, and of those
#         that are missing without a cause. They are below none of the callers that the law is about.
expect()
{
	local what=$1 filter=$2

	shift 2
	jq -e "$@" "
		def sum: add // 0;
		def near(\$a; \$b; \$share; \$ns):
			(\$a - \$b | fabs) <= ([\$share * (\$b | fabs), \$ns] | max);
		def ran: [.scopes[0].threads[].running_ns] | sum;
		def took(\$a; \$b; \$share; \$ns): ([\$share * \$b, \$ns] | max) as \$tolerance |
			\$a >= \$b - \$tolerance and
			\$a <= \$b + \$tolerance + ([ran - .scopes[0].cpu_ns, 0] | max);
		def row(\$name): [.scopes[0].rows[] | select(.name == \$name)][0];
		def cut:
			(.ledger | [.unaccounted / ([.expected, 1] | max), 0] | max) as \$missing |
			(.scopes[0] | .samples - ([.stack_ends | .outermost, .guessed] | sum)) *
				1e9 / .rate_hz + \$missing * .scopes[0].elapsed_ns;
		$filter" report.json >expect.out || fail "not so: $what" "$(essence)"
}

# What matters of a report, for people.
essence()
{
	jq -c '.ledger, (.scopes[] | del(.rows, .threads, .lost)),
		(.scopes[0].rows[:12][] |
		 [.name, "total", .total.norm_ns, .total.cpu_ns, "self", .self.norm_ns, .self.cpu_ns]),
		(.scopes[0].threads[:12][] | del(.ci_ns, .name, .norm_ns))' report.json
}

# truth PROCEDURE: the processor time in ns that the program says it spent there.
truth()
{
	sed -n "s/^truth $1 cpu_ns \([0-9]*\) .*/\1/p" "${2:-program.out}"
}

# Programs with whole stacks: all that runs, runs on behalf of main, but for samples whose stacks were
# cut; and those are few. At the start, or when something is mapped, code has no tables yet; how long, is
# up to the machine, but it is no large part of what the program does. An exec has a stack that cannot be
# read for a moment.
main_is_all()
{
	expect 'main total + instrumentation + cut stacks + level 0 = elapsed' '
		cut as $cut | .scopes[0] as $s |
		($s.elapsed_ns - $s.idle_ns - $s.instrumentation_ns - row("main").total.norm_ns) |
		. >= -0.01 * $s.elapsed_ns and . <= 0.01 * $s.elapsed_ns + $cut'
	whole_stacks
}

# whole_stacks [SHARE]: of the samples, at most, that are cut for want of tables.
# shellcheck disable=SC2120 # cases give it
whole_stacks()
{
	expect 'stacks are cut for want of tables, hardly for other causes' '
		.scopes[0] as $s | ($s.stack_ends | [.not_ready, .stale, .no_region] | sum) as $early |
		([$s.stack_ends[]] | sum) == $s.samples and $early <= ([$share * $slow, 0.9] | min) * $s.samples and
		$s.samples - $early - ($s.stack_ends | [.outermost, .guessed] | sum) <=
			0.01 * $s.samples + 3 * $slow' --argjson share "${1:-0.25}" --argjson slow "$slow"
}

any_failed=0
# shellcheck source=/dev/null
. "$case"
exit $any_failed
