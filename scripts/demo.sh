#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# demo.sh: profiles pigz, the parallel gzip, on generated text and prints what cost it its time.
# `make demo` installs and builds first. O names the build directory.
set -eu

out=${O:-build}
profile=$out/demo.pb.gz
text=$out/demo.txt
export QUARTZ_PAGER=cat

run()
{
	printf '\n$ %s\n' "$*"
	"$@"
}

# Some seconds of work for each processor, for up to eight of them (1 GB of text).
cpus=$(nproc)
lines=$((15000000 * (cpus < 8 ? cpus : 8)))

trap 'rm -f "$text" "$text.gz"' EXIT
echo "writing $lines lines of text to $text"
seq "$lines" >"$text"

run "$out/quartzctl" record -o "$profile" -- pigz -9 -k -f "$text"
run "$out/quartzctl" report -i "$profile"

# What stands on top, from closer by. Debian's pigz has no symbols, so the name is not known here.
top=$("$out/quartzctl" report -i "$profile" --json -n 1 | sed -n 's/^ *"name": "\(.*\)",$/\1/p')
run "$out/quartzctl" report -i "$profile" "${top%%$'\n'*}"
