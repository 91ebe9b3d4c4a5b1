# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Verdicts on figures.
passed=0 failed=0

# judge WHAT FIGURE CONDITION: the condition is of awk, on x, the figure.
judge()
{
	if awk -v x="$2" "BEGIN { exit !($3) }"; then
		passed=$((passed + 1))
		echo "ok $1: $2"
	else
		failed=$((failed + 1))
		echo "FAIL $1: $2, which is not $3"
	fi
}

# The last line, and whether all were good.
end_judging()
{
	echo "$passed passed, $failed failed"
	[ $failed -eq 0 ]
}
