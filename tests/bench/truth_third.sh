# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2154
# As truth_first.sh, with programs of tests/bench/third that have a quota, are bound to one processor, or run beside others that keep
# the machine full. Programs and fixes were written down before the first of them was measured.

third=$here/third
make_input primes "go build -o primes '$third/primes.go'"
make_input lines "go build -o lines '$third/lines.go'"
make_input Sums.class "javac -d . '$third/Sums.java'"
make_input Bytes.class "javac -d . '$third/Bytes.java'"
make_input ledger "rustc -O -g -o ledger '$third/ledger.rs'"
make_input phases "rustc -O -g -o phases '$third/phases.rs'"
make_input tasks "g++ -O2 -g -pthread -o tasks '$third/tasks.cc'"

# quota PERCENT COMMAND...: of one processor, in a control group of its own.
quota()
{
	local percent=$1 group status

	shift
	group=/sys/fs/cgroup/cpu
	[ -e $group/tasks ] || group=/sys/fs/cgroup
	group=$group/quartz-bench-$$
	mkdir "$group" || return
	if [ -e "$group/cpu.max" ]; then
		echo "${percent}000 100000" >"$group/cpu.max"
	else
		echo "${percent}000" >"$group/cpu.cfs_quota_us"
	fi
	(echo "$BASHPID" >"$group/cgroup.procs" && exec "$@")
	status=$?
	rmdir "$group"
	return "$status"
}
export -f quota

# Others that want each processor all the time, and get a part of it.
fill()
{
	for ((i = 0; i < $(nproc); i++)); do
		start "hog$i" nice -n 5 sh -c 'while :; do :; done'
	done
}

fix quota-go 'limited' '.' 'quota 50 ./primes' './primes'
fix bound-java 'limited' '.' 'taskset -c 0 java -cp . Sums' 'java -cp . Sums'
fix quota-cc 'steps|fine' '.' 'quota 100 ./tasks 1500' 'quota 100 ./tasks 1500000'
fix bound-shell 'steps' '.' "taskset -c 0 sh '$third/count.sh' 0" "taskset -c 0 sh '$third/count.sh' 1"
fix quota-java 'steps' '.' 'quota 60 java -cp . Bytes 0' 'quota 60 java -cp . Bytes 1'
fix bound-python 'lock-io|parked' '.' "taskset -c 0 /usr/bin/python3 '$third/journal.py' 0" \
	"taskset -c 0 /usr/bin/python3 '$third/journal.py' 1"
fill
fix full-rust-lock 'contention' '.' './ledger 0' './ledger 1'
fix full-python 'interpreter' '(?i)interpreter|gil' "/usr/bin/python3 '$third/words.py' 0" "/usr/bin/python3 '$third/words.py' 1"
fix full-go 'steps' '.' './lines 0 >/dev/null' './lines 1 >/dev/null'
fix full-rust 'serial' '.' './phases 0' './phases 1'
