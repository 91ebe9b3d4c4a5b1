# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# processors: some are set apart, others not allowed; tests/bpf/lib.sh runs it in a guest of 8 or more
# processors, of which the last one may be isolated. Only sums that are exact are asked for: such a guest has
# the clock of its host, and sees nothing of what that takes away.

cgroups=/sys/fs/cgroup

# What holds of every profile, whatever the processors do. The report is in report.json.
exact()
{
	"$out/quartzctl" report -i profile --json >report.json || fail 'no report'
	jq -e '.scopes | length > 0 and all(.[];
		([.rows[].self.norm_ns] | add) + .unattributed_ns + .instrumentation_ns == .busy_ns and
		(.level_ns | add) == .elapsed_ns and
		(.effective_ns | add) == .elapsed_ns)' report.json >/dev/null ||
		fail 'sums are not equal' "$(jq -c '.scopes[] | del(.rows, .threads)' report.json)"
	jq -e '.ledger | .expected == .accepted + .filtered + (.lost | add) + .unaccounted' \
		report.json >/dev/null || fail 'the ledger is open' "$(jq -c .ledger report.json)"
}

recorded()
{
	"$out/quartzctl" record -o "$T/profile" "$@" >program.out 2>record.err ||
		fail "record ended with status $?"
	exact
}

# none_beyond N: never more than N processors ran the program at a time, and once so many.
none_beyond()
{
	expect "at most $1 processors" '.scopes[0].level_ns[$n + 1:] | sum == 0' --argjson n "$1"
	expect "all $1 processors" '.scopes[0].level_ns[$n] > 0' --argjson n "$1"
}

# ---- an isolated processor ----

isolated_one()
{
	isolated=$(cat /sys/devices/system/cpu/isolated)
	[ -n "$isolated" ] || skip 'no processor is isolated'
	[ "$(cat /sys/devices/system/cpu/nohz_full)" = "$isolated" ] || fail 'nohz_full is another one'
}

# quartzd has the isolated processor, and the program all others.
on_the_isolated_one()
{
	local others=$(($(nproc --all) - 1)) threads

	threads=$((others < 16 ? others : 16)) # what phases can have

	isolated_one
	# shellcheck disable=SC2016 # for that shell
	recorded --cpu "$isolated" -- sh -c 'grep Cpus_allowed_list /proc/self/status && exec "$0" --time "$1:1"' \
		"$programs/phases" "$threads"
	none_beyond "$threads"
	grep -q "[[:space:]]0-$((others - 1))\$" program.out || fail "$(cat program.out)"
	start sleeper sleep 1000
	attach --cpu "$isolated" --pid "$pid"
	[ "$(taskset -pc "$daemon" | sed 's/.*: //')" = "$isolated" ] || fail 'quartzd runs elsewhere'
	kill_now "$daemon"
}

# From there the poller sees what instrumented threads do.
polled_from_the_isolated_one()
{
	isolated_one
	recorded --cpu "$isolated" -- "$programs/profiled" scopes 0.5
	expect 'the poller was at work' '.ledger.events.page_rounds > 0 and .ledger.events.page_samples > 0'
	expect 'it saw the scopes' '[.scopes[0].rows[].name] | index("inner_scope") and index("outer_scope")'
}

# ---- cgroups ----

# in_cpuset CPUS: makes a cgroup with these processors.
make_cpuset()
{
	echo +cpuset >$cgroups/cgroup.subtree_control
	mkdir -p $cgroups/"$1"
	echo "$2" >$cgroups/"$1"/cpuset.cpus || fail 'no cpuset'
}

in_a_cpuset()
{
	make_cpuset two 0-1
	(
		echo $BASHPID >$cgroups/two/cgroup.procs
		"$out/quartzctl" record --cpu none -o "$T/profile" -- "$programs/phases" --time 4:1
	) >program.out 2>record.err || fail 'record failed'
	exact
	none_beyond 2
	expect 'it could have used more' '.scopes[0] |
		.runnable_ns > ([.level_ns | to_entries[] | .key * .value] | add)'
}

# A program that runs is put on fewer processors, frozen, and let go.
moved_and_frozen()
{
	make_cpuset one 2
	start_busy 4
	attach_to "$busy"
	sleep 1
	echo "$busy" >$cgroups/one/cgroup.procs
	sleep 1
	echo 1 >$cgroups/one/cgroup.freeze
	until grep -q 'frozen 1' $cgroups/one/cgroup.events; do sleep 0.1; done
	sleep 1
	echo 0 >$cgroups/one/cgroup.freeze
	sleep 1
	detach
	exact
	expect 'no thread ran while it was frozen' '.scopes[0].level_ns[0] >= 1e9'
	expect 'one ran on one processor' '.scopes[0].level_ns[1] >= 1e9'
	expect 'never more than the threads' '.scopes[0].level_ns[5:] | sum == 0'
}

# ---- many ----

many()
{
	[ "$(nproc --all)" -ge 18 ] || skip 'fewer than 18 processors'
	recorded --cpu none -- "$programs/phases" --time 16:2
	none_beyond 16
	expect 'a level for each that it reached' '.scopes[0].level_ns | length == 17'
	expect 'the phase has them all' 'row("phase_16").total.level_cpu_ns[16] > 0'
}

try 'quartzd on an isolated processor' on_the_isolated_one
try 'a poller on an isolated processor' polled_from_the_isolated_one
try 'a program in a cpuset' in_a_cpuset
try 'a program that is moved and frozen' moved_and_frozen
try 'eighteen processors' many
