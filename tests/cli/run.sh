#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# run.sh [--record] [CASE...]: golden tests of quartzctl. O names the build directory.
#
# A case is a file cases/NAME: each line that begins with "$ " is a shell command, and below it
# stand what it must print and its exit status. --record writes them anew, and the profiles too:
# read the difference before you commit it. Commands find the recorded profiles in the working
# directory and a directory of their own in $T.
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
out=$(cd "${O:-build}" && pwd) || exit 1

failed=0
record=false
if [ "${1-}" = --record ]; then
	record=true
	shift
fi

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# For the cases: what to put before a command for which file modes count, as they do not for root.
if [ "$(id -u)" = 0 ]; then
	unprivileged='setpriv --bounding-set=-dac_override,-dac_read_search'
else
	unprivileged=
fi

# Runs a command as the cases expect it: without the caller's environment and without a quartzd.
run_command()
{
	env -i PATH="$out:/usr/sbin:/usr/bin:/sbin:/bin" LC_ALL=C.UTF-8 TZ=UTC HOME="$work" \
		T="$work/case" TREES="$here/trees" SERVE="$here/serve.py" \
		UNPRIVILEGED="$unprivileged" \
		QUARTZ_RUNTIME_DIR="$work/run" QUARTZ_STATE_DIR="$work/state" QUARTZ_CACHE_DIR="" \
		bash -c "$1" >"$work/stdout" 2>"$work/stderr" </dev/null
}

# Prints a command with what it does, in the form of a case.
describe()
{
	local status

	run_command "$1"
	status=$?
	printf '$ %s\n' "$1"
	cat "$work/stdout"
	if [ -s "$work/stderr" ]; then
		echo '--- stderr'
		cat "$work/stderr"
	fi
	printf -- '--- status %d\n\n' $status
}

run_case()
{
	local line commands

	rm -rf "$work/case" "$work/run" "$work/state"
	mkdir "$work/case" "$work/run" "$work/state"
	mapfile -t commands < <(grep '^\$ ' "$1")
	for line in "${commands[@]}"; do
		describe "${line#$ }"
	done | sed "s|$work|WORK|g"
}

# report STATUS NAME [FIRST-STATUS]
report()
{
	if [ "$1" -ne 0 ]; then
		failed=1
		echo "FAIL $2"
	elif [ "${3-0}" -ne 0 ]; then
		echo "flaky $2"
	else
		echo "ok $2"
	fi
}

# In the directory of recorded profiles. What it says comes at once, since others run beside it.
check_case()
{
	local began=${EPOCHREALTIME/./} said status name=${1##*/}

	cd "$here/profiles" || exit 1
	run_case "$1" >"$work/actual"
	said=$(diff -u "$1" "$work/actual")
	status=$?
	grep -q '^\$ ' "$1" || name+=': no command in it' status=1
	{
		flock 9
		[ -z "$said" ] || printf '%s\n' "$said"
		echo "took $(((${EPOCHREALTIME/./} - began) / 1000))"
		report $status "$name"
	} 9<"$here/run.sh"
}

record_case()
{
	cd "$here/profiles" || exit 1
	run_case "$1" >"$work/actual"
	cp "$work/actual" "$1"
}

# What the generator writes today is what was recorded: the file format has not changed unseen.
check_profiles()
{
	mkdir "$work/profiles"
	"$out/tests/cli/make_profiles" "$work/profiles" || exit 1
	if $record; then
		cp "$work"/profiles/*.pb.gz "$here/profiles"
	else
		diff -r "$here/profiles" "$work/profiles"
		report $? "profiles are written as they were recorded"
	fi
}

# Other checks report themselves: 0 passed, 77 skipped. They have servers, a terminal or a browser, so one that fails is
# tried once more.
check_script()
{
	local began=${EPOCHREALTIME/./} said status first

	said=$(O=$out "$here/$1" 2>&1)
	first=$?
	status=$first
	if [ "$first" != 0 ] && [ "$first" != 77 ]; then
		said+=$'\n'"again $1"$'\n'$(O=$out "$here/$1" 2>&1)
		status=$?
	fi
	{
		flock 9
		[ -z "$said" ] || sed 's/^/    /' <<<"$said"
		echo "took $(((${EPOCHREALTIME/./} - began) / 1000))"
		if [ $status -eq 77 ]; then
			echo "skip $1: see above"
		else
			report $status "$1" "$first"
		fi
	} 9<"$0"
}

case ${1-} in
--one)
	case $2 in
	*.sh) check_script "$2" ;;
	*) check_case "$here/cases/$2" ;;
	esac
	exit $failed ;;
esac

all=("$@")
if [ $# -eq 0 ]; then
	mapfile -t all < <(ls "$here/cases")
	# the longest ones first, since all run side by side
	$record || all=(page.sh knobs.sh running.sh exporter.sh prometheus.sh export.sh top.sh man-options.sh packages.sh completion.sh
		old-profiles.sh pprof-reader.sh fleet.sh dist.sh "${all[@]}")
fi
$record || echo "plan $((1 + ${#all[@]}))"
check_profiles
if $record; then
	for case in "${all[@]}"; do
		record_case "$here/cases/$case"
	done
	exit
fi
printf '%s\n' "${all[@]}" | xargs -P "$(nproc)" -n 1 "$BASH" "$here/run.sh" --one || failed=1
exit $failed
