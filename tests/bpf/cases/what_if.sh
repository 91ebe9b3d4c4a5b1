# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# What a run would gain without a procedure or a lock: against programs of which that is known by how they are made.

# record_what_if CANDIDATES COMMAND...: what is known of them in what_if.json.
record_what_if()
{
	local candidates=$1

	shift
	"$out/quartzctl" record --what-if "$candidates" --cpu none -o "$T/profile" -- "$@" >program.out 2>record.err ||
		fail "record of $* ended with status $?"
	lawful
	"$out/quartzctl" what-if -i profile --json >what_if.json 2>what_if.err ||
		fail "what-if ended with status $?" "$(cat what_if.err)"
	"$out/quartzctl" what-if -i profile >what_if.out || fail "what-if as text ended with status $?"
}

# expect_gain WHAT FILTER: with `gain(NAME; K)`, the share of the elapsed time, K of 0 all, 1 half, 2 a quarter gone.
expect_gain()
{
	jq -e "
		.scopes[0] as \$s |
		def candidate(\$name): \$s.candidates[] | select(.name == \$name);
		def gain(\$name; \$k): candidate(\$name).gains[\$k].gain_ns / \$s.elapsed_ns;
		def about(\$share; \$wanted): (\$share - \$wanted | fabs) <= ([0.3 * \$wanted, 0.07] | max);
		$2" what_if.json >expect.out || fail "not so: $1" "$(jq -c . what_if.json)"
}

lawful_gains()
{
	expect_gain 'within its interval and the run' '[$s.candidates[].gains[] |
		.low_ns <= .gain_ns and .gain_ns <= .high_ns and .high_ns <= $s.elapsed_ns] | all'
	expect_gain 'the more is gone, the more is gained' '[$s.candidates[].gains |
		[range(length) as $k | .[$k].gain_ns] | . == (sort | reverse)] | all'
}

# shape NAME GAIN [SECONDS [MICROSECONDS]]: half of what it gains where half of the candidate is gone, and so on.
shape()
{
	record_what_if candidate "$programs/chains" "$1" 100 "${3:-1}" "${4:-5000}"
	lawful_gains
	expect_gain "$1: all gone gains about $2" "about(gain(\"candidate\"; 0); $2)"
	expect_gain "$1: half of it" "about(gain(\"candidate\"; 1); $2 / 2)"
	expect_gain "$1: a quarter of it" "about(gain(\"candidate\"; 2); $2 / 4)"
}

# The work outside of the lock is done while the other thread is inside.
lock_that_is_gone()
{
	record_what_if 'mutex section,candidate' "$programs/chains" lock 100 1
	lawful_gains
	expect_gain 'the lock is an object' 'candidate("mutex section").kind == "object"'
	expect_gain 'without it less time passes' 'gain("mutex section"; 0) > 0.05'
	record_what_if 'mutex section' "$programs/chains" lock 100 1
	expect_gain 'the same without a procedure beside it' 'gain("mutex section"; 0) > 0.05'
}

no_thread_waits_for_it()
{
	record_what_if candidate "$programs/chains" other 100 1
	lawful_gains
	expect_gain 'next to nothing is gained' 'gain("candidate"; 0) < 0.1'
}

# A clock ends a sleep whatever the program does.
sleep_stays()
{
	record_what_if candidate sh -c "sleep 1; '$programs/chains' chain 100 1"
	lawful_gains
	expect_gain 'the sleep is told' 'candidate("candidate").kept_ns > 0.8e9'
	expect_gain 'and gains nothing' '(0.5 * ($s.elapsed_ns - 1e9) / $s.elapsed_ns) as $wanted |
		about(gain("candidate"; 0); $wanted)'
}

chosen_by_itself()
{
	record_what_if auto "$programs/chains" chain 100 3
	lawful_gains
	expect_gain 'the candidate is one' 'about(gain("candidate"; 0); 0.5)'
	expect_gain 'what it calls for the time has a place' '$s.candidates | length >= 2'
}

not_met()
{
	record_what_if candidate,nobody "$programs/chains" chain 100 1
	expect_gain 'it is not known' 'candidate("nobody") | .kind == "unknown" and .gains == []'
	grep -q 'Not met.*nobody' what_if.out || fail "$(cat what_if.out)"
}

# refused WHY OPTION...
refused()
{
	local why=$1

	shift
	timeout 60 "$out/quartzctl" record "$@" >refused.out 2>refused.err
	status=$?
	[ $status = 2 ] || fail "$* ended with status $status, not 2"
	grep -q -e "$why" refused.err || fail "$* said: $(cat refused.err)"
}

bad_input()
{
	refused 'up to 16 names' --what-if a,,b -- true
	refused 'up to 16 names' --what-if 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17 -- true
	refused 'not for --system' --what-if auto --system
}

not_asked()
{
	launch "$programs/chains" lock 100 0.2
	"$out/quartzctl" what-if -i profile >what_if.out 2>what_if.err
	status=$?
	[ $status = 2 ] || fail "what-if ended with status $status, not 2"
	grep -q 'knows no candidates: record one with --what-if' what_if.err || fail "$(cat what_if.err)"
}

thorough 'two threads with a lock' shape lock 0.5
try 'a chain of three threads' shape chain 0.5
thorough 'threads that meet, equal' shape even 0.5
thorough 'short segments' shape chain 0.5 1 500
thorough 'more threads than processors' shape crowd 0.5
thorough 'no thread waits for it' no_thread_waits_for_it
thorough 'a lock that is gone' lock_that_is_gone
thorough 'sleep stays' sleep_stays
thorough 'candidates that lead' chosen_by_itself
thorough 'a name that is not met' not_met
try 'bad input of what-if' bad_input
thorough 'what-if not asked for' not_asked
