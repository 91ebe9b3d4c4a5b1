# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# What libquartz costs: its calls, a program with a million scopes a second, programs that the
# compiler instruments, beside gprof's way; and the event statement. See doc/libquartz.md.

lb=$out/tests/bench/library
real=$(ls /usr/lib/x86_64-linux-gnu/libLLVM-*.so.1 2>/dev/null | head -n 1)

# times LABEL COMMAND...: adds one figure to LABEL.times.
times()
{
	local label=$1

	shift
	(cd "$T" && alone "$@" 2>/dev/null) >>"$T/$label.times" || fail "$* failed"
}

library_calls()
{
	local compiler workload suffix

	for compiler in '' -clang; do
		for workload in flat recursive; do
			suffix=$compiler-$workload
			times "calls$suffix" "$lb/calls$compiler" $workload
			times "pg$suffix" "$lb/calls$compiler-pg" $workload
			times "floor$suffix" "$lb/calls$compiler-floor" $workload
			times "hooks$suffix" "$lb/calls$compiler-hooks" $workload
			times "heard$suffix" "$lb/listen" "$lb/calls$compiler-hooks" $workload
		done
	done
}

library_real()
{
	local compiler p=$lb/unwind_table

	[ -n "$real" ] || return 0
	for compiler in -gcc -clang; do
		times "real$compiler" "$p$compiler" "$real"
		times "real$compiler-pg" "$p$compiler-pg" "$real"
		times "real$compiler-floor" "$p$compiler-floor" "$real"
		times "real$compiler-hooks" "$p$compiler-hooks" "$real"
		times "real$compiler-heard" "$lb/listen" "$p$compiler-hooks" "$real"
	done
}

echo '### Calls of libquartz'
alone "$lb/operations"
echo
echo '### Event statement'
alone "$lb/events"
for ((i = 0; i < rounds; i++)); do
	times scopes-disabled "$lb/scopes-disabled"
	times scopes "$lb/scopes"
	times scopes-heard "$lb/listen" "$lb/scopes"
	library_calls
	library_real
done
echo
echo '### A million scopes a second'
echo '| program | without libquartz | inactive | active |'
echo '|---|---|---|---|'
row 'scopes by hand' ns scopes-disabled scopes scopes-heard
echo
echo '### Instrumentation by the compiler'
# The floor: hooks that do nothing, by which the compiler alone makes the program slower.
echo '| program | plain | gprof | empty hooks | hooks, inactive | hooks, active |'
echo '|---|---|---|---|---|---|'
for compiler in '' -clang; do
	for workload in flat recursive; do
		s=$compiler-$workload
		row "$workload, ${compiler:--gcc}" ns "calls$s" "pg$s" "floor$s" "hooks$s" "heard$s"
	done
	[ -z "$real" ] || row "real, ${compiler:--gcc}" ms "real${compiler:--gcc}" \
		"real${compiler:--gcc}"-{pg,floor,hooks,heard}
done
