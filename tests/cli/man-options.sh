#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# man-options.sh: every command and option that the help texts print stands in the man page, and the other way round; so do
# sample types. Every schema that a source names is one that `version --verbose` prints.
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

# The usage lines of help texts on stdin.
usage_of_help()
{
	sed -nE 's/^(Usage:|      ) (quartz.*)/\2/p' | sort
}

# The lines of a page's synopsis without their marks.
usage_of_page()
{
	sed -nE '/^# SYNOPSIS/,/^# DESCRIPTION/ { /^\*/ { s/(\+\+)$//; s/[*_]//g; p } }' "$1" | sort
}

compare()
{
	local page=$1 help=$2

	if ! grep -q ' help$' <<<"$help"; then
		echo "$page: the help text lists no options"
		bad=1
	fi
	diff <(echo "$help") <(options_of_page "$page") --label "--help" --label "$page" -u || bad=1
	diff <(usage_of_help) <(usage_of_page "$page") --label "usage" --label "$page: synopsis" -u || bad=1
}

all_commands()
{
	local command

	for command in $("$out/quartzctl" help | sed -nE 's/^  ([a-z-]+) .*/\1/p'); do
		[ "$command" = help ] || "$out/quartzctl" "$command" --help
	done
}

work=$(mktemp) || exit 1
trap 'rm -f "$work"' EXIT
cd "$(dirname "$0")/../.." || exit 1
all_commands >"$work"
echo 'Usage: quartzctl help [COMMAND]' >>"$work"
compare man/quartzctl.1.scd "$(options_of_help <"$work")" <"$work"
for program in quartzd quartz-exporter; do
	if [ -x "$out/$program" ]; then
		"$out/$program" --help >"$work"
		compare "man/$program.8.scd" "$(options_of_help <"$work")" <"$work"
	else
		echo "$program is not built, its man page was not compared"
		bad=1
	fi
done
diff <(grep -rhoE '"quartz\.[a-z]+/v[0-9]+"' core cli daemon exporter --include='*.c' | tr -d '"' | sort -u) \
	<("$out/quartzctl" version --verbose | grep -oE 'quartz\.[a-z]+/v[0-9]+' | sort) \
	--label sources --label 'version --verbose' -u || bad=1
tests/cli/sample_types.py man/quartzd.8.scd tests/cli/profiles/*.pb.gz || bad=1
exit $bad
