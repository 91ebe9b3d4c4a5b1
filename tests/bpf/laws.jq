# SPDX-License-Identifier: GPL-2.0-only
# The laws that every profile obeys, whatever was profiled and however busy the machine is. Input: a
# report; $meta is the metadata of its snapshot, $unaccounted the share of samples that may be missing
# without a cause, $stops how many of them by stops of the machine, $events_lost whether records of
# threads may be missing, $thread_clock the share by which the kernel's account of a thread may be wrong
# to the good of another, $left_out the ns that it may leave out, or have too much, $stolen the ns that interrupts and the
# host took from all processors. Output:
# one line for each law that is broken.

def sum: add // 0;
def near($a; $b; $share; $ns): ($a - $b | fabs) <= ([$share * ($b | fabs), $ns] | max);
def levels_cpu: [.level_ns | to_entries[] | .key * .value] | sum;
def law($name; $holds; $figures): if $holds then empty else "broken: \($name): \($figures)" end;

def thread_laws($unit):
	(.running_ns + .ready_ns + .blocked_ns + .unknown_ns) as $sum |
	(.end_ns - .start_ns) as $lifetime |
	law("running + ready + blocked + unknown = lifetime"; .merged or near($sum; $lifetime; 0.001; 1e6);
	    "\($sum) \($lifetime)", {tid, comm, running_ns, ready_ns, blocked_ns, unknown_ns} | tojson);

