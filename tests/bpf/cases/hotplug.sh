# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# A processor that goes and comes back while a program runs.
online=/sys/devices/system/cpu/cpu1/online

hotplug()
{
	{ [ -w $online ] && [ "$(cat $online)" = 1 ]; } || skip 'no processor can be taken offline'
	start_busy 4
	attach_to "$busy"
	if ! echo 0 2>/dev/null >$online; then
		skip 'the kernel refuses to take a processor offline'
	fi
	trap 'echo 1 >$online; end_all' EXIT
	sleep 1.5
	echo 1 >$online
	sleep 1.5
	detach
	! grep 'cannot sample' quartzd.err || fail 'it is not sampled any more'
	lawful
	expect 'all threads runnable since they were let go' '.scopes[0] | .threads_seen == 4 and
		([.threads[].blocked_ns] | add < 2 * $elapsed and max - min <= 8e7) and
		near(.runnable_ns; 4 * .elapsed_ns - ([.threads[].blocked_ns] | add); 0.01; 8e7)' \
		--argjson elapsed "$(jq '.scopes[0].elapsed_ns' report.json)"
}

thorough 'a processor goes and comes back' hotplug
