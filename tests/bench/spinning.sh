# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Phases of one second in which one thread computes while another waits for it. The truth is what the
# program says, and holds however often the two are preempted: what computes is alone, so its
# normalized time is its processor time; what waits has none, and all its processor time is spun.

spin_kinds=(pause plain yield lock tas openmp)

# The figures of the run just recorded: "KIND computed NS waited NS spun NS".
spin_figures()
{
	"$out/quartzctl" report -i "$T/profile" --json | jq -r --arg kind "$1" '
		def total($name): ([.scopes[0].rows[] | select(.name == $name).total][0]
			// {norm_ns: 0, spin_ns: 0});
		(.scopes[0].threads | sort_by(-.norm_ns) | last) as $waiter |
		if $kind == "openmp" then
			"\(total("compute_omp").norm_ns) \($waiter.norm_ns) \($waiter.spin_ns)"
		else
			"\(total("compute_" + $kind).norm_ns) \(total("wait_" + $kind).norm_ns) \(
			  total("wait_" + $kind).spin_ns)"
		end'
}

# The processor time of the thread that waited, by the kernel.
spin_waiter()
{
	"$out/quartzctl" report -i "$T/profile" --json |
		jq '[.scopes[0].threads[]] | sort_by(-.norm_ns) | last | .cpu_ns'
}

spin_record()
{
	"$out/quartzctl" record -o "$T/profile" -- "$@" >"$T/spins" 2>"$T/record.err" || fail 'record'
}

for ((round = 0; round < rounds; round++)); do
	for kind in "${spin_kinds[@]}"; do
		if [ "$kind" = openmp ]; then
			OMP_WAIT_POLICY=active spin_record "$out/tests/programs/omp_wait" 1 2
			compute=$(awk '$2 == "compute_omp" { print $4 }' "$T/spins")
			wait=$(spin_waiter)
		else
			spin_record "$out/tests/programs/spins" "$kind:1"
			compute=$(awk -v p="compute_$kind" '$2 == p { print $4 }' "$T/spins")
			wait=$(awk -v p="wait_$kind" '$2 == p { print $4 }' "$T/spins")
		fi
		read -r computed waited spun < <(spin_figures "$kind")
		awk -v a="$computed" -v b="$compute" 'BEGIN { print 100 * (a / b - 1) }' \
			>>"$T/spin.computes.$kind"
		awk -v a="$waited" 'BEGIN { print a / 1e9 }' >>"$T/spin.waits.$kind"
		awk -v a="$spun" -v b="$wait" 'BEGIN { print 100 * (a / b - 1) }' >>"$T/spin.spun.$kind"
	done
done
printf '%-8s  %28s  %26s  %28s\n' wait 'computing: norm, error %' 'waiter: norm, s' \
	'waiter: spun, error %'
for kind in "${spin_kinds[@]}"; do
	printf '%-8s' "$kind"
	for what in computes waits spun; do
		read -r middle least most < <(median "$T/spin.$what.$kind")
		printf '  %8.3f, %8s..%-7s' "$middle" "$(printf '%.3f' "$least")" \
			"$(printf '%.3f' "$most")"
	done
	echo
done

# Two threads that hold a mutex in turns, a millisecond each: while one has it, the other queues.
for ((round = 0; round < rounds; round++)); do
	spin_record "$out/tests/programs/lock_queue" 2 500 1000 alternate
	held=$(awk '$2 == "wanted" { print $4 }' "$T/spins")
	"$out/quartzctl" objects -i "$T/profile" --json | jq --argjson held "$held" '
		[.scopes[0].objects[] | select(.name == "hot_lock").norm_ns] | add / $held * 100 - 100' \
		>>"$T/spin.held"
done
read -r middle least most < <(median "$T/spin.held")
printf 'mutex held in turns: norm, error %% %.3f, %.3f..%.3f\n' "$middle" "$least" "$most"
