# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# The text tables below /sys/fs/bpf/quartz. There is one such directory per machine: what is there
# from another program is left alone, and nothing is tested.
tables=/sys/fs/bpf/quartz

# What a test that fails leaves there would be in the way of its second try, and of all others.
alone()
{
	[ ! -e $tables ] || skip "$tables is in use"
	trap 'end_all; rm -rf $tables $tables-lock' EXIT
}

shown()
{
	local table i

	alone
	start_busy 2
	attach --pid "$busy"
	for ((i = 0; i < 40 * slow; i++)); do
		! grep -q phase_2 $tables/procedures 2>/dev/null || break
		sleep 0.5
	done
	for table in version parallelism threads procedures; do
		[ "$(stat -c '%a %u' $tables/$table)" = '440 0' ] ||
			fail "$table: $(stat -c '%a %u' $tables/$table)"
		cat $tables/$table >$table || fail "$table cannot be read"
		head -n 1 $table | grep -qE '^# heartbeat_age_ms [0-9]+$' ||
			fail "$table: no heartbeat" "$(head -n 1 $table)"
		sed -n 2p $table | grep -q '^# ' || fail "$table: no heading" "$(cat $table)"
		[ "$(wc -l <$table)" -ge 3 ] || fail "$table: nothing in it"
	done
	cat $tables/parallelism >before
	"$out/quartzctl" report --json >report.json || fail "report ended with status $?"
	cat $tables/parallelism >after
	agree
	awk -F '\t' -v busy="$busy" 'NR > 2 && $2 == busy { n++ } END { exit n != 2 }' threads ||
		fail 'not two threads' "$(cat threads)"
	awk -F '\t' 'NR > 2 && $6 == "phase_2" && $2 > 0 { n++ } END { exit n != 1 }' procedures ||
		fail 'phase_2 is not among the procedures' "$(cat procedures)"
	detach
	[ ! -e $tables ] || fail "$tables is still there"
}

# Levels only grow: the report's lie between those of two readings. A table lacks the interval that
# has not ended, which is at the level of the moment: that much more may be in the report.
agree()
{
	local name

	for name in before after; do
		sed -n 's/.*\t\([0-9,]*\)$/[\1]/p' $name | jq -c . >$name.json
	done
	expect 'the same levels as the report' '.scopes[0] as $s | $b[0] as $b | $a[0] as $a |
		all(range($b | length); ($s.level_ns[.] // 0) >= $b[.]) and
		($s.level_ns | sum) >= ($b | sum) and ($a | sum) <= ($s.elapsed_ns + 5e9 * $slow) and
		($a | length) >= ($s.level_ns | length)' \
		--slurpfile b before.json --slurpfile a after.json --argjson slow "$slow"
}

# After a crash they stay, tell their age, and are replaced by the next start.
stale()
{
	alone
	start_busy 1
	attach --pid "$busy"
	kill_now "$daemon"
	[ -e $tables/version ] || fail 'the tables went with quartzd'
	[ "$(text_tables_verdict)" = ok ] || fail 'doctor does not know of them' "$("$out/quartzctl" doctor)"
	sleep 0.2
	cat $tables/version >version
	attach --pid "$busy"
	! grep -q $tables quartzd.err || fail 'it complains'
	cat $tables/parallelism | grep -q "	$busy	" || fail 'not replaced'
	sleep 1
	detach
	[ ! -e $tables ] || fail "$tables is still there"
}

# The tables are the machine's: those of the first quartzd stay, also when the second one ends.
second()
{
	local first

	alone
	start_busy 1
	attach --pid "$busy"
	first=$daemon
	QUARTZ_RUNTIME_DIR=$T/run2 start other "$out/quartzd" --cpu none --output "$T/other" \
		--pid "$busy" --duration 300ms
	ended "$pid"
	[ "$status" = 0 ] || fail "the second one ended with status $status"
	grep -q "$tables: .*another quartzd has its text tables there" other.err ||
		fail 'it does not say so' "$(cat other.err)"
	cat $tables/parallelism | grep -q "	$busy	" || fail 'the tables are gone'
	daemon=$first
	detach
	[ ! -e $tables ] && [ ! -e $tables-lock ] || fail 'something was left'
}

# foreign COMMAND...: gives it to another user; quartzd says so in one line and runs all the same.
foreign()
{
	alone
	mkdir $tables
	"$@"
	start_busy 1
	attach --pid "$busy" --duration 300ms
	finished
	[ "$(grep -c $tables quartzd.err)" = 1 ] || fail 'not one line about it'
	[ -d $tables ] || fail 'the foreign directory was removed'
	lawful
}

# What quartzd that is attached has said, beside that it is.
told_once()
{
	[ "$(grep -c 'the kernel refused BPF program text_[a-z]* (iter/[a-z_]*): .*text tables' quartzd.err)" = 1 ] &&
		[ "$(wc -l <quartzd.err)" = 2 ] || fail 'not one line about it' "$(cat quartzd.err)"
	[ ! -e $tables ] && [ ! -e $tables-lock ] || fail 'something was left'
}

# A kernel that refuses them costs nothing else.
refused()
{
	alone
	"$out/quartzctl" doctor | grep '^warn  text_files .* iter/bpf_map_elem: [A-Z]' || fail 'doctor does not say it'
	start_busy 2
	attach --pid "$busy"
	told_once
	sleep 1
	"$out/quartzctl" report --json >live.json || fail "report ended with status $?"
	jq -e '.scopes[0].rows[0].total.samples > 0' live.json >jq.out || fail 'no samples' "$(cat live.json)"
	detach
	lawful
	serve
	told_once
	detach
	lawful
	launch "$programs/phases" --time 2:0.2
	lawful
	! grep text record.err || fail 'record has none anyway'
}

with_text_tables thorough 'text tables' shown
with_text_tables try 'text tables of a quartzd that was killed' stale
with_text_tables thorough 'text tables of two quartzds' second
with_text_tables try 'a directory that others can write to' foreign chmod 777 $tables
with_text_tables try 'a directory with something else in it' foreign mkdir $tables/theirs
lets_text_tables || try 'a kernel that refuses text tables' refused
