# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Counts with a process for each step, or with the shell itself: expr.sh expr|shell
i=0
while [ "$i" -lt 1500 ]; do
	if [ "$1" = expr ]; then
		i=$(expr "$i" + 1)
	else
		i=$((i + 1))
	fi
done
