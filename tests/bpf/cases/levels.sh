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

# Prints a table, and fails unless totals are within 2 %, and all else within 3 %: interrupts are no procedure's own.
normalized_times()
{
	grep '"procedure"' "$1" >procedures.json
	jq -r --slurpfile truth procedures.json '.scopes[0].rows as $rows | $truth[] | . as $t |
		$rows[] | select(.name == $t.procedure) |
		[$t.procedure, $t.total_norm_ns, .total.norm_ns, .total.ci_ns,
		 .total.norm_ns / $t.total_norm_ns] | @tsv' report.json | awk -F '\t' '
		BEGIN { printf "    %-10s %9s %9s %9s %7s\n", "procedure", "truth s", "norm s", "+- s", "ratio" }
		{ printf "    %-10s %9.4f %9.4f %9.4f %7.4f\n", $1, $2 / 1e9, $3 / 1e9, $4 / 1e9, $5 }'
	expect 'normalized time of each procedure within 2 %, of its own within 3 %' '. as $r |
		($truth | length) == 4 and all($truth[]; . as $t | $r | row($t.procedure) |
			near(.total.norm_ns; $t.total_norm_ns; 0.02; 0) and
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

# bars PROCEDURE: of its view, one line for each number of processors: the number, cells of its own, cells
# of what it called.
bars()
{
	"$out/quartzctl" report -i profile "$1" >view || fail "no view of $1"
	awk '
		/^ *busy +self/ { inside = 1 }
		inside && $1 ~ /^[0-9]+$/ && NF >= 4 {
			bar = NF == 5 ? $5 : ""
			print $1, gsub(/#/, "", bar), gsub(/[.]/, "", bar)
		}
		inside && /^$/ { exit }' view
}

# The paper's figure 1: main was served at 1, 2, 4 and 8 processors for as long as the phases took, and each
# phase at its own number only. Where quartzd had a processor, 8 were 7, of an emulated machine all of the time. A cell is rounded; one is the least.
figure_1()
{
	local n

	bars main >main.bars
	jq -r '"\(.procedure[6:]) \(.total_norm_ns)"' procedures.json | awk '
		NR == FNR { truth[$1] = $2; longest = $2 > longest ? $2 : longest; next }
		{ cells[$1] = $2 + $3; rows++ }
		END {
			cells[8] += cells[7] > 1 ? cells[7] : 0
			for (n in truth) {
				phases++
				true_cells = truth[n] / longest * 44
				printf "    main at %d: %d cells, %.2f by the program\n", n, cells[n], true_cells
				off = cells[n] - true_cells
				wrong += off < -1.5 || off > 1.5
			}
			for (n in cells)
				wrong += !(n in truth) && n != 7 && cells[n] > 1
			exit wrong || rows < 7 || phases != 4
		}' - main.bars || fail 'the bars of main are not the phases' "$(cat view)"
	for n in 1 2 4 8; do
		bars "phase_$n" | awk -v n="$n" '
			n == 8 && $1 > 5 { at += $2 + $3; own += $2; next }
			$1 == n { at = $2 + $3; own = $2; next }
			{ wrong += $2 + $3 > 1 }
			END { exit wrong || at < 44 || own < 0.9 * at }' ||
			fail "the bar of phase_$n is not at $n" "$(cat view)"
	done
}

launched()
{
	enough_processors
	launch "$programs/phases" --time --spawn $phases
	lawful
	main_is_all
	normalized_times program.out
	figure_1
}

# Attached while it is stopped in its first phase, which is idle: however long that takes.
attached()
{
	local program

	enough_processors
	start phases "$programs/phases" --time --pool 0:3,$phases
	program=$pid
	await_threads "$program" 8
	attach_to "$program"
	finished
	lawful
	main_is_all
	normalized_times phases.out
}

# Among all processes of a machine: each phase has its number of threads, and hardly any time is at other levels.
among_all()
{
	enough_processors
	attach --system --max-overhead 0
	start phases "$programs/phases" --time 1:3,2:3,4:3
	ended "$pid"
	[ "$status" = 0 ] || fail "the phases ended with status $status"
	detach
	events_lost=true
	lawful
	expect 'time at levels 1, 2 and 4' '[.scopes[] | select(.comm == "phases")][0] |
		[.level_ns[1, 2, 4]] | all(. > 0) and add > 0.9 * $busy' \
		--argjson busy "$(jq '[.scopes[] | select(.comm == "phases")][0].busy_ns' report.json)"
}

try 'normalized times of a launched program' launched
try 'levels of one process among all' among_all
thorough 'normalized times of an attached program' attached
