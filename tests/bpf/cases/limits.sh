# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034
# Processors that a program may not use: affinities, cpusets, quotas; and who had those that it may.

[ "$(nproc)" -ge 2 ] || skip 'one processor'
groups=/sys/fs/cgroup
group=

# A control group with these controllers, of the version that this machine has; sets group, as in files, and name.
make_group()
{
	local controller=$1

	name=/quartz-test-$$-$BASHPID
	if [ -e $groups/"$controller"/tasks ]; then
		group=$groups/$controller$name
	else
		grep -q " $groups cgroup2 " /proc/mounts || mount -t cgroup2 none $groups 2>/dev/null ||
			skip 'no control groups can be made here'
		echo "+$controller" >$groups/cgroup.subtree_control 2>/dev/null ||
			skip "no controller $controller"
		group=$groups$name
	fi
	mkdir "$group" || skip 'no control groups can be made here'
	trap 'end_all; rmdir "$group"/in "$group" 2>/dev/null' EXIT
}

# set_quota GROUP US PERIOD
set_quota()
{
	if [ -e "$1/cpu.max" ]; then
		echo "$2 $3" >"$1/cpu.max"
	else
		echo "$3" >"$1/cpu.cfs_period_us"
		echo "$2" >"$1/cpu.cfs_quota_us"
	fi || fail 'no quota'
}

# WORDS, which may be broken into lines.
told()
{
	"$out/quartzctl" report -i profile >report.txt || fail 'report failed'
	tr -s ' \n' ' ' <report.txt >report.out
	grep -q "$1" report.out || fail "not said: $1" "$(head -n 12 report.txt)"
}

reported()
{
	"$out/quartzctl" report --json -i profile >report.json || fail 'report failed'
}

bound()
{
	launch taskset -c 0 "$programs/phases" --time 2:1
	reported
	expect 'one processor' '.scopes[0].allowed | .processors == 1 and .cpus == "0" and .quota_us == 0'
	expect 'that is known of its threads' '[.scopes[0].threads[].cpus] | index("0")'
	told ' of the 1 CPU that it may use '
	told 'limited by its affinity (CPU 0) to 1 of'
}

# While it is measured, and each thread to one of its own, which together are two.
bound_later()
{
	start_busy 2
	attach --pid "$busy"
	taskset -acp 1 "$busy" >taskset.out
	detach
	reported
	expect 'one processor' '.scopes[0].allowed | .processors == 1 and .cpus == "1"'
	attach --pid "$busy"
	for thread in "/proc/$busy/task"/*; do
		taskset -cp 0-1 "${thread##*/}" >taskset.out
	done
	taskset -cp 0 "${thread##*/}" >taskset.out
	detach
	reported
	expect 'at least two' '.scopes[0].allowed | . == null or .processors == 2'
}

# Within another quota, which is larger: version 1 has it so.
throttled()
{
	make_group cpu
	set_quota "$group" 30000 100000
	[ ! -e "$group/cgroup.subtree_control" ] || echo +cpu >"$group/cgroup.subtree_control"
	mkdir "$group/in" && set_quota "$group/in" 10000 100000
	launch sh -c "echo \$\$ >$group/in/cgroup.procs; exec $programs/phases --time 2:3"
	reported
	expect 'the inner quota' '.scopes[0].allowed | .quota_cgroup == $name and .quota_us == 10000 and
		.quota_period_us == 100000' --arg name "$name/in"
	expect 'it was throttled' '.scopes[0] | .allowed.throttled_ns > 0 and
		.allowed.throttled_periods > 0 and .allowed.throttled_periods <= .allowed.quota_periods'
	told ' of the 0.1 CPUs that its quota gives it busy'
	told "limited by its quota (10% of a CPU, of the control group $name/in): throttled"
}

# The same of one that runs already, and of each process of a machine.
throttled_in_a_machine()
{
	make_group cpu
	set_quota "$group" 10000 100000
	start_busy 2
	echo "$busy" >"$group/cgroup.procs"
	attach --pid "$busy"
	sleep 2
	detach
	reported
	expect 'its quota' '.scopes[0].allowed | .quota_us == 10000 and .throttled_ns > 0'
	serve
	sleep 2
	detach
	"$out/quartzctl" report --json -i profile -s "pid=$busy" >report.json || fail 'report failed'
	expect 'its quota' '.scopes[0].allowed | .quota_us == 10000 and .throttled_ns > 0'
}

in_a_cpuset()
{
	make_group cpuset
	[ ! -e "${group%/*}/cpuset.mems" ] || cat "${group%/*}/cpuset.mems" >"$group/cpuset.mems" || fail 'no cpuset'
	echo 1 >"$group/cpuset.cpus" || fail 'no cpuset'
	launch sh -c "echo \$\$ >$group/cgroup.procs; exec $programs/phases --time 2:1"
	reported
	expect 'its cpuset' '.scopes[0].allowed | .processors == 1 and .cpus == "1" and .cpuset == "1"'
	told 'limited by its cpuset (CPU 1) to 1 of'
}

# Its processors are another program's, which is not profiled.
others_are_named()
{
	cp "$programs/phases" neighbour
	start neighbour ./neighbour --time "$((2 * $(nproc))):$((600 * slow))"
	await_threads "$pid" "$((2 * $(nproc)))"
	start_busy "$(nproc)"
	attach --pid "$busy"
	sleep 3
	detach
	reported
	expect 'it was seen' '[.ledger.outside | to_entries[] | select(.key | startswith("neighbour")).value] | add > 0'
	expect 'no more than there were' '([.ledger.outside[]] | add) <= .ledger.filtered'
	# others may run here as well
	told "most of all $(jq -r '.ledger.outside | with_entries(select(.key | startswith("quartz") | not)) |
		to_entries | max_by(.value).key | split(" ")[0]' report.json)"
}

try 'a program bound to one processor' bound
try 'a program bound while it runs' bound_later
try 'a quota throttles a program' throttled
try 'a quota throttles a process of a machine' throttled_in_a_machine
try 'a cpuset of one processor' in_a_cpuset
try 'who has the processors is named' others_are_named
