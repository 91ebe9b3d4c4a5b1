# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Phases of a known parallelism: each procedure's normalized time is what the program says. Needs a
# processor for each of eight threads, undisturbed: a virtual machine whose clock counts
# instructions. Not run by default.
phases=1:3,2:1,4:1,8:1

enough_processors()
{
	[ "$(nproc)" -ge 8 ] || skip 'fewer than 8 processors'
}

# Prints a table, and fails unless all is within 3 %.
normalized_times()
{
	grep '"procedure"' "$1" >procedures.json
	jq -r --slurpfile truth procedures.json '.scopes[0].rows as $rows | $truth[] | . as $t |
		$rows[] | select(.name == $t.procedure) |
		[$t.procedure, $t.total_norm_ns, .total.norm_ns, .total.ci_ns,
		 .total.norm_ns / $t.total_norm_ns] | @tsv' report.json | awk -F '\t' '
		BEGIN { printf "    %-10s %9s %9s %9s %7s\n", "procedure", "truth s", "norm s", "+- s", "ratio" }
		{ printf "    %-10s %9.4f %9.4f %9.4f %7.4f\n", $1, $2 / 1e9, $3 / 1e9, $4 / 1e9, $5 }'
	expect 'normalized time of each procedure within 3 %' '. as $r |
		($truth | length) == 4 and all($truth[]; . as $t | $r | row($t.procedure) |
			near(.total.norm_ns; $t.total_norm_ns; 0.03; 0) and
			near(.self.norm_ns; $t.self_norm_ns; 0.03; 0))' --slurpfile truth procedures.json
	expect 'processor time of each procedure within 3 %' '. as $r | all($truth[]; . as $t |
		$r | row($t.procedure) | near(.self.cpu_ns; $t.cpu_ns; 0.03; 0))' \
		--slurpfile truth procedures.json
	# quartzd needs one of eight processors now and then
	expect 'time at levels 2 and 4 within 3 %' '.scopes[0].level_ns as $levels |
		all($truth[] | select(.procedure == ("phase_2", "phase_4"));
		    near($levels[.procedure[6:] | tonumber]; .total_norm_ns; 0.03; 0))' \
		--slurpfile truth procedures.json
}

launched()
{
	enough_processors
	launch "$programs/phases" --time --spawn $phases
	lawful
	main_is_all
	normalized_times program.out
}

# Attached while it is stopped in its first phase, which is idle: however long that takes.
attached()
{
	local program

	enough_processors
	start phases "$programs/phases" --time --pool 0:3,$phases
	program=$pid
	await_threads "$program" 8
	kill -STOP "$program"
	attach --pid "$program"
	kill -CONT "$program"
	finished
	lawful
	main_is_all
	normalized_times phases.out
}

try 'normalized times of a launched program' launched
try 'normalized times of an attached program' attached
