# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# As truth_first.sh, with programs of tests/bench/grain whose threads write to one cache line, and those that do not.

grain=$here/grain
for program in counters random; do
	make_input "$program" "gcc -O2 -g -pthread -o $program '$grain/$program.c'"
done
make_input pointers "g++ -O2 -g -pthread -o pointers '$grain/pointers.cc'"
make_input hits "go build -o hits '$grain/hits.go'"

fix one-word 'shared-line' '.' './counters word' './counters apart'
fix neighbours 'shared-line' '.' './counters neighbours' './counters apart'
fix beside 'shared-line' '.' './counters beside' './counters lines' # of 2026-12-01
fix pointers 'shared-line' '.' './pointers copies' './pointers reference'
fix hits-go 'shared-line' '.' './hits each' './hits once'
fix random 'steps|fine' '.' './random library' './random own'
well apart './counters apart'
well lines './counters lines'
well references './pointers reference'
well once './hits once'
