# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Unwind tables are kept for later runs, and a run is the same whatever becomes of them.

# What is kept: names, and the inodes, which change when one is written.
kept()
{
	find "$QUARTZ_CACHE_DIR" -type f -printf '%f %i\n' | sort
}

# run [OPTION...]: a program of Debian's, whose files are root's.
run()
{
	timeout --foreground 300 "$out/quartzctl" record --cpu none "$@" -o "$T/profile" -- \
		/usr/bin/sort --parallel=2 -S 1M "$T/lines" >program.out 2>record.err
	status=$?
	[ "$status" = 0 ] || fail "status $status" "$(cat record.err)"
	stacks_whole
}

# A wrong row would cut stacks.
stacks_whole()
{
	"$out/quartzctl" report -i "$T/profile" --json >report.json || fail 'no report'
	jq -e '.scopes[0].stack_ends | add > 0 and .outermost >= add / 2' report.json >/dev/null ||
		fail 'stacks are cut' "$(jq -c '.scopes[0].stack_ends' report.json)"
}

prepare()
{
	own_cache
	seq 200000 | sort -R --random-source=/usr/bin/sort >"$T/lines"
}

# said WORDS N: that many lines of the messages have them.
said()
{
	[ "$(grep -c -e "$1" record.err)" = "$2" ] || fail "not $2 times: $1" "$(cat record.err)"
}

second_run()
{
	prepare
	run
	[ "$(stat -c %a "$QUARTZ_CACHE_DIR")" = 700 ] || fail 'others may look'
	kept >first
	[ "$(wc -l <first)" -ge 3 ] || fail 'few tables are kept' "$(cat first)"
	run
	kept >second
	# of code that nothing describes some may be met for the first time
	[ -z "$(comm -23 first second)" ] || fail 'tables were made again' "$(comm -23 first second)"
	rm -r "$QUARTZ_CACHE_DIR"
	run --cache-size 0
	[ ! -e "$QUARTZ_CACHE_DIR" ] || fail 'tables are kept nevertheless'
	said 'unwind tables' 0
}

eight()
{
	local i pids=()

	prepare
	for i in {1..8}; do
		(
			mkdir "$T/$i"
			T=$T/$i
			cp "$T/../lines" "$T/lines"
			cd "$T" && run && said 'unwind tables' 0
		) >"$i.out" 2>&1 &
		pids+=($!)
	done
	for i in "${!pids[@]}"; do
		wait "${pids[$i]}" || fail "one of eight" "$(cat $((i + 1)).out)"
	done
	! find "$QUARTZ_CACHE_DIR" -name '*.part' | grep . || fail 'parts are left'
	kept | grep -q . || fail 'nothing is kept'
}

unmount()
{
	umount -l "$QUARTZ_CACHE_DIR" 2>/dev/null
	end_all
}

full_disk()
{
	prepare
	mkdir -m 700 "$QUARTZ_CACHE_DIR"
	mount -t tmpfs -o size=16k,mode=700 none "$QUARTZ_CACHE_DIR" || skip 'no file system can be mounted'
	trap unmount EXIT
	head -c 16384 /dev/zero >"$QUARTZ_CACHE_DIR/full" 2>/dev/null
	run
	said 'unwind tables cannot be kept there: No space left on device' 1
	QUARTZ_DOCTOR_ROOT='' "$out/quartzctl" doctor >doctor.out
	grep -q '^warn  unwind_cache .*full' doctor.out || fail 'doctor does not say it' "$(cat doctor.out)"
	[ "$(ls "$QUARTZ_CACHE_DIR")" = full ] || fail 'parts are left' "$(ls "$QUARTZ_CACHE_DIR")"
}

read_only()
{
	prepare
	mkdir -m 700 "$QUARTZ_CACHE_DIR"
	mount -t tmpfs -o ro,mode=700 none "$QUARTZ_CACHE_DIR" || skip 'no file system can be mounted'
	trap unmount EXIT
	run
	said 'unwind tables cannot be kept there: Read-only file system' 1
	"$out/quartzctl" doctor >doctor.out
	grep -q '^warn  unwind_cache .*read-only' doctor.out || fail 'doctor does not say it' "$(cat doctor.out)"
	umount "$QUARTZ_CACHE_DIR"
	chmod 777 "$QUARTZ_CACHE_DIR"
	run
	said "it must be root's own, where root alone can write" 1
	"$out/quartzctl" doctor >doctor.out
	grep -q '^warn  unwind_cache .*others' doctor.out || fail 'doctor does not say it' "$(cat doctor.out)"
}

