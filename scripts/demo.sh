#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# demo.sh: profiles a program that has something to find, and shows what is found. `make demo` installs and builds first. O
# names the build directory.
set -eu

out=${O:-build}
program=$out/tests/programs/indexer profile=$out/demo.pb.gz page=$out/demo.html
export QUARTZ_PAGER=cat

run()
{
	printf '\n$ %s\n' "$*"
	"$@"
}

cat <<END
A program of two seconds (tests/programs/indexer.c): one thread parses, four index, then they queue for one lock, and at last
one writes. Quartz does not know that: it finds what cost the time.
END
run "$out/quartzctl" record -o "$profile" -- "$program" 0.4
run "$out/quartzctl" report -i "$profile" -n 8
run "$out/quartzctl" report -i "$profile" 'mutex table_lock'
run "$out/quartzctl" html -i "$profile" -o "$page"

cat <<END

The page, for a browser: $(realpath "$page")
Next:
  $out/quartzctl advise -i $profile                          # all findings, with their evidence
  $out/quartzctl what-if -i $profile --spread parse_input    # what it would gain if all processors parsed
  sudo $out/quartzctl record -- YOUR-PROGRAM ARGUMENTS...    # and then: $out/quartzctl report
END
