# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2034,SC2154
# What the runners of tests in virtual machines share. They are given $o, the build directory, print a line for
# each test, "ok NAME", "FAIL NAME", "flaky NAME" or "skip NAME: REASON", and end by `finish`.
kernels='6.1 6.12'

# verdict ok|FAIL|flaky|skip NAME: also of a subshell.
verdict()
{
	[ "$1" != FAIL ] || : >"$work/failed"
	echo "$*"
}

finish()
{
	[ ! -e "$work/failed" ]
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

# prefixed PREFIX: standard input, with the prefix before the names in verdicts, and indented before the rest.
prefixed()
{
	sed -u -E "/^plan /d; /^took /b; s/^(ok|FAIL|flaky|skip) /\\1 $1: /; t; s/^/    $1 | /"
}

# guest KERNEL OPTION... -- COMMAND...: a command that reports each of its tests by a line, shown as it comes. A
# guest that ended before its first verdict is booted once more, as in boot.
guest()
{
	kernel=$1
	shift
	for try in 1 2; do
		{
			tests/vm/run -d "$o/vm" -k "$kernel" "$@" 2>&1
			echo $? >"$log.status"
		} | tee "$log" | prefixed "$kernel"
		status=$(cat "$log.status")
		case $status in
		124 | 125) ! grep -qE '^(ok|FAIL|flaky|skip) ' "$log" || break ;;
		*) break ;;
		esac
	done
	if grep -q '^FAIL ' "$log"; then
		: >"$work/failed"
	elif [ "$status" != 0 ] || ! grep -qE '^(ok|flaky|skip) ' "$log"; then
		verdict FAIL "$kernel: the guest ended with status $status"
	fi
}

# at_once FUNCTION: for each kernel, side by side.
at_once()
{
	for series in $kernels; do
		(log=$work/$series && "$1" "$series") &
	done
	wait
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
	guest "$kernel" -c "${module_cpus:-8}" -M fast -t "${module_time:-900}" -- \
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
