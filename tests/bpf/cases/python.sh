# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Functions of Python by name, without a flag of the interpreter: Debian's, which is stripped.

# What a function and all that it calls take, by its own thread's clock.
write_program()
{
	cat >work.py <<-'END'
		import sys, threading, time

		def spin(seconds, x=0):
		    end = time.thread_time() + seconds
		    while time.thread_time() < end:
		        for i in range(200):
		            x = (x * 31 + i) % 1000003
		    return x

		class Parser:
		    def parse(self, seconds):
		        return spin(seconds)

		def ordered(seconds):
		    end = time.thread_time() + seconds
		    data = [(i * 7919) % 10007 for i in range(20000)]
		    while time.thread_time() < end:
		        sorted(data, key=lambda v: -v)

		def descend(depth, seconds):
		    return descend(depth - 1, seconds) if depth else spin(seconds)

		def worker(lock, turns):
		    for i in range(turns):
		        with lock:
		            spin(0.004)

		def measured(name, call, *arguments):
		    before = time.thread_time()
		    call(*arguments)
		    print("truth", name, "cpu_ns", int((time.thread_time() - before) * 1e9), "elapsed_ns 0", flush=True)

		def main(parts):
		    if "serial" in parts:
		        measured("Parser.parse", Parser().parse, 0.6)
		        measured("ordered", ordered, 0.4)
		    if "deep" in parts:
		        measured("descend", descend, 400, 0.5)
		    if "lock" in parts:
		        lock = threading.Lock()
		        threads = [threading.Thread(target=worker, args=(lock, 40)) for _ in range(3)]
		        for t in threads: t.start()
		        for t in threads: t.join()
		    if "ever" in parts:
		        print("ready", flush=True)
		        while True:
		            Parser().parse(1)

		main(sys.argv[1:])
	END
}

# run PART...: that program, its profile as rows.json.
run()
{
	write_program
	launch /usr/bin/python3 work.py "$@"
	rows
}

rows()
{
	"$out/quartzctl" report --json -n 0 -i "$T/profile" >report.json 2>warnings || fail 'no report'
	jq '.scopes[0].rows' report.json >rows.json
}

# as_long FUNCTION: its total is the time that it took: the rest is chance.
as_long()
{
	local ns

	ns=$(truth "$1")
	jq -e --arg name "$1 (work.py)" --argjson truth "$ns" '
		[.[] | select(.name == $name and .module == "[python]")] | length == 1 and
		(.[0].total.cpu_ns - $truth | fabs) < 0.15 * $truth + 2e7' rows.json >/dev/null ||
		fail "$1 is not said to have taken $ns ns" "$(jq -c --arg n "$1" '.[] | select(.name | startswith($n)) | .total.cpu_ns' rows.json)"
}

has()
{
	jq -e --arg name "$1" 'any(.[]; .name == $name)' rows.json >/dev/null || fail "no row $1"
}

# The interpreter itself is no caller of anything: what it runs stands in its place.
no_interpreter()
{
	jq -e '[.[] | select(.name == "_PyEval_EvalFrameDefault") | .total.cpu_ns - .self.cpu_ns] | add // 0 < 2e7' rows.json >/dev/null ||
		fail 'the interpreter calls' "$(jq -c '.[] | select(.name | startswith("_PyEval_EvalF")) | .total' rows.json)"
}

serial()
{
	run serial
	as_long Parser.parse
	as_long ordered
	has '<module> (work.py)'
	has 'ordered.<locals>.<lambda> (work.py:18)'
	no_interpreter
	jq -e '.scopes[0] | .unresolved < 0.01 * .samples and .truncated < 0.01 * .samples' report.json >/dev/null ||
		fail 'stacks are not whole' "$(jq -c '.scopes[0] | [.samples, .unresolved, .truncated, .stack_ends]' report.json)"
}

threads()
{
	run lock
	has 'worker (work.py)'
	"$out/quartzctl" threads -i "$T/profile" >threads.out || fail 'no threads'
	grep -q ' 3  worker (work.py)' threads.out || fail 'the threads are not known by their function' "$(cat threads.out)"
	"$out/quartzctl" objects -i "$T/profile" >objects.out || fail 'no objects'
	grep -q 'semaphore in worker (work.py)' objects.out || fail 'the lock has another name' "$(cat objects.out)"
	# what threads do counts for who has started them
	jq -e '[.[] | select(.name == "main (work.py)" or .name == "worker (work.py)") | .total.cpu_ns] | min > 0.9 * max' rows.json >/dev/null ||
		fail 'main has not the work of its threads' "$(jq -c '.[] | select(.module == "[python]") | [.name, .total.cpu_ns]' rows.json)"
}

deep()
{
	run deep
	as_long descend
	has 'main (work.py)'
	has 'spin (work.py)'
}

attached()
{
	write_program
	start program /usr/bin/python3 work.py ever
	program=$pid
	await program.out ready
	attach --pid "$program"
	sleep 2
	detach
	kill_now "$program"
	rows
	has 'Parser.parse (work.py)'
	jq -e '[.[] | select(.name == "Parser.parse (work.py)") | .total.samples] | add > 0' rows.json >/dev/null || fail 'without samples'
}

# Where the time of a function is: in its inner loop, and of who calls it in the line of the call.
lines()
{
	write_program
	timeout --foreground 300 "$out/quartzctl" record --cpu none --lines -o "$T/profile" -- /usr/bin/python3 work.py serial \
		>program.out 2>record.err || fail 'no profile'
	"$out/quartzctl" annotate 'spin (work.py)' --json -i "$T/profile" >lines.json || fail 'no lines'
	jq -e '.scopes[0].lines as $lines | def samples(l): [$lines[] | select(l).self.samples] | add // 0;
		samples(.line == 6 or .line == 7) > 0.8 * samples(true) and samples(.line < 3 or .line > 8) == 0 and
		([$lines[] | select(.line == 7).text | test("1000003")] | all)' lines.json >/dev/null ||
		fail 'the time is elsewhere' "$(jq -c '.scopes[0].lines[] | [.line, .self.samples, .text]' lines.json)"
}

# A program that lies about its frames: its own stacks are wrong, and nothing else. quartzd ends well, and all samples are there.
lies()
{
	local how

	for how in circle names nowhere codes; do
		launch "$programs/python_liar" "$how" 0.5
		grep -q '^turns' program.out || fail "$how: the program has failed"
		rows
		jq -e '.scopes[0].samples > 0 and (.scopes[0].lost | add) == 0' report.json >/dev/null || fail "$how: samples are lost"
		has main
		[ "$(jq length rows.json)" -lt 100 ] || fail "$how: $(jq length rows.json) rows"
	done
	has 'liar (lie.py)'
}

try "Python: functions take as long as they say" serial
try "Python: threads and locks have the names of functions" threads
try "Python: the lines of a function" lines
try "Python: deep recursion keeps both ends" deep
try "Python: a process that runs already" attached
try "Python: a program that lies about its frames" lies