# At ten moments of the time in which tables are made and written.
killed()
{
	local i

	prepare
	for i in {1..10}; do
		start quartzd "$out/quartzd" --private --cpu none -o "$T/profile" -- /usr/bin/sort "$T/lines"
		while [ "$(find "$QUARTZ_CACHE_DIR" -type f 2>/dev/null | wc -l)" -lt $((i % 4)) ] &&
			kill -0 "$pid" 2>/dev/null; do
			:
		done
		kill_now "$pid"
	done 2>/dev/null
	run
	said damaged 0
	kept | grep -q . || fail 'nothing is kept'
}

# A byte of each file, at N bytes from its beginning.
change_all()
{
	local f

	for f in "$QUARTZ_CACHE_DIR"/*; do
		printf '\125' | dd of="$f" bs=1 seek="$1" conv=notrunc status=none
	done
}

# name_of IMAGE: of the file that is kept of it.
name_of()
{
	printf '%x-%x' "$(stat -L -c %d "$1")" "$(stat -L -c %i "$1")"
}

# What the program is walked by is kept as it was.
mended()
{
	local image

	for image in /usr/bin/sort /lib/x86_64-linux-gnu/libc.so.6; do
		cmp "good/$(name_of "$image")" "$QUARTZ_CACHE_DIR/$(name_of "$image")" ||
			fail "what is kept of $image is another"
	done
}

damaged()
{
	prepare
	run
	cp -r "$QUARTZ_CACHE_DIR" good
	mended
	change_all 12 # the version
	run
	said damaged 0
	mended
	change_all 700 # rows
	run
	said damaged 1
	mended
	cp good/* "$QUARTZ_CACHE_DIR"
	run
	said damaged 0
}

# A user's program is not kept, and does not keep root's from being kept.
of_users()
{
	prepare
	cp /usr/bin/sort "$T/sort"
	chown nobody "$T/sort"
	timeout --foreground 300 "$out/quartzctl" record --cpu none -o "$T/profile" -- "$T/sort" "$T/lines" \
		>program.out 2>record.err || fail "status $?" "$(cat record.err)"
	[ ! -e "$QUARTZ_CACHE_DIR/$(name_of "$T/sort")" ] || fail "a user's program is kept"
	[ -e "$QUARTZ_CACHE_DIR/$(name_of /lib/x86_64-linux-gnu/libc.so.6)" ] ||
		fail 'the C library is not kept' "$(kept)"
}

# What the kernel has loaded of a quartzd, which runs until that was read: sums of instructions, names aside.
loaded()
{
	rm -f seen
	start quartzd "$out/quartzd" --private --cpu none -o "$T/profile" "$@" -- \
		sh -c 'echo runs; until [ -e seen ]; do sleep 0.1; done'
	await quartzd.out runs
	# a descriptor may be closed meanwhile
	cat /proc/"$pid"/fdinfo/* 2>/dev/null | sed -n 's/^prog_tag:[^0-9a-f]*//p' | sort -u
	touch seen
	wait "$pid"
}

# Where the types of the kernel that programs need are from, the programs are the same.
types()
{
	own_cache
	mkdir -m 700 "$QUARTZ_CACHE_DIR"
	loaded --verbose >libbpf
	loaded --cache-size 0 >made
	loaded >keeps
	find "$QUARTZ_CACHE_DIR" -name 'types-*' | grep . || fail 'no types are kept'
	loaded >kept
	change_all 100
	loaded >damaged
	[ "$(wc -l <libbpf)" -ge 10 ] || fail 'few programs are loaded' "$(cat libbpf)"
	for f in made keeps kept damaged; do
		cmp libbpf $f || fail "other programs: $f" "$(diff libbpf $f)"
	done
}

try 'a second run makes no tables again' second_run
try 'programs are the same, wherever the types are from' types
try 'eight runs at once keep tables in one place' eight
try 'tables without room for them' full_disk
try 'tables where nothing can be written' read_only
try 'quartzd is killed while tables are kept' killed
try 'tables of another version, and damaged ones' damaged
try 'no tables of what users may change' of_users