def account_law($unit):
	# The kernel's account of who comes begins when it reads the clock, before it looks for who is to run: that took
	# 51 us a switch on a busy machine with two processors.
	law("a thread's processor time = its time running, but for interrupts";
	    .cpu_ns <= .running_ns + ([$thread_clock * .running_ns, $unit] | max) + 1e5 * (.waits // 0) and
	    .cpu_ns >= (0.91 - $thread_clock) * .running_ns - $unit;
	    {tid, comm, cpu_ns, running_ns, unknown_ns} | tojson);

# Processes that were refused run on the machine, and are not among its threads.
def scope_laws($unit; $lossy; $refused):
	([.rows[].self.norm_ns] | sum) as $norm |
	([.rows[].self.cpu_ns] | sum) as $cpu |
	(levels_cpu - $cpu - .instrumentation_cpu_ns) as $rest |
	law("levels = elapsed"; (.level_ns | sum) == .elapsed_ns;
	    "\(.level_ns | sum) \(.elapsed_ns)"),
	law("effective levels = elapsed"; (.effective_ns | sum) == .elapsed_ns;
	    "\(.effective_ns | sum) \(.elapsed_ns)"),
	law("busy = effective levels from 1 on"; (.effective_ns[1:] | sum) == .busy_ns;
	    "\(.effective_ns) \(.busy_ns)"),
	law("idle and serial = effective levels 0 and 1"; .effective_ns[:2] == [.idle_ns, .serial_ns];
	    "\(.effective_ns) \(.idle_ns) \(.serial_ns)"),
	law("effective levels are the exact ones where nobody spins";
	    .spin_ns > 0 or .effective_ns == .level_ns; "\(.effective_ns) \(.level_ns)"),
	law("spun = self spun of all"; ([.rows[].self.spin_ns] | sum) <= .spin_ns and
	    .spin_ns <= levels_cpu and all(.rows[].self; .spin_ns <= .cpu_ns);
	    "\([.rows[].self.spin_ns] | sum) \(.spin_ns) \(levels_cpu)"),
	law("no more spun on objects than spun";
	    ([.rows[] | select(.kind == "object").spin_ns] | sum) <= .spin_ns;
	    "\([.rows[] | select(.kind == "object") | {name, spin_ns}]) \(.spin_ns)"),
	law("self norm + unattributed + instrumentation = busy";
	    $norm + .unattributed_ns + .instrumentation_ns == .busy_ns;
	    "\($norm) \(.unattributed_ns) \(.instrumentation_ns) \(.busy_ns)"),
	# what only spinning processors have seen is unattributed, and their processor time is not
	law("self cpu + instrumentation = sum of n * level n, but for the unattributed";
	    if .unattributed_ns == 0 then $rest == 0
	    elif .spin_ns == 0 then $rest >= .unattributed_ns
	    else $rest >= 0 end;
	    "\($cpu) \(.instrumentation_cpu_ns) \(levels_cpu) \(.unattributed_ns)"),
	law("no more normalized time than processor time in libquartz";
	    .instrumentation_ns <= .instrumentation_cpu_ns;
	    "\(.instrumentation_ns) \(.instrumentation_cpu_ns)"),
	law("processor time = that of all threads"; $lossy or .cpu_ns == ([.threads[].cpu_ns] | sum);
	    "\(.cpu_ns) \([.threads[].cpu_ns] | sum)"),
	law("time runnable = that of all threads";
	    $lossy or .runnable_ns == ([.threads[] | .running_ns + .ready_ns] | sum);
	    "\(.runnable_ns) \([.threads[] | .running_ns + .ready_ns] | sum)"),
	law("blocked time of all waits = that of all threads";
	    $lossy or ([.causes[].blocked_ns] | sum) == ([.threads[].blocked_ns] | sum);
	    "\([.causes[].blocked_ns] | sum) \([.threads[].blocked_ns] | sum)"),
	law("ready time of all waits = that of all threads";
	    $lossy or ([.causes[].ready_ns] | sum) == ([.threads[].ready_ns] | sum);
	    "\([.causes[].ready_ns] | sum) \([.threads[].ready_ns] | sum)"),
	law("sum of n * level n = time running of all threads";
	    $lossy or (.kind == "machine" and $refused > 0) or
		near(levels_cpu; [.threads[].running_ns] | sum; 0.01; $unit);
	    "\(levels_cpu) \([.threads[].running_ns] | sum)"),
	law("never fewer idle than running nothing"; .idle_ns >= .level_ns[0]; "\(.idle_ns) \(.level_ns)"),
	law("never more busy than there were threads"; (.level_ns[.threads_seen + 1:] | sum) == 0;
	    "\(.threads_seen) threads, \(.level_ns)"),
	law("each thread has a row"; $lossy or (.threads | length) == .threads_seen or any(.threads[]; .merged);
	    "\(.comm) \(.pid): \(.threads_seen) threads, \(.threads | length) rows", (.threads[:3] | tojson));

# The kernel's account of a thread begins and ends inside of a switch, ours where the tracepoint is:
# a host that stops the machine in between makes them differ, by that long. It takes off interrupts
# and what the host took. An unseen switch can hide what is between two samples, which is 3.5 periods at most, since each of
# four timers has its own.
(.ledger.events.implicit_switches * 3.5e9 / .rate_hz) as $gaps |
(2e7 + $left_out + $stolen + $gaps) as $unit |
($events_lost and (.ledger.events |
	.events_lost + .mappings_lost + .reports_dropped + .waits_lost + .threads_unnumbered > 0)) as $lossy |
(.ledger.events | .scopes_refused + .threads_refused) as $refused |
# A processor that the host has taken away is not sampled, and its sampler is running all the same.
($stolen * .rate_hz / 1e9) as $stolen_samples |
(.scopes | map(select(.kind != "machine"))) as $own |
# Of what others ran in slices much shorter than a period many samples can be missing: of one due while a processor
# switches to its idle task, with interrupts off, the idle task is seen.
([.ledger.expected - ([$own[] | levels_cpu] | sum) * .rate_hz / 1e9, 0] | max) as $others |
(.ledger | law("expected = accepted + filtered + lost + unaccounted";
	       .expected == .accepted + .filtered + (.lost | add) + .unaccounted; tojson)),
(.ledger | law("few samples are missing without a cause";
	       near(.expected - .unaccounted; .expected; $unaccounted;
		    100 + $stops + $stolen_samples + $others); tojson)),
.processors as $processors |
(.scopes | map(select(.kind == "machine"))) as $machine |
law("accepted = samples of all scopes"; $lossy or .ledger.accepted == ([$own[].samples] | sum);
    "\(.ledger.accepted) \([$own[].samples] | sum)"),
($machine[] | law("samples of the machine = those of all other scopes";
		 .samples == ([$own[].samples] | sum); "\(.samples) \([$own[].samples] | sum)"),
	     law("processor time of the machine = that of all other scopes";
		 .cpu_ns == ([$own[].cpu_ns] | sum); "\(.cpu_ns) \([$own[].cpu_ns] | sum)")),
# Whatever is not idle runs a thread of some scope. Attaching takes a moment, one per processor; the clock of the
# machine starts when all threads have been found, and that of a scope with its first one.
([$own[] | levels_cpu] | sum) as $all |
($machine[] | ([$own[].elapsed_ns - .elapsed_ns] | max) as $finding |
	law("busy processors = running threads of all other scopes"; $lossy or $refused > 0 or
		 (levels_cpu - $all | . <= 2e7 + $left_out + $stolen + $gaps and
			 . >= -2e7 - $left_out - $gaps - ([$finding, 0] | max) * $processors);
		 "\(levels_cpu) \($all) \($finding)")),
(.ledger.events | law("no event lost"; $events_lost or .events_lost == 0; tojson)),
(.scopes[] | scope_laws($unit; $lossy; $refused)),
($meta[0].threads[] | thread_laws($unit)),
($own[].threads[] | account_law($unit))
