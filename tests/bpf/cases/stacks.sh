# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Stacks of programs without frame pointers: whose they are, and what becomes of them when their tables
# are wrong.

# Others can map so much that the kernel's report of a library is lost.
lost='.ledger.events.mappings_lost > 0'

# Of what was sampled between the mapping of a library and its being taken in, it is known that it is in
# doubt (stale), and counted: that may be named after the other one, and nothing else.
own_time()
{
	expect "the time of $1.so, under its own name" "$lost or
		took(row(\$name).self.cpu_ns // 0; \$cpu; 0;
		     0.1 * \$cpu + (.scopes[0].stack_ends.stale // 0) * 1e9 / .rate_hz)" \
		--arg name "${1}_leaf" --argjson cpu "$(truth "${1}_work")"
}

# Two libraries in turn at one place: each has its own time, under its own names.
swapped()
{
	local library

	launch "$programs/dlopen_swap" 0.7
	grep -qx 'same place' program.out || skip 'the libraries were mapped at different places'
	lawful
	whole_stacks 0.75
	for library in first second; do
		own_time "$library"
		# less where the tables were not there again at once; more would be the other one's
		expect "the callers in $library.so" "$lost or (row(\$name).total.cpu_ns // 0) - ran + .scopes[0].cpu_ns <= 1.1 * \$cpu +
			(.scopes[0].stack_ends.stale // 0) * 1e9 / .rate_hz" \
			--arg name "${library}_work" --argjson cpu "$(truth "${library}_work")"
	done
}

# Where one library has its work, the other one has what never runs.
never_named()
{
	expect 'no sample has the name of what never ran' "$lost or
		all(.scopes[0].rows[]; (.name | IN(\"first_never\", \"second_never\") | not) or .self.samples == 0)"
}

# In turn every few milliseconds: each has its own name. Only of what the sampler has no tables yet, some is [replaced].
swapped_often()
{
	launch "$programs/dlopen_swap" "$1" "$2"
	grep -qx 'same place' program.out || skip 'the libraries were mapped at different places'
	lawful
	never_named
	expect 'nearly all samples have names' "$lost or (.scopes[0] |
		.unresolved <= 0.02 * .samples + (.stack_ends.not_ready // 0) + (.stack_ends.no_region // 0))"
}

# swapped_unseen LIBRARY: quartzd stands still from the mapping of a library on until the program has ended. Its mappings cannot
# be read then. The reports alone tell whose the samples are if there were tables of the first library; else nothing does.
swapped_unseen()
{
	local swap

	start swap bash -c 'kill -STOP $$; exec "$@"' - "$programs/dlopen_swap" 1 2
	swap=$pid
	await "/proc/$swap/status" 'State:.T'
	attach --pid "$swap"
	if [ "$1" = second ]; then
		kill -CONT "$swap"
		pid=$swap await "/proc/$swap/maps" first.so
		sleep 0.4
	fi
	kill -STOP "$daemon"
	kill -CONT "$swap"
	ended "$swap"
	kill -CONT "$daemon"
	finished
	grep -qx 'same place' swap.out || skip 'the libraries were mapped at different places'
	lawful
	never_named
	if [ "$1" = second ]; then
		expect 'what ran last has its name' "$lost or
			row(\"second_leaf\").self.samples > 0.5 * row(\"first_leaf\").self.samples"
	else
		expect 'what is not known is counted' "$lost or (.scopes[0].unresolved > 0 and
			(row(\"first_leaf\").self.samples // 0) == 0 and row(\"second_leaf\").self.samples > 0)"
	fi
}

# corrupt FILE HOW: damages the call frame information of an ELF file.
corrupt()
{
	python3 - "$1" "$2" <<-'END'
		import random, struct, sys
		path, how = sys.argv[1:]
		with open(path, "rb") as f:
		    data = bytearray(f.read())
		at, = struct.unpack_from("<Q", data, 40)
		size, n, names = struct.unpack_from("<HHH", data, 58)
		sections = [struct.unpack_from("<IIQQQQ", data, at + i * size) for i in range(n)]
		def name(s):
		    begin = sections[names][4] + s[0]
		    return data[begin:data.index(0, begin)].decode()
		s, = [s for s in sections if name(s) == ".eh_frame"]
		begin, end = s[4], s[4] + s[5]
		random.seed(1)
		if how == "zero":
		    data[begin:end] = bytes(end - begin)
		elif how == "ones":
		    data[begin:end] = b"\xff" * (end - begin)
		elif how == "random":
		    data[begin:end] = random.randbytes(end - begin)
		elif how == "bits":
		    for i in range(begin, end, 7):
		        data[i] ^= 1 << random.randrange(8)
		else:
		    # every entry claims to begin where the first one does and to go on for ever
		    for i in range(begin, end - 8, 4):
		        if struct.unpack_from("<I", data, i)[0] < 64:
		            struct.pack_into("<I", data, i + 8, 0)
		with open(path, "wb") as f:
		    f.write(data)
	END
}

# A library whose description lies is profiled all the same, by frame pointers or not at all; the time
# is right whatever the stacks are.
hostile()
{
	local library

	mkdir library
	cp "$programs/dlopen_swap" .
	for library in first second; do
		cp "$programs/library/$library.so" library
		corrupt "library/$library.so" "$1"
	done
	launch ./dlopen_swap 0.4
	lawful
	for library in first second; do
		own_time "$library"
	done
	expect 'the child that reads it was not killed' '.ledger.events.symbolizer_killed == 0'
	expect 'it says how each stack ended' '
		.scopes[0] as $s | ([$s.stack_ends[]] | sum) == $s.samples'
	expect 'stacks are cut and counted' '
		.scopes[0].stack_ends | del(.outermost, .guessed) | ([.[]] | sum) > 0'
}

# The program whose main and whose libc are described that way: it runs to its end.
hostile_program()
{
	cp "$programs/spin_cpu" spin
	corrupt spin "$1"
	launch ./spin 300
	lawful
	expect 'it says how each stack ended' '
		.scopes[0] as $s | ([$s.stack_ends[]] | sum) == $s.samples'
}

# created WORKER PROCEDURE...: what worker does is done on behalf of each of the procedures.
created()
{
	local worker=$1 procedure

	shift
	lawful
	main_is_all
	for procedure; do
		expect "$worker works on behalf of $procedure" '
			row($worker).total.cpu_ns as $cpu | $cpu > 0 and
			row($name).total.cpu_ns >= 0.99 * $cpu' --arg worker "$worker" --arg name "$procedure"
	done
}

libomp()
{
	command -v clang >/dev/null || skip 'no clang'
	clang -fopenmp -O1 -g -I "$here/../.." -o omp_work "$here/../programs/omp_work.c" 2>clang.err || {
		rm clang.err
		skip 'clang has no OpenMP here'
	}
	launch ./omp_work 0.3 2
	created .omp_outlined. compute
}

standard_threads()
{
	command -v g++ >/dev/null || skip 'no g++'
	g++ -O1 -g -o threads "$here/../programs/runtime/threads.cc" || fail 'does not compile'
	launch ./threads 0.4
	created 'worker(int, double)' 'create_threads(double)' 'hand_out(double)'
}

rust_threads()
{
	command -v rustc >/dev/null || skip 'no rustc'
	rustc -O -g -o threads "$here/../programs/runtime/threads.rs" || fail 'does not compile'
	launch ./threads 0.4
	created worker create_threads hand_out
}

# undescribed BEFORE BEHIND: a leaf that nothing describes, with these instructions before its loop and behind it. Its caller is
# guessed, if it is near, until a walk has come there, and then known by the code.
undescribed()
{
	cat >leaf.c <<-'END'
		void leaf(unsigned long turns);
		__asm__(".text\n"
			".balign 16\n"
			".globl leaf\n"
			".type leaf, @function\n"
			"leaf: " BEFORE "\n"
			"1: dec %rdi\n"
			"jnz 1b\n"
			BEHIND "\n"
			"ret\n"
			".size leaf, . - leaf\n");
		__attribute__((noinline)) void caller(void)
		{
			leaf(1000000);
			__asm__ volatile("");
		}
		int main(void)
		{
			for (int i = 0; i < 3000; i++)
				caller();
		}
	END
	gcc -O2 -DBEFORE="\"$1\"" -DBEHIND="\"$2\"" -o leaf leaf.c || fail 'does not compile'
	launch ./leaf
	lawful
	main_is_all
	expect 'the caller of the leaf' '
		row("leaf").total.cpu_ns as $cpu | $cpu > 0 and row("caller").total.cpu_ns >= 0.9 * $cpu'
	expect 'more than a guess' '.scopes[0] | .stack_ends.outermost > 0.25 * .samples'
}

# musl OPTION...: a C library without call frame information, in which threads begin and wait.
musl()
{
	command -v musl-gcc >/dev/null || skip 'there is no musl-gcc (musl-tools)'
	musl-gcc -std=gnu11 -O1 -g -pthread -I "$here/../.." -o nested "$@" "$here/../programs/nested_threads.c" \
		2>gcc.err || fail 'it cannot be built' "$(cat gcc.err)"
	launch ./nested 0.3
	created leaf_work main spawn_all create_mid mid create_leaf leaf
	expect 'stacks reach their beginnings' '.scopes[0] |
		.stack_ends.outermost >= 0.95 * (.samples - (.stack_ends.not_ready // 0))'
	expect 'what its threads wait for has whole stacks' '
		row("main").total.blocked_ns >= 0.95 * ([.scopes[0].threads[].blocked_ns] | sum)'
}

# Whole stacks of a recursion, in which each of two callers has its own time.
deep()
{
	local caller

	launch "$programs/deep" "$1" 0.4
	lawful
	main_is_all
	for caller in first second; do
		expect "the time of $caller" 'took(row($name).total.cpu_ns; $cpu; 0.1; 2e7)' --arg name $caller \
			--argjson cpu "$(truth $caller)"
	done
}

# Stacks that a program has made by itself begin where it began them.
coroutines()
{
	local name

	launch "$programs/coroutines" 0.3
	lawful
	whole_stacks
	for name in main_work made_work own_work main made_entry own_entry; do
		expect "the time of $name" 'took(row($name).total.cpu_ns; 3e8; 0.2; 0)' --arg name $name
	done
	expect 'the end has no caller' 'row("own_end") == null'
}

# names_by_server: those in the report, where a server is asked.
names_by_server()
{
	DEBUGINFOD_URLS=$server "$out/quartzctl" report -n 0 --flat -i profile --json 2>report.err |
		jq -r '.scopes[0].rows[].name' >names || fail "report ended with status $?"
}

# A program whose names a debuginfod server has alone: reports have them where they may ask it, also when it is gone, and not
# those of another build.
debuginfod()
{
	local id port server

	ldconfig -p | grep -q libdebuginfod.so.1 || skip 'there is no libdebuginfod (libdebuginfod1)'
	gcc -O1 -g -Wl,--build-id -o unnamed -x c - <<-'END' || fail 'does not compile'
		volatile long sink;
		static __attribute__((noipa)) void has_no_symbol(long n)
		{
			for (long i = 0; i < n; i++)
				sink += i;
		}
		int main(void)
		{
			for (int i = 0; i < 20; i++)
				has_no_symbol(5000000);
		}
	END
	id=$(readelf -n unnamed | awk '/Build ID/ { print $3 }')
	mkdir -p "files/buildid/$id"
	objcopy --only-keep-debug unnamed "files/buildid/$id/debuginfo"
	strip unnamed
	export DEBUGINFOD_CACHE_PATH=$T/kept DEBUGINFOD_VERBOSE=''
	start server python3 -u -m http.server --bind 127.0.0.1 --directory files 0
	await server.out 'Serving HTTP'
	port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' server.out)
	launch ./unnamed
	server='' names_by_server
	grep -q '^unnamed+0x' names || fail 'it has a name without a server' "$(cat names)"
	server=http://127.0.0.1:$port names_by_server
	grep -qx has_no_symbol names || fail 'its name is not asked for' "$(cat names report.err server.err)"
	[ "$(grep -c "GET /buildid/$id/debuginfo" server.err)" = 1 ] || fail 'it is asked for otherwise' "$(cat server.err)"
	server='' names_by_server
	! grep -qx has_no_symbol names || fail 'a name without a server'
	kill_now "$pid"
	server=http://127.0.0.1:$port names_by_server
	grep -qx has_no_symbol names || fail 'what was asked for is not kept'
	cp "$programs/deep" "kept/$id/debuginfo"
	server=http://127.0.0.1:$port names_by_server
	grep -q '^unnamed+0x' names || fail 'names of another build' "$(cat names)"
}

# inlined FILE: what outer inlines of inner has its name where that file is.
inlined()
{
	timeout --foreground 300 "$out/quartzctl" record --cpu none --inlines -o "$T/profile" -- ./split >program.out \
		2>record.err || fail 'it cannot be recorded' "$(cat record.err)"
	lawful
	expect "inner by $1" 'row("inner").self.cpu_ns >= 0.8 * .scopes[0].cpu_ns'
	expect 'and who inlines it' 'row("outer").total.cpu_ns >= row("inner").total.cpu_ns'
	! grep split record.err || fail 'something is missing' "$(cat record.err)"
}

# Names and what is inlined, where other files have it: one beside the object file, and a debug file that the program names.
described_elsewhere()
{
	gcc -O2 -g -gsplit-dwarf -c -o split.o -x c - <<-'END' || fail 'does not compile'
		volatile long sink;
		static inline __attribute__((always_inline)) void inner(long n)
		{
			for (long i = 0; i < n; i++)
				sink += i;
		}
		static __attribute__((noipa)) void outer(long n)
		{
			inner(n);
		}
		int main(void)
		{
			for (int i = 0; i < 100; i++)
				outer(3000000);
		}
	END
	gcc -Wl,--build-id=none -o split split.o
	inlined split.dwo
	objcopy --only-keep-debug split split.debug
	strip split
	objcopy --add-gnu-debuglink=split.debug split
	inlined split.debug
	mv split.debug away.debug
	launch ./split
	lawful
	expect 'no name without it' 'row("outer") == null'
	mv away.debug split.debug
	mv split.dwo away.dwo
	"$out/quartzctl" record --cpu none --inlines -o "$T/profile" -- ./split >program.out 2>record.err ||
		fail 'it cannot be recorded' "$(cat record.err)"
	grep -q 'split: its inlined procedures are in .*/split.dwo: No such file' record.err ||
		fail 'it does not say which file is missing' "$(cat record.err)"
	lawful
	expect 'the procedure alone' 'row("outer").self.cpu_ns >= 0.8 * .scopes[0].cpu_ns and row("inner") == null'
}

moved_names()
{
	lawful
	whole_stacks
	expect 'code has its names where it was moved' 'row("inner").self.cpu_ns >= 0.9 * .scopes[0].cpu_ns'
	expect 'and its callers' '
		cut as $cut | row("main").total.cpu_ns >= row("inner").total.cpu_ns - $cut and
		row("middle").total.cpu_ns >= row("inner").total.cpu_ns - $cut'
}

# Its text is in memory without a file, at the place where it was: moved there as it runs, or before it is looked at.
moved_text()
{
	local moved

	launch "$programs/moved_text" 0.4
	moved_names
	start moved "$programs/moved_text" 600
	moved=$pid
	await moved.out moved
	attach_to "$moved"
	sleep 0.5
	kill_now "$moved"
	finished
	moved_names
}

probes=quartz_test_$$ tracing=/sys/kernel/tracing

# The same where a probe has replaced each return address of the recursion, and the one of who calls it.
probed_returns()
{
	local procedure at begin address

	mountpoint -q $tracing || mount -t tracefs none $tracing 2>/dev/null
	[ -w $tracing/uprobe_events ] || skip 'this kernel has no uprobes'
	trap end_probes EXIT
	read -r begin address < <(readelf -lW "$programs/deep" | awk '$1 == "LOAD" && /R E/ { print $2, $3 }')
	for procedure in recurse first; do
		at=0x$(nm "$programs/deep" | awk -v name=$procedure '$3 == name { print $1 }')
		printf 'r:%s/%s %s:0x%x\n' $probes $procedure "$programs/deep" $((at - address + begin)) \
			>>$tracing/uprobe_events || fail "no probe of $procedure"
	done
	echo 1 >$tracing/events/$probes/enable
	deep 40
	awk -v name=recurse '$2 == name { hits += $3 } END { exit hits < 1 }' $tracing/uprobe_profile || fail 'no probe was hit'
}

end_probes()
{
	local procedure

	echo 0 >$tracing/events/$probes/enable
	for procedure in recurse first; do
		echo "-:$probes/$procedure" >>$tracing/uprobe_events
	done
	end_all
}

# As a Java virtual machine does.
late_map()
{
	launch "$programs/late_map" 1.5
	lawful
	rm -f "/tmp/perf-$(jq .scopes[0].pid report.json).map"
	expect 'code has the name that came when it had ended' '
		took(row("made_late").self.cpu_ns; .scopes[0].cpu_ns; 0.1; 5e7)'
	expect 'and is no longer without one' '.scopes[0] | .unresolved <= 0.1 * .samples'
}

# Each piece has run before quartzd knows of it; without that, nine of ten stacks ended there. Of a piece that quartzd has come to
# know meanwhile, one without a frame pointer loses its caller.
pieces()
{
	launch "$programs/pieces" 2000
	lawful
	expect 'code that has just been made is followed to its callers' '
		.scopes[0] as $s | ($s.stack_ends | [.no_region, .not_ready] | add) <= 0.2 * $s.samples and
		([$s.rows[] | select(.name == "[unknown]") | .self.cpu_ns] | add) as $made |
		$made > 0.4 * $s.cpu_ns and row("run_piece").total.cpu_ns >= 0.8 * $made and
		row("main").total.cpu_ns >= 0.8 * $made'
}

# map_of_last: the map of names that the last program has written.
map_of_last()
{
	lawful
	map=/tmp/perf-$(jq .scopes[0].pid report.json).map
}

# What a runtime was told to write by record goes when it was read; what another program has asked for stays.
written_maps()
{
	cp "$programs/late_map" node
	launch ./node 0.7
	grep -q 'NODE_OPTIONS has' record.err || fail 'it is not told to name its code' "$(cat record.err)"
	map_of_last
	expect 'code has its name' 'took(row("made_late").self.cpu_ns; .scopes[0].cpu_ns; 0.2; 5e7)'
	[ ! -e "$map" ] || fail "$map is still there"
	NODE_OPTIONS='--perf-basic-prof --interpreted-frames-native-stack' launch ./node 0.3
	map_of_last
	[ -f "$map" ] || fail 'the map is gone, which was asked for'
	rm -f "$map"
	launch "$programs/late_map" 0.3
	map_of_last
	[ -f "$map" ] || fail 'the map is gone of another program'
	rm -f "$map"
}

# As V8 does, in the directory of a user where root as any other could not: of the files there, its own of this run go.
written_logs()
{
	mkdir theirs
	cat >theirs/node <<-END
		#!/bin/sh
		for log in 0x1f 0x7f00; do echo of V8 >isolate-\$log-\$\$-v8.log; done
		touch -d '1 hour ago' isolate-0xa-\$\$-v8.log
		echo \$\$ >pid
		exec $programs/late_map 0.3
	END
	chmod a+x theirs/node
	cd theirs || return
	touch isolate-0x1f-1-v8.log isolate-0x1f-v8.log
	chown -R nobody .
	launch ./node
	cd .. || return
	set -- theirs/isolate-*
	[ "$*" = "theirs/isolate-0x1f-1-v8.log theirs/isolate-0x1f-v8.log theirs/isolate-0xa-$(cat theirs/pid)-v8.log" ] ||
		fail 'other logs are left' "$*"
}

# What divides work is another thing in each language; a program that a script starts has its own.
remedies()
{
	launch /usr/bin/python3 -c 'sum(i * i for i in range(8000000))'
	remedy 'processes (multiprocessing'
	launch /usr/bin/python3 -c "import os, sys; os.waitpid(os.posix_spawn(sys.argv[1], sys.argv[1:], {}), 0)" \
		"$programs/phases" --time 1:1
	remedy 'threads or processes, or let'
}

# remedy WORDS: of the finding about work that is done alone.
remedy()
{
	"$out/quartzctl" advise -i profile --json >advice.json || fail 'no advice'
	jq -e --arg words "$1" '.findings | any(.rule == "serial" and (.remedy | contains($words)))' advice.json \
		>jq.out || fail "no remedy '$1'" "$(jq -c .findings advice.json)"
}

# Each set of libraries has regions of its own, which come back a second later. When there is no room for those of
# the last set, they are made as soon as there is.
many_libraries()
{
	mkdir many
	for ((i = 1; i <= 3000; i++)); do
		cp "$programs/library/first.so" many/$i.so
	done
	launch "$programs/dlopen_many" many 3000 3
	lawful
	expect 'whole stacks come, and stay' '.scopes[0] | .stack_ends.outermost >= 0.4 * .samples'
}

# go_program NAME [OPTION]...: builds tests/programs/NAME.go; what it needs of Go's own packages is built once.
go_program()
{
	GO111MODULE=off GOFLAGS='' GOCACHE=${CACHE:-$T}/go go build "${@:2}" -o "$T/$1" "$here/../programs/$1.go" ||
		fail 'go build'
}

# Which thread runs a goroutine tells nothing: it is on behalf of no procedure that started that thread.
goroutines()
{
	go_program goroutines
	launch "$T/goroutines"
	lawful
	expect 'goroutines are below the process' 'row("runtime.goexit.abi0").total.cpu_ns >= 0.8 * .scopes[0].cpu_ns'
	expect 'and not below who started threads' '
		[.scopes[0].rows[] | select(.name == "runtime.clone.abi0").total.cpu_ns] | sum <= 0.1 * $all' \
		--argjson all "$(jq '.scopes[0].cpu_ns' report.json)"
	"$out/quartzctl" advise -i profile --json >advice.json || fail 'no advice'
	jq -e '[.findings[] | select(.rule == "imbalance")] == [] and
		(.findings[0] | .rule == "parked" and .subject.name == "main.worker" and
			(.remedy | test("goroutine")))' advice.json >jq.out ||
		fail 'another advice' "$(jq -c .findings advice.json)"
}

# Work of a goroutine is on behalf of who has started it, in a stripped program, too; of those before, if they are kept.
creators()
{
	local row

	go_program creators -ldflags='-s -w'
	launch "$T/creators"
	lawful
	for row in "main.load main.work 4e8" "main.handle main.work 3e8"; do
		set -- $row
		expect "goroutines of $1" '
			[.scopes[0].goroutines[] | select(.creator == $creator and .start == $start).total.cpu_ns] as $ns_of |
			($ns_of | length) == 1 and took($ns_of[0]; $ns; 0.1; 2e7)' --arg creator "$1" --arg start "$2" --argjson ns "$3"
		expect "$1 has their work" 'took(row($creator).total.cpu_ns; $ns; 0.1; 2e7)' \
			--arg creator "$1" --argjson ns "$3"
	done
	expect 'the first one has its own' '
		[.scopes[0].goroutines[] | select(.start == "runtime.main" and .creator == null).total.cpu_ns] as $ns_of |
		($ns_of | length) == 1 and took($ns_of[0]; 1e8; 0.2; 2e7)'
	expect 'stacks are whole' '.scopes[0] | .stack_ends.outermost >= 0.95 * .samples'
	"$out/quartzctl" threads -i profile >threads.out || fail 'no threads'
	grep -Eq 'main.work +main.handle$' threads.out || fail 'no goroutines are shown' "$(cat threads.out)"
	GODEBUG=tracebackancestors=10 launch "$T/creators"
	lawful
	expect 'main has all that was started for it' '
		row("main.main").total.cpu_ns >= row("main.load").total.cpu_ns + row("main.serve").total.cpu_ns and row("main.serve").total.cpu_ns > 0'
	expect 'serve has what handle has started' 'took(row("main.serve").total.cpu_ns; 3e8; 0.1; 2e7)'
}

# What is named of the kernel is a function that it has, and all is named.
kernel_names()
{
	awk '{ print $3 }' /proc/kallsyms | sort -u >names
	launch dd if=/dev/zero of=/dev/null bs=1M count=20000
	lawful
	# programs of BPF come and go
	jq -r '.scopes[0].rows[] | select(.module == "[kernel]").name' report.json | grep -v '^bpf_' | sort -u >named
	grep -qx do_syscall_64 named || fail 'the kernel has no names' "$(essence)"
	[ -z "$(comm -23 named names)" ] || fail 'not of the kernel' "$(comm -23 named names)"
}

thorough 'a library in place of another' swapped
try 'code that nothing describes' undescribed 'push %rbx; push %rbp; sub $40, %rsp; xor %ebp, %ebp' \
	'add $40, %rsp; pop %rbp; pop %rbx'
try 'code that nothing describes and that has realigned its stack' undescribed \
	'push %rbx; mov %rsp, %rbx; sub $30000, %rsp; and $-4096, %rsp' 'mov %rbx, %rsp; pop %rbx'
try 'a C library that nothing describes' musl
try 'a C library that nothing describes, linked in' musl -static
try 'recursion of five thousand' deep 5000
try 'recursion of thirty thousand' deep 30000
try 'probes at returns' probed_returns
try 'coroutines' coroutines
try 'text that was moved' moved_text
try 'names of a debuginfod server' debuginfod
try 'names of the kernel' kernel_names
try 'names and procedures that are described in other files' described_elsewhere
try 'libraries in place of each other, every few milliseconds' swapped_often 0.017 60
thorough 'libraries in place of each other, a few times a second' swapped_often 0.05 24
try 'libraries in place of each other, the second one unseen' swapped_unseen second
try 'libraries in place of each other, both unseen' swapped_unseen first
thorough 'call frame information of zeros' hostile zero
thorough 'call frame information of ones' hostile ones
thorough 'random call frame information' hostile random
thorough 'call frame information with wrong bits' hostile bits
thorough 'call frame information that overlaps' hostile overlap
thorough 'a program with random call frame information' hostile_program random
try 'threads of libomp' libomp
thorough 'threads of std::thread' standard_threads
thorough 'threads of Rust' rust_threads
thorough 'goroutines are of no thread' goroutines
thorough 'goroutines are on behalf of who has started them' creators
thorough 'more libraries than there are regions' many_libraries
try 'code that is run once, as soon as it is made' pieces
try 'a map of names that is written in the end' late_map
try "maps of names are removed" written_maps
try "logs that come with maps of names are removed" written_logs
try 'remedies speak the language of the program' remedies
