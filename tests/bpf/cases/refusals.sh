# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Bad input: one clear line, a documented status, nothing lost.

# refused STATUS WORDS COMMAND...
refused()
{
	local expected=$1 words=$2

	shift 2
	"$@" >refused.out 2>all.err
	status=$?
	# a kernel that refuses the text tables says so besides
	grep -v 'without it there are no text tables' all.err >refused.err
	[ $status = "$expected" ] || fail "status $status, not $expected" "$(cat refused.err)"
	[ "$(wc -l <refused.err)" = 1 ] || fail 'not one line' "$(cat refused.err)"
	grep -q -e "$words" refused.err || fail "not about '$words'" "$(cat refused.err)"
	[ -z "$(ls -A state 2>/dev/null)" ] || [ -z "$(ls -A state/profiles)" ] ||
		fail 'a snapshot was left'
}

no_process()
{
	local pid_max

	pid_max=$(cat /proc/sys/kernel/pid_max)
	refused 1 'no such process' "$out/quartzd" --pid $((pid_max - 1))
}

zombie()
{
	start zombie "$programs/zombie" 60
	await zombie.out zombie
	refused 1 zombie "$out/quartzd" --pid "$(sed -n 's/^zombie //p' zombie.out)"
}

kernel_thread()
{
	[ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ] || skip 'no kernel thread can be seen'
	refused 1 'kernel thread' "$out/quartzd" --pid 2
}

