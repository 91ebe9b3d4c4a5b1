# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Methods of Ruby by name: Debian's, whose library is stripped.

# What a method and all that it calls take, by its own thread's clock.
write_program()
{
	cat >work.rb <<-'END'
		def now = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)

		def spin(seconds, x = 0)
		  till = now + seconds
		  while now < till
		    i = 0
		    while i < 500
		      x = (x * 31 + i) % 1000003
		      i += 1
		    end
		  end
		  x
		end

		class Parser
		  def parse(seconds) = spin(seconds)
		end

		def ordered(seconds)
		  data = (0...20000).map { |i| i * 7919 % 10007 }
		  till = now + seconds
		  data.sort_by { |v| -v } while now < till
		end

		def descend(depth, seconds) = depth > 0 ? descend(depth - 1, seconds) : spin(seconds)

		def worker(turns, lock)
		  turns.times { lock.synchronize { spin(0.004) } }
		end

		def measured(name)
		  before = now
		  yield
		  puts "truth #{name} cpu_ns #{((now - before) * 1e9).to_i} elapsed_ns 0"
		  $stdout.flush
		end

		def main(parts)
		  if parts.include? "serial"
		    measured("parse") { Parser.new.parse(0.6) }
		    measured("ordered") { ordered(0.4) }
		    measured("fiber") { Fiber.new { spin(0.3) }.resume }
		  end
		  measured("descend") { descend(400, 0.5) } if parts.include? "deep"
		  if parts.include? "threads"
		    lock = Mutex.new
		    3.times.map { Thread.new { worker(40, lock) } }.each(&:join)
		  end
		end

		main(ARGV)
	END
}

# run PART...: that program, its profile as rows.json.
run()
{
	write_program
	launch /usr/bin/ruby --disable-gems work.rb "$@"
	rows
}

rows()
{
	"$out/quartzctl" report --json -n 0 -i "$T/profile" >report.json 2>warnings || fail 'no report'
	jq '.scopes[0].rows' report.json >rows.json
}

# as_long METHOD [TRUTH]: its total is the time that it took: the rest is chance.
as_long()
{
	local ns

	ns=$(truth "${2-$1}")
	jq -e --arg name "$1 (work.rb" --argjson truth "$ns" '
		[.[] | select((.name | startswith($name)) and .module == "[ruby]")] | length == 1 and
		(.[0].total.cpu_ns - $truth | fabs) < 0.15 * $truth + 2e7' rows.json >/dev/null ||
		fail "$1 is not said to have taken $ns ns" "$(jq -c --arg n "$1" '.[] | select(.name | startswith($n)) | .total.cpu_ns' rows.json)"
}

has()
{
	jq -e --arg name "$1" 'any(.[]; .name == $name)' rows.json >/dev/null || fail "no row $1"
}

# What calls methods is no caller of anything: the methods stand in its place.
no_interpreter()
{
	jq -e '[.[] | select(.name == "rb_vm_exec" or .name == "vm_exec_core") | .total.cpu_ns - .self.cpu_ns] | add // 0 < 2e7' rows.json >/dev/null ||
		fail 'the interpreter calls' "$(jq -c '.[] | select(.name | test("vm_exec")) | .total' rows.json)"
}

serial()
{
	run serial
	as_long parse
	as_long ordered
	as_long 'block (2 levels) in main' fiber
	has '<main> (work.rb)'
	has 'block in ordered (work.rb:22)'
	no_interpreter
	jq -e '[.[] | select(.name == "spin (work.rb)")] | .[0].self.cpu_ns > 0.5 * .[0].total.cpu_ns' rows.json >/dev/null ||
		fail 'the time is elsewhere' "$(jq -c '.[] | select(.self.cpu_ns > 1e7) | [.name, .self.cpu_ns]' rows.json)"
	jq -e '.scopes[0] | .unresolved < 0.01 * .samples and .truncated - (.stack_ends.not_ready // 0) < 0.01 * .samples' report.json >/dev/null ||
		fail 'stacks are not whole' "$(jq -c '.scopes[0] | [.samples, .unresolved, .truncated, .stack_ends]' report.json)"
}

threads()
{
	run threads
	has 'worker (work.rb)'
	"$out/quartzctl" threads -i "$T/profile" >threads.out || fail 'no threads'
	grep -q ' 3  block (2 levels)' threads.out || fail 'the threads are not known by their block' "$(cat threads.out)"
	# what threads do counts for who has started them
	jq -e '[.[] | select(.name == "main (work.rb)" or .name == "worker (work.rb)") | .total.cpu_ns] | min > 0.9 * max' rows.json >/dev/null ||
		fail 'main has not the work of its threads' "$(jq -c '.[] | select(.module == "[ruby]") | [.name, .total.cpu_ns]' rows.json)"
}

deep()
{
	run deep
	as_long descend
	has 'main (work.rb)'
	has 'spin (work.rb)'
}

# A program that has what Ruby has, and one that lies: its own stacks are wrong, and nothing else.
lies()
{
	local how seconds=0.5

	for how in endless names nowhere codes plain; do
		[ "$how" != plain ] || seconds=2
		launch "$programs/ruby_liar" "$how" "$seconds"
		grep -q '^turns' program.out || fail "$how: the program has failed"
		rows
		jq -e '.scopes[0].samples > 0 and (.scopes[0].lost | add) == 0' report.json >/dev/null || fail "$how: samples are lost"
		has main
		[ "$(jq length rows.json)" -lt 100 ] || fail "$how: $(jq length rows.json) rows"
	done
	has '<main> (lie.rb)'
	has 'liar (lie.rb)'
	jq -e 'any(.[]; .name | test("vm_exec")) | not' rows.json >/dev/null || fail 'the interpreter is left' "$(jq -c '[.[].name]' rows.json)"
}

try "Ruby: methods take as long as they say" serial
try "Ruby: threads have the names of what they were started with" threads
try "Ruby: deep recursion keeps both ends" deep
try "Ruby: a program that lies about its frames" lies
