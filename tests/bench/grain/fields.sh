# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# The second field of each line, by a pipe for each line or by one for all: fields.sh each|all
if [ "$1" = each ]; then
	seq 1 700 | while read -r n; do
		echo "$n:$((n * n)):x" | cut -d: -f2
	done
else
	seq 1 700 | while read -r n; do
		echo "$n:$((n * n)):x"
	done | cut -d: -f2
fi