thread_number()
{
	local tid

	start_busy 2
	for tid in "/proc/$busy/task/"*; do
		tid=${tid##*/}
		[ "$tid" = "$busy" ] ||
			refused 1 "thread of process $busy" "$out/quartzd" --pid "$tid"
	done
}

twice()
{
	start_busy 1
	refused 1 'twice' "$out/quartzd" --pid "$busy" --pid "$busy" -o profile
}

rates()
{
	local rate

	for rate in 0 -1 1000000000 10001 999x ''; do
		refused 2 rate "$out/quartzd" --rate="$rate" --pid $$
		refused 2 rate "$out/quartzctl" record --rate="$rate" -- true
	done
}

spin_rules()
{
	local rules=('!' 'libfoo:' ':spin' '*' '*:*' "$(printf 'a\tb\001')" "$(printf '%0300d' 0)")
	local rule

	for rule in "${rules[@]}"; do
		printf 'good_one\n# comment\n%s\n' "$rule" >rules
		refused 2 '^quartzd: rules:3: ' "$out/quartzd" --pid $$ --spin-symbols rules
	done
	printf 'good_one\n' >rules
	refused 2 ' nowhere: ' "$out/quartzctl" record --spin-symbols rules \
		--spin-symbols nowhere touch ran
	refused 2 'not a regular file' "$out/quartzctl" record --spin-symbols /dev/zero touch ran
	mkdir -p etc/spin-symbols.d
	echo '!' >etc/spin-symbols.d/mine
	refused 2 'etc/spin-symbols.d/mine:1: ' \
		"$out/quartzctl" record touch ran
	[ ! -e ran ] || fail 'the command was run all the same'
	mv etc/spin-symbols.d/mine etc/spin-symbols.d/.mine
	"$out/quartzctl" record -o profile --spin-symbols rules touch ran 2>record.err ||
		fail 'good rules are refused' "$(cat record.err)"
	[ -e ran ] || fail 'the command was not run'
}

commands()
{
	echo 'no program' >text
	chmod 644 text
	refused 127 nowhere-such "$out/quartzctl" record -o profile -- nowhere-such
	refused 127 '/no/such: no such file' "$out/quartzctl" record -o profile -- /no/such
	printf '#!/no/interpreter\n' >script
	chmod 755 script
	refused 127 'interpreter .* does not exist' "$out/quartzctl" record -o profile -- ./script
	refused 126 text "$out/quartzctl" record -o profile -- ./text
	[ ! -e profile ] || fail 'a snapshot of nothing'
}

statuses()
{
	record bash -c 'exit 42'
	[ "$status" = 42 ] && [ -s profile ] || fail "status $status, not 42"
	record bash -c 'kill -SEGV $$'
	[ "$status" = 139 ] || fail "status $status, not 139"
	record bash -c 'kill -KILL $$'
	[ "$status" = 137 ] || fail "status $status, not 137"
}

nowhere_to_save()
{
	refused 1 missing/profile "$out/quartzctl" record -o missing/profile -- touch ran
	[ ! -e ran ] || fail 'the command was run all the same'
}

# There is room for the trial at the start, and none at the end.
disk_full()
{
	local saved

	mkdir small
	mount -t tmpfs -o size=64k small small || skip 'no tmpfs can be mounted'
	trap 'umount "$T/small"; end_all' EXIT
	"$out/quartzctl" record -o small/profile -- bash -c '
		"$1/phases" --time 1:0.2; head -c 1M /dev/zero >small/filler' - "$programs" \
		>program.out 2>record.err
	status=$?
	[ $status = 1 ] || fail "status $status, not 1"
	saved=$(sed -n 's/.*small\/profile: .*saved instead to \([^ ]*\).*/\1/p' record.err)
	[ -s "$saved" ] || fail 'not saved elsewhere'
	mv "$saved" profile
	[ "$(ls -A small)" = filler ] || fail 'a part of it was left' "$(ls -A small)"
	lawful
	expect 'nothing was lost' 'row("phase_1").samples != 0'
}

# Only what is replaced is: not what has a name like it, nor another user's file, and events do not outlive their profile.
what_is_there()
{
	mkdir -m 1777 shared
	echo mine >profile.trial
	echo old >profile.events
	echo theirs >shared/profile
	chown nobody shared/profile
	"$out/quartzctl" record --cpu none -o profile -- true 2>record.err || fail "$(cat record.err)"
	[ "$(cat profile.trial)" = mine ] || fail 'another file was removed'
	[ ! -e profile.events ] || fail 'events of an earlier run'
	refused 1 'shared/profile: cannot be written: .*of another user is' \
		"$out/quartzctl" record --cpu none -o shared/profile -- touch ran
	[ "$(cat shared/profile)" = theirs ] && [ ! -e ran ] || fail "another user's file was replaced"
	ln -s "$T" shared/link && chown -h nobody shared/link
	refused 1 'shared/link/planted: cannot be written: .*link of another user is' \
		"$out/quartzctl" record --cpu none -o shared/link/planted -- touch ran
	[ ! -e planted ] && [ ! -e ran ] || fail "another user's link was followed"
}

# quartzd raises those of its time and of the size of files for itself; where it may not, one line says what to do, and no part is left.
small_files()
{
	bash -c 'ulimit -S -t 3600; exec "$@"' - "$out/quartzctl" record --cpu none -o profile -- \
		bash -c 'ulimit -t; grep "Max cpu time" "/proc/$PPID/limits"' >program.out 2>record.err || fail "$(cat record.err)"
	[ "$(head -n 1 program.out)" = 3600 ] && grep -q 'unlimited  ' program.out ||
		fail 'its time is not raised, or for the command as well' "$(cat program.out)"
	bash -c 'ulimit -S -f 1; exec "$@"' - "$out/quartzctl" record --cpu none -o profile -- \
		bash -c 'ulimit -f; exec "$1" --time 1:0.2' - "$programs/phases" >program.out 2>record.err || fail "$(cat record.err)"
	[ "$(head -n 1 program.out)" = 1 ] && [ "$(stat -c %s profile)" -gt 1024 ] || fail 'not raised, or for the command as well'
	bash -c 'ulimit -f 1; exec setpriv --bounding-set=-sys_resource "$@"' - \
		"$out/quartzctl" record --cpu none -o none -- "$programs/phases" --time 1:0.2 >program.out 2>record.err
	status=$?
	[ $status = 1 ] && [ "$(grep -c 'RLIMIT_FSIZE is 1024: raise' record.err)" = 1 ] ||
		fail "status $status" "$(cat record.err)"
	[ -z "$(find . -name 'none*')" ] || fail 'a part of it was left'
}

# A control group's limit is not that of the user.
few_processes()
{
	group=/sys/fs/cgroup/quartz-test.$$ # also of the trap
	# where version 1 is mounted, a directory above its hierarchies is none
	[ ! -d /sys/fs/cgroup/pids ] || group=/sys/fs/cgroup/pids/quartz-test.$$
	mkdir "$group" 2>/dev/null || skip 'no control group can be made'
	trap 'rmdir "$group"; end_all' EXIT
	echo 2 >"$group/pids.max" 2>/dev/null || skip 'no limit of processes'
	refused 1 "pids.max of $group is 2: raise" bash -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' - "$group" \
		"$out/quartzctl" record -o profile -- touch ran
}

# Nothing of quartzd's takes the number of a descriptor that its caller has closed.
closed_descriptors()
{
	local closed

	for closed in '<&-' '>&-' '<&- >&- 2>&-'; do
		rm -f profile
		eval '"$out/quartzctl" record --cpu none -o profile -- "$programs/phases" --time 1:0.3 2>record.err '"$closed"
		[ $? = 0 ] || fail "status with $closed" "$(cat record.err)"
		lawful
		expect "names with $closed" 'row("phase_1").total.samples > 0 and (.scopes[0] | .unresolved * 10 < .samples)'
	done
}

# quartzd raises the limit where it may; where it may not, it says what to do.
few_files()
{
	local n limited='ulimit -n $1; shift; exec setpriv --bounding-set=-sys_resource "$@"'

	launch bash -c "$limited" - 1024 "$programs/phases" --time 2:0.2
	lawful
	for n in 16 32 64; do
		refused 1 "RLIMIT_NOFILE is $n: raise" \
			bash -c "$limited" - $n "$out/quartzd" --pid $$ -o profile
	done
}

# More programs than descriptors: some have no names, and what was sampled is saved all the same.
few_files_for_many()
{
	local i

	for ((i = 0; i < 60; i++)); do
		cp "$programs/sleeper" "sleeper_$i"
		start "sleeper_$i" "./sleeper_$i" 600
	done
	start_busy 1
	for limit in 128 160 256; do
		rm -f profile
		bash -c 'ulimit -n $1; shift; exec setpriv --bounding-set=-sys_resource "$@"' - $limit \
			"$out/quartzd" --system --cpu none --duration 2 -o profile >limited.out 2>limited.err
		status=$?
		[ $status = 0 ] || fail "status $status with $limit descriptors" "$(cat limited.err)"
		grep -q "RLIMIT_NOFILE is $limit: raise" limited.err || fail 'the limit is not named'
		"$out/quartzctl" report -i profile --json >report.json 2>report.err || fail "$(cat report.err)"
		jq -e '.scopes[0].elapsed_ns >= 1e9' report.json >jq.out || fail 'not all of the time' "$(cat limited.err)"
	done
}

# Wherever the descriptors end, that is what is said.
no_files_left()
{
	local left

	for left in 8 52 54 56 58 60; do
		bash -c 'ulimit -n 256
			for ((fd = 10; fd < 256 - $1; fd++)); do
				eval "exec $fd</dev/null"
			done
			shift
			exec setpriv --bounding-set=-sys_resource "$@"' - $left \
			"$out/quartzd" --pid $$ --duration 100ms -o profile >refused.out 2>refused.err
		grep -q 'out of memory' refused.err &&
			fail "out of memory with $left descriptors" "$(cat refused.err)"
	done
	return 0
}

little_memory()
{
	refused 1 'RLIMIT_AS is 20480000: raise' \
		bash -c 'ulimit -v 20000; exec "$@"' - "$out/quartzd" --pid $$ -o profile
}

# Whose clocks are ahead or behind. One without an offset is no obstacle: the next one is met, that there is no such process.
other_clocks()
{
	[ -e /proc/self/timens_offsets ] || skip 'the kernel has no time namespaces'
	refused 5 'time namespace.* by 1000000 s.*nsenter' unshare -T --monotonic 1000000 "$out/quartzd" --pid $$ -o profile
	refused 5 'time namespace.* by -1 s.*nsenter' unshare -T --boottime -1 "$out/quartzctl" record -o profile -- true
	refused 1 'no such process' unshare -T "$out/quartzd" --pid 4194305 -o profile
}

# What the control group leaves is too little: said before anything is killed for it.
little_memory_of_a_group()
{
	local group=/sys/fs/cgroup/quartz-test.$$ limit=memory.max

	if [ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ]; then
		group=/sys/fs/cgroup/memory/quartz-test.$$ limit=memory.limit_in_bytes
	else
		echo +memory >/sys/fs/cgroup/cgroup.subtree_control
	fi
	mkdir "$group" && echo 48M >"$group/$limit" || skip 'no control group with a memory limit'
	(refused 1 'control group leaves .* MiB, and at least .* MiB are needed; raise' \
		bash -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' - "$group" "$out/quartzd" --pid $$ -o profile)
	status=$?
	rmdir "$group"
	[ $status = 0 ] || exit $status
}

try 'no such process' no_process
try 'a time namespace' other_clocks
try 'a zombie' zombie
try 'a kernel thread' kernel_thread
try 'a thread instead of a process' thread_number
try 'a target given twice' twice
try 'rates out of range' rates
try 'rules on waiting procedures' spin_rules
try 'commands that cannot be run' commands
try 'the status of the command' statuses
try 'a missing directory for the snapshot' nowhere_to_save
try 'a full disk' disk_full
try 'what a file replaces' what_is_there
try 'a small limit of file sizes' small_files
try 'a small limit of processes of a control group' few_processes
try 'closed descriptors' closed_descriptors
try 'a small limit of open files' few_files
thorough 'a small limit of open files, and many programs' few_files_for_many
thorough 'no descriptors left' no_files_left
thorough 'a small limit of memory' little_memory
try 'little memory in its control group' little_memory_of_a_group
