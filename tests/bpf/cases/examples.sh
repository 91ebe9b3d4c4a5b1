# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# The scripts of examples/, on little data: each goes to its end, and says what it is for.

# example NAME ARG...: with this build's quartzctl, and its output in example.out.
example()
{
	local name=$1 directory

	shift
	directory=$(cd "$here/../../examples" && pwd)
	PATH="$out:$PATH" TMPDIR=$T "$directory/$name" "$@" >example.out 2>example.err || fail "$name ended with status $?"
	[ -z "$(find "$T" -maxdepth 1 -name 'tmp.*')" ] || fail "$name leaves files" "$(ls "$T")"
}

# says PATTERN...
says()
{
	local pattern

	for pattern; do
		grep -qE -e "$pattern" example.out || fail "no '$pattern'" "$(cat example.out)"
	done
}

example_what_if()
{
	example what-if 500000
	says 'spread main over [0-9]+ processors?: gains .* of ' '^elapsed time, s' 'commands differ: xz -T1'
}

example_scale()
{
	[ "$(nproc)" -ge 2 ] || skip 'one processor'
	example scale 500000 -P 2 --runs 1
	says 'times as fast on 2 processors as on 1: pigz -p 2' 'linear +maximal' 'Idle time: ' 'Work inflation: '
}

example_tune()
{
	example tune 100000 --trials 3 --for 20s
	says 'block: 6 values from 1 to 24, 24 at the start; 3 of the others' '^- +block=[0-9]+ .* (helps|does nothing|harms|not known)$' \
		'^a run takes [0-9.]+ s with block=[0-9]+, [0-9.]+ s with 24 as at the start$' '^(keep: xz -T0 -6 --block-size=|Nothing that was tried helps)'
}

# How much is gained depends on what else the machine does.
example_try()
{
	export XDG_DATA_HOME=$T/data
	example try 8 --for 6s --user root
	says '^Measured: [0-9.]+ s, [0-9]+ findings?\. [0-9]+ remedies to try, in 3 pairs' \
		'^(-|[a-z-]+) +(one processor|malloc keeps memory) .* (helps|does nothing|harms|not known)$' \
		'^(keep: .*/dice 8|Nothing that was tried helps)'
	jq -e '.schema == "quartz.try/v1" and (.trials | length) > 0 and .compared == "output" and
		all(.trials[]; .pairs >= 3 or .verdict != "helps")' data/quartz/tries/*.json >/dev/null ||
		fail 'not kept so' "$(cat data/quartz/tries/*)"
}

example_tune_pool()
{
	export LIBQUARTZ="-I$programs/pool.include $out/libquartz.a"
	example tune-pool 4 1 --duration 100ms --for 1min
	says '^threads +1 +threads +1 to 32' '^- +threads=[0-9]+ .* helps$' '^events in a second: [0-9.]+ with threads=[0-9]+, [0-9.]+ with 1 as at the start$' \
		'^process [0-9]+ has threads [0-9]+$'
}

example_grain()
{
	example grain/run 20000 500
	says '^ 1\. (Threads wait for each other|Steps are too small)' '^handed over: [0-9 ]+ times, [0-9.]+ [um]s of handing over for each' \
		'^hand-overs +%  since its last one' '^FASTER, ' '^What processor time was for, s and % of that before:' \
		' -[0-9.]+ +-[0-9.]+ +[0-9.]+ +handing over$'
}

try 'example: what-if' example_what_if
try 'example: scale' example_scale
try 'example: tune' example_tune
try 'example: grain' example_grain
try 'example: try' example_try
thorough 'example: tune-pool' example_tune_pool
