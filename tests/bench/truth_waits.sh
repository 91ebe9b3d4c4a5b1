# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# As truth_grain.sh, with programs that have too many threads or too few, or wait for what need not be waited for.

grain=$here/grain
for program in polling answers lookups; do
	make_input "$program" "gcc -O2 -g -pthread -o $program '$grain/$program.c'"
done
make_input teams "gcc -O2 -g -fopenmp -o teams '$grain/teams.c'"
redis-server --port 7777 --save '' --loglevel warning >/dev/null &
redis=$!

fix multiply 'oversubscribed' '.' "/usr/bin/python3 '$grain/multiply.py'" \
	"export OPENBLAS_NUM_THREADS=1; /usr/bin/python3 '$grain/multiply.py'"
fix teams 'oversubscribed' '.' 'OMP_NUM_THREADS=16 ./teams' 'OMP_NUM_THREADS=2 ./teams'
fix answers 'few-threads' '.' './answers 4' './answers 32'
fix polling 'polling' '.' './polling 10000' './polling 0'
fix polling-python 'polling' '.' "/usr/bin/python3 '$grain/polling.py' 10000" "/usr/bin/python3 '$grain/polling.py' 0"
fix requests 'delayed-ack' '.' "/usr/bin/python3 '$grain/requests.py' 0" "/usr/bin/python3 '$grain/requests.py' 1"
fix lookups 'round-trips|steps' '.' './lookups 1' './lookups 20'
kill "$redis"
