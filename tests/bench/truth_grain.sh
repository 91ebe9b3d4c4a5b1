# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# As truth_first.sh, with programs of tests/bench/grain: the argument is the size of a step. Programs and both sizes were
# written down before the first of them was measured.

grain=$here/grain
for program in thread_a_task small_writes queue arena maps; do
	make_input "$program" "gcc -O2 -g -pthread -o $program '$grain/$program.c' -lm"
done
make_input nested "gcc -O2 -g -fopenmp -o nested '$grain/nested.c'"
make_input regions "gcc -O2 -g -fopenmp -o regions '$grain/regions.c' -lm"
make_input async "g++ -O2 -g -pthread -o async '$grain/async.cc'"
make_input channel "go build -o channel '$grain/channel.go'"
make_input goroutines "go build -o goroutines '$grain/goroutines.go'"
make_input spawn "rustc -O -g -o spawn '$grain/spawn.rs'"
make_input messages "rustc -O -g -o messages '$grain/messages.rs'"
make_input Threads.class "javac -d . '$grain/Threads.java'"
make_input bytes 'head -c 24M "$(readlink -f /usr/bin/python3)" >bytes; while [ $(stat -c %s bytes) -lt 24000000 ]; do
	cat bytes bytes | head -c 25165824 >more && mv more bytes; done'

small='steps|fine'
fix thread-a-task "$small" '.' './thread_a_task 1' './thread_a_task 2000'
fix small-writes "$small" '.' './small_writes 0 >/dev/null' './small_writes 65536 >/dev/null'
fix queue "$small" '.' './queue 1' './queue 500'
fix async "$small" '.' './async 200' './async 200000'
fix channel "$small" '.' './channel 1' './channel 1000'
fix goroutines "$small" '.' './goroutines 20' './goroutines 20000'
fix pool "$small" '.' "/usr/bin/python3 '$grain/pool.py' 1" "/usr/bin/python3 '$grain/pool.py' 2000"
fix bytes "$small" '.' "/usr/bin/python3 '$grain/bytes.py' 0 bytes" "/usr/bin/python3 '$grain/bytes.py' 65536 bytes"
fix spawn "$small" '.' './spawn 2000' './spawn 2000000'
fix messages "$small" '.' './messages 1' './messages 1000'
fix threads-java "$small" '.' 'java -cp . Threads 1' 'java -cp . Threads 2000'
fix regions "$small" '.' './regions 100' './regions 1000000'
fix expr "$small" '.' "sh '$grain/expr.sh' expr" "sh '$grain/expr.sh' shell"
fix fields "$small" '.' "sh '$grain/fields.sh' each" "sh '$grain/fields.sh' all"
fix dd "$small" '.' 'dd if=/dev/zero of=/dev/null bs=1 count=700000' 'dd if=/dev/zero of=/dev/null bs=64k count=11'

# Written down on 2026-12-01, before the first of them was measured.
herd=$out/tests/programs/herd
fix nested "$small" '.' './nested 2' './nested 1'
fix arena 'allocator' '.' './arena 1' './arena 4'
fix maps "$small" '.' './maps each' './maps once'
fix herd 'in_vain' '.' "$herd broadcast 20000 16" "$herd signal 20000 16"
fix herd-epoll 'herd' '.' "$herd epoll 20000 16" "$herd exclusive 20000 16"

# The longest job last, and first.
jobs=$grain/jobs.mk
make_input part "head -c 4M bytes >part"
fix make-order 'last-job' '.' "make -sj2 -f '$jobs' late" "make -sj2 -f '$jobs' early"
fix make-compiler 'last-job' '.' "make -sj2 -f '$jobs' compile-late" "make -sj2 -f '$jobs' compile-early"
fix xargs-order 'last-job' '.' 'echo part part part part part part bytes | xargs -P 2 -n 1 gzip -c >/dev/null' \
	'echo bytes part part part part part part | xargs -P 2 -n 1 gzip -c >/dev/null'

# Programs of others, of which an option makes the step smaller; written down on 2026-11-30, before the first of them was measured.
make_input lorem "seq -f 'line %.0f of a text that grep reads' 300000 >lorem"
fix fio-blocks "$small" '.' 'fio --name=r --filename=bytes --rw=read --size=24M --bs=512 --ioengine=psync --loops=8 --invalidate=0' \
	'fio --name=r --filename=bytes --rw=read --size=24M --bs=64k --ioengine=psync --loops=8 --invalidate=0'
fix xargs-items "$small" '.' 'seq 1500 | xargs -n 1 basename -a >/dev/null' 'seq 1500 | xargs -n 500 basename -a >/dev/null'
fix tar-records "$small" '.' 'tar -b 1 -cf - bytes bytes bytes bytes | cat >/dev/null' 'tar -b 128 -cf - bytes bytes bytes bytes | cat >/dev/null'
fix grep-lines "$small" '.' 'grep --line-buffered of lorem | cat >/dev/null' 'grep of lorem | cat >/dev/null'
fix sed-lines "$small" '.' 'sed -u s/text/file/ lorem >/dev/null' 'sed s/text/file/ lorem >/dev/null'
