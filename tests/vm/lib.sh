# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2034,SC2154
# What the runners of tests in virtual machines share. They are given $o, the build directory, and end
# by `finish`, whose line counts: N passed, N failed, N skipped.
passed=0 failed=0 skipped=0
kernels='6.1 6.12'

# verdict ok|FAIL|skip NAME
verdict()
{
	case $1 in
	ok) passed=$((passed + 1)) ;;
	FAIL) failed=$((failed + 1)) ;;
	skip) skipped=$((skipped + 1)) ;;
	esac
	echo "$*"
}

finish()
{
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ]
	exit
}

# boot OPTION... -- COMMAND...: sets status and leaves what the guest printed in $log. QEMU with a
# thread for each virtual processor was seen to hang or to crash the guest on a loaded machine, once
# in some dozens of boots: that is no verdict on what ran there, and is tried once more.
boot()
{
	tests/vm/run -d "$o/vm" "$@" >"$log" 2>&1
	status=$?
	case $status in
	124 | 125)
		echo "retry after status $status of: tests/vm/run $*"
		sed 's/^/    /' "$log"
		tests/vm/run -d "$o/vm" "$@" >"$log" 2>&1
		status=$? ;;
	esac
}

# expect NAME STATUS: judges the last boot.
expect()
{
	if [ "$status" = "$2" ]; then
		verdict ok "$1"
	else
		sed 's/^/    /' "$log"
		verdict FAIL "$1: status $status, not $2"
	fi
}

# attempt KERNEL OPTION... -- COMMAND...: a command that reports each of its tests by a line. Where some
# have failed, and the kernel has not complained, all are tried once more, and both are shown.
attempt()
{
	kernel=$1
	shift
	boot -k "$kernel" "$@"
	if [ "$status" = 1 ] && grep -q '^FAIL ' "$log"; then
		echo "$kernel: again, after"
		sed 's/^/    /' "$log"
		boot -k "$kernel" "$@"
	fi
}

# recount PREFIX: counts the verdicts on standard input, with the prefix before their names, and shows all else
# but sums. Sets told, empty when there was none.
recount()
{
	told=
	while IFS= read -r line; do
		case $line in
		'ok '* | 'FAIL '* | 'skip '*)
			verdict "${line%% *}" "$1${line#* }"
			told="$told${line%% *} " ;;
		*' passed, '*' failed'*) ;;
		*)	printf '%s\n' "$line" ;;
		esac
	done
}

# judge KERNEL: what the command of the last boot there has reported.
judge()
{
	recount "$1: " <"$log"
	case $status-$told in
	0-*ok* | 0-*skip* | 1-*FAIL*) ;;
	*) verdict FAIL "$1: the guest ended with status $status" ;;
	esac
}

guest()
{
	attempt "$@"
	judge "$1"
}

# at_once FUNCTION: for each kernel, side by side. What one of them prints stays together, and is counted.
at_once()
{
	for series in $kernels; do
		(log=$work/$series && "$1" "$series") >"$work/$series.said" &
	done
	wait
	for series in $kernels; do
		recount '' <"$work/$series.said"
		[ -n "$told" ] || verdict FAIL "$series: $1 said nothing"
	done
}

# module KERNEL [VARIABLE=VALUE]...: builds quartz.ko for it and runs its tests there, with these in the
# environment. Warnings of the compiler, and of sparse where there is one, are errors.
module()
{
	sparse=
	! command -v sparse >/dev/null || sparse=C=2
	if ! make -s O="$o" kmod KDIR="$o/vm/$1/headers/build" W=1 $sparse KCFLAGS=-Werror \
		>"$log" 2>&1 || [ -s "$log" ]; then
		sed 's/^/    /' "$log"
		verdict FAIL "$1: the module is built without a warning"
		return
	fi
	verdict ok "$1: the module is built without a warning"
	ko=$o/kmod/$(cat "$o/vm/$1/release")/kmod/quartz.ko
	kernel=$1
	shift
	guest "$kernel" -c "${module_cpus:-8}" -M fast -t "${module_time:-2400}" -- \
		env "$@" tests/kmod/guest "$o" "$ko" "$o/vm/tools/bin/busybox"
}

# fetched WORD...: what tests/vm/fetch brings; without it nothing here can run.
fetched()
{
	tests/vm/fetch "$o/vm" "$@" 2>"$log" && return
	reason="virtual machines: $(tail -n 1 "$log")"
	if [ "${CI-}" = true ]; then
		verdict FAIL "$reason"
	else
		verdict skip "$reason"
	fi
	finish
}

work=$(mktemp -d) || exit 1
log=$work/log
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
