# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2015,SC2016
# What quartzd may do after its start, what its helpers may, and what becomes of others if one ends.

sys_ptrace=19 dac_read_search=2 checkpoint_restore=40 kill=5 setgid=6 setuid=7 setpcap=8 bpf=39 perfmon=38
sys_admin=21

# mask CAPABILITY...: as /proc shows those of them that we have.
mask()
{
	local cap set=0 own

	own=$((16#$(sed -n 's/^CapBnd:\t//p' /proc/self/status)))
	for cap in "$@"; do
		set=$((set | 1 << cap))
	done
	printf '%016x' $((set & own))
}

# has PID MASK: these and no others, in all sets, for good, and a filter; of each thread.
has()
{
	local task key

	for task in "/proc/$1/task/"*; do
		for key in CapPrm CapEff CapBnd; do
			grep -q "^$key:.$2\$" "$task/status" ||
				fail "$key of $(cat "$task/comm") is not $2" "$(grep Cap "$task/status")"
		done
		grep -q '^CapInh:.0*$' "$task/status" && grep -q '^CapAmb:.0*$' "$task/status" ||
			fail "$(cat "$task/comm") can pass on what it has" "$(grep Cap "$task/status")"
		grep -q '^NoNewPrivs:.1$' "$task/status" && grep -q '^Seccomp:.2$' "$task/status" ||
			fail "$(cat "$task/comm") is not confined" "$(cat "$task/status")"
	done
}

# helpers NAME: the processes of that name that belong to $daemon.
helpers()
{
	local keeper

	keeper=$(pgrep -P "$daemon" -x quartzd-keeper)
	if [ "$1" = quartzd-keeper ]; then
		echo "$keeper"
	else
		pgrep -P "$keeper" -x "$1"
	fi
}

# until COMMAND: it may take as long as it takes.
until_so()
{
	local i

	for ((i = 0; i < 1200; i++)); do
		! "$@" || return 0
		sleep 0.05
	done
	fail "not so after a minute: $*"
}

# named PROCEDURE [OPTION]...: it has samples in what is measured now.
named()
{
	"$out/quartzctl" report --json "${@:2}" >live.json 2>live.err &&
		jq -e --arg name "$1" 'any(.scopes[].rows[]; .name == $name and .self.samples > 0)' \
			live.json >/dev/null
}

some()
{
	[ -n "$(helpers "$1")" ]
}

confined()
{
	local pid events=() opener=("$sys_ptrace" "$dac_read_search" "$checkpoint_restore")

	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] || events=("$sys_admin")

	for pid in $(helpers quartzd-keeper); do
		has "$pid" "$(mask "${opener[@]}" $kill $setgid $setuid $setpcap "${events[@]}")"
	done
	for pid in $(helpers quartzd-opener) $(helpers quartzd-waker); do
		has "$pid" "$(mask "${opener[@]}")"
	done
	for pid in $(helpers quartz-symboliz); do
		has "$pid" "$(mask)"
		! grep -q '^Uid:.0' "/proc/$pid/status" || fail 'the symbolizer is root'
	done
}

capabilities()
{
	start_busy 1
	attach --system
	until_so some quartzd-opener
	until_so some quartzd-waker
	until_so some quartz-symboliz
	has "$daemon" "$(mask $bpf $perfmon)"
	confined
	[ "$(awk '/^Groups:/ { print NF - 1 }' "/proc/$daemon/status")" -le 1 ] ||
		fail 'it is in groups'
	detach TERM
}

of_a_command()
{
	record bash -c '
		grep -E "^(Cap|NoNew|Secc|Groups)" /proc/self/status >inside
		daemon=$PPID; grep -E "^Cap(Eff|Prm|Bnd)" "/proc/$daemon/status" >outside'
	[ "$status" = 0 ] || fail "record ended with status $status"
	grep -E '^(Cap|NoNew|Secc|Groups)' /proc/self/status | diff - inside >&2 ||
		fail 'the command has not what its caller has'
	[ "$(sort -u outside | cut -f 2 | uniq)" = "$(mask $bpf $perfmon $kill)" ] ||
		fail 'quartzd has not what is documented' "$(cat outside)"
}

# In a directory where only the user nobody may write, which it can at its end as well.
saved_for_others()
{
	mkdir theirs
	chown nobody theirs
	chmod 700 theirs
	"$out/quartzctl" record --cpu none -o theirs/profile -- "$programs/phases" --time 1:0.2 \
		>program.out 2>record.err || fail "record ended with status $?"
	[ -s theirs/profile ] || fail 'nothing was saved'
}

# as_nobody COMMAND...: as another user, below a directory that only that user can enter.
as_nobody()
{
	chmod 711 "$T"
	mkdir -p home
	chown nobody home
	chmod 700 home
	start theirs env TMPDIR="$T/home" setpriv --reuid nobody --regid nogroup --clear-groups "$@"
}

others_names()
{
	as_nobody "$programs/deleted_exe" 600
	until_so grep -q deleted "/proc/$pid/maps"
	attach --pid "$pid"
	until_so named compute_deleted
	detach
}

# Unreadable for all but its user, where it is no longer deleted.
others_secrets()
{
	cp "$programs/phases" secret
	chown nobody secret
	chmod 500 secret
	as_nobody "$T/secret" --time 1:600
	attach --pid "$pid"
	until_so named phase_1
	detach
}

unmount()
{
	umount -l "$T/fuse" 2>/dev/null
	end_all
}

sampled_too()
{
	named phase_1 --scope all && jq -e '.scopes[1].samples > 0' live.json >/dev/null
}

stuck_file()
{
	local stuck

	[ -e /dev/fuse ] || skip 'no /dev/fuse'
	start_busy 1
	mkdir fuse
	trap unmount EXIT
	start fuse "$here/fuse_stuck.py" "$programs/phases" "$T/fuse"
	await fuse.out mounted
	start stuck "$T/fuse/program" --time 2:600
	stuck=$pid
	await_threads "$stuck" 2
	attach --pid "$busy" --pid "$stuck"
	await quartzd.err 'took too long to open it'
	grep -qE ': (file [0-9]+ of device [0-9:]+|process [0-9]+): the kernel took' quartzd.err ||
		fail 'not by its number alone'
	grep -q 'asked by quartzd' fuse.out || fail 'it was never asked for'
	"$out/quartzctl" status --json >status.json || fail 'no status'
	jq -e '.openers_late > 0' status.json >/dev/null || fail 'it is not counted' "$(cat status.json)"
	until_so sampled_too
	! named phase_2 --scope all || fail 'it has names'
	detach
}

# made KIND: a process with code that it made itself; adds its number and kind to made.txt.
made()
{
	start "made_$1" "$here/jit.py" "$1"
	echo "$pid $1" >>made.txt
	await "made_$1.out" ready
}

# names_of_made_code KIND...: what these say of such code, where it may be believed: each at the same time, so that
# there was time enough to read the others', too.
names_of_made_code()
{
	local kind targets

	for kind in "$@"; do
		made "$kind"
	done
	mapfile -t targets < <(sed 's/ .*//; s/^/--pid=/' made.txt)
	attach "${targets[@]}" --duration $((1 + ($# + 1) / 2))s
	finished
	sed 's/ .*//; s|.*|/tmp/perf-&.map /tmp/perf-&.map.second|' made.txt | xargs rm -f
	lawful
	expect 'who may be believed has the name, and no other' '
		([$made | split("\n")[] / " " | {key: .[0], value: .[1]}] | from_entries) as $kinds |
		(.scopes | length) == ($kinds | length) and all(.scopes[]; .samples > 0 and
			if $kinds["\(.pid)"] | IN("own", "public", "memfd", "file", "shared") then
				any(.rows[]; .name == "made_up" and .self.samples > 0)
			else
				all(.rows[]; .name != "made_up")
			end)' --arg made "$(cat made.txt)"
}

# made_later KIND FIRST SECOND: while it is measured, the code's name changes from FIRST to SECOND.
made_later()
{
	local map

	made "$1"
	map=/tmp/perf-$pid.map
	attach --pid "$pid"
	until_so named "$2"
	touch go
	until_so named "$3"
	detach
	rm "$map"
}

# Where nothing of this machine's numbers, names, users and clocks holds, and the program is on no path of it.
in_namespaces()
{
	local inside

	mkdir hidden
	# shellcheck disable=SC2016
	start inside unshare --user --map-root-user --mount --pid --fork --kill-child \
		--time --boottime 1000000 --monotonic 1000000 sh -c '
			mount -t tmpfs hidden hidden && cp "$1" hidden && exec hidden/phases --time 2:600' - \
			"$programs/phases"
	until inside=$(pgrep -P "$pid") && [ "$(cat "/proc/$inside/comm")" = phases ]; do sleep 0.05; done
	await_threads "$inside" 2
	attach --pid "$inside" --duration 2s
	finished
	lawful
	expect 'its procedures have names' 'row("phase_2").self.samples > 0'
	expect 'its number is the one of this machine' '.scopes[0].pid == $inside' --argjson inside "$inside"
}

opener_killed()
{
	local killed

	cp "$programs/phases" later
	attach --system
	until_so some quartzd-opener
	killed=$(helpers quartzd-opener)
	# shellcheck disable=SC2086
	kill -KILL $killed
	start later ./later --time 1:600
	later=$pid
	pid=$daemon
	await quartzd.err 'another one takes its place'
	until_so named phase_1 --scope "pid=$later"
	detach
}

keeper_killed()
{
	start_busy 1
	attach --pid "$busy"
	kill -KILL "$(helpers quartzd-keeper)"
	ended "$daemon"
	[ "$status" = 1 ] || fail "status $status, not 1"
	grep -q "keeps quartzd's privileges has ended" quartzd.err || fail 'no line about it'
	[ -s profile ] || fail 'nothing was saved'
}

# Stopped, so that no opener takes the place of those that have ended: it is said, and made good when it goes on.
keeper_stopped()
{
	local keeper

	cp "$programs/phases" later
	attach --system
	until_so some quartzd-opener
	keeper=$(helpers quartzd-keeper)
	kill -STOP "$keeper"
	# shellcheck disable=SC2046
	kill -KILL $(helpers quartzd-opener)
	start later ./later --time 1:600
	later=$pid
	pid=$daemon
	await quartzd.err 'keeper does not answer'
	until_so answering false
	kill -CONT "$keeper"
	await quartzd.err 'answers again'
	until_so answering true
	until_so named phase_1 --scope "pid=$later"
	kill -STOP "$keeper"
	detach TERM
	[ -s profile ] || fail 'nothing was saved'
	until_so gone_all "$keeper"
}

# answering BOOLEAN: what the status says of the keeper.
answering()
{
	"$out/quartzctl" status --json >status.json 2>status.err &&
		jq -e ".keeper_late != $1" status.json >/dev/null &&
		"$out/quartzctl" status >status.text &&
		[ "$(grep -c 'does not answer' status.text)" = "$([ "$1" = true ] && echo 0 || echo 1)" ]
}

# Ended again and again, also while they read: what is new has no names meanwhile, which is said, but has them then.
symbolizers_killed()
{
	local killer keeper

	own_cache
	cp "$programs/phases" later
	start later bash -c 'until [ -e go ]; do sleep 0.1; done; exec ./later --time 1:600'
	attach --pid "$pid"
	until_so some quartz-symboliz
	keeper=$(helpers quartzd-keeper)
	(
		while :; do
			pkill -KILL -P "$keeper" -x quartz-symboliz
			sleep 0.1
		done
	) &
	killer=$!
	started+=("$killer")
	touch go
	await quartzd.err 'quartz-symbolizer .*tried again later'
	until_so counted_ends 3
	kill_now "$killer"
	until_so named phase_1
	detach
}

counted_ends()
{
	"$out/quartzctl" status --json >status.json 2>status.err &&
		jq -e ".symbolizers_ended >= $1" status.json >/dev/null
}

gone_all()
{
	local pid

	for pid in "$@"; do
		[ ! -e "/proc/$pid" ] || grep -q '^State:.Z' "/proc/$pid/status" || return 1
	done
}

nothing_left()
{
	local left

	start_busy 1
	attach --pid "$busy"
	until_so some quartzd-opener
	until_so some quartz-symboliz
	left="$(helpers quartzd-keeper) $(helpers quartzd-opener) $(helpers quartzd-waker)
		$(helpers quartz-symboliz)"
	kill_now "$daemon"
	# shellcheck disable=SC2086
	until_so gone_all $left
}

try 'capabilities of a service' capabilities
try 'a command keeps what it has' of_a_command
try 'a snapshot in a directory of another user' saved_for_others
try 'a deleted program of another user' others_names
thorough 'a program that only its user may read' others_secrets
thorough 'a file that never answers' stuck_file
try 'a map of code that root made for everybody' names_of_made_code public
try 'a map of code in shared memory' names_of_made_code memfd file shared
try 'a map that comes later' made_later late '[unknown]' made_up
try 'code in place of other code, by its map' made_later again made_up made_again
thorough 'maps of code that was made, most of them not to be believed' \
	names_of_made_code own pipe link second others roots
thorough 'a program in namespaces of its own' in_namespaces
try 'kill -9 of an opener' opener_killed
try 'kill -9 of the keeper' keeper_killed
thorough 'a keeper that is stopped' keeper_stopped
thorough 'symbolizers that are killed all the time' symbolizers_killed
try 'kill -9 of quartzd leaves no process' nothing_left
