#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# man-options.sh: every option that --help prints stands in the man page, and the other way round.
# O names the build directory.
set -u
out=${O:-build}
bad=0

# The long options that a help text on stdin lists, and their short forms.
options_of_help()
{
	sed -nE 's/^  (-(.), |    )--([a-z-]+).*/\2 \3/p' | sed -E 's/^ /- /' | sort -u
}

# The options that begin an entry in a man page source: *-n*, *--rows*=ROWS or *--rows* ROWS.
options_of_page()
{
	sed -nE 's/^(\*-(.)\*, )?\*--([a-z-]+)\*.*/\2 \3/p' "$1" | sed -E 's/^ /- /' | sort -u
}

compare()
{
	local page=$1 help=$2

	if ! grep -q ' help$' <<<"$help"; then
		echo "$page: the help text lists no options"
		bad=1
	fi
	diff <(echo "$help") <(options_of_page "$page") --label "--help" --label "$page" -u || bad=1
}

all_commands()
{
	local command

	for command in $("$out/quartzctl" help | sed -nE 's/^  ([a-z]+) .*/\1/p'); do
		[ "$command" = help ] || "$out/quartzctl" "$command" --help
	done
}

cd "$(dirname "$0")/../.." || exit 1
compare man/quartzctl.1.scd "$(all_commands | options_of_help)"
for program in quartzd quartz-exporter; do
	if [ -x "$out/$program" ]; then
		compare "man/$program.8.scd" "$("$out/$program" --help | options_of_help)"
	else
		echo "$program is not built, its man page was not compared"
		bad=1
	fi
done
exit $bad
