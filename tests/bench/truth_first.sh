# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2154
# fix NAME RULES CULPRIT BEFORE AFTER: the rules that may say it, and what the subject is called.
# Chosen and written down before the first of them was measured; bounds were changed after that: see doc/truth.md.

fix zstd 'serial|pipeline' '(?i)zstd' 'zstd -q -f -12 -T1 data -o out' 'zstd -q -f -12 -T2 data -o out'
fix sort 'serial' '.' 'sort --parallel=1 -S 800M text >/dev/null' 'sort --parallel=2 -S 800M text >/dev/null'
fix povray-threads 'serial|pipeline' '(?i)pov|trace|render' 'povray +Iscene.pov +W960 +H720 +A0.1 +WT1 -D +Oout.png' \
	'povray +Iscene.pov +W960 +H720 +A0.1 +WT2 -D +Oout.png'
fix git-repack 'serial|pipeline' '.' 'git -C repository -c pack.threads=1 repack -q -a -d -f --window=250 --depth=50' \
	'git -C repository -c pack.threads=2 repack -q -a -d -f --window=250 --depth=50'
fix optipng 'processes' '.' 'for f in pictures/*; do optipng -quiet -o2 -clobber -out out.png $f; done' \
	'ls pictures/* | xargs -P 2 -I {} sh -c "optipng -quiet -o2 -clobber -out out.\$\$.png {}; rm out.\$\$.png"'
fix lame 'processes' '.' 'for f in sounds/*; do lame --quiet $f out.mp3; done' \
	'ls sounds/* | xargs -P 2 -I {} lame --quiet {} /dev/null'
fix xz-blocks 'imbalance|serial' '(?i)lzma|xz|worker' 'xz -T2 -2 --block-size=64MiB -c data >out' \
	'xz -T2 -2 --block-size=4MiB -c data >out'
fix povray-blocks 'imbalance|serial' '(?i)pov|trace|render|thread' \
	'povray +Iscene.pov +W960 +H720 +A0.1 +WT2 +BS720 -D +Oout.png' \
	'povray +Iscene.pov +W960 +H720 +A0.1 +WT2 +BS32 -D +Oout.png'
fix tar-bzip2 'pipeline|serial' '(?i)bz' 'tar c sounds pictures | bzip2 -9 | cat >out' \
	'tar c sounds pictures | lbzip2 -n 2 -9 | cat >out'
fix ffmpeg-decode 'serial|pipeline' '(?i)h264|decode|avcodec' 'ffmpeg -threads 1 -i video.mkv -f null -' \
	'ffmpeg -threads 2 -i video.mkv -f null -'
threads='sysbench threads --threads=4 --thread-yields=100 --events=150000 --time=0 run'
fix sysbench-threads 'contention|fine' '(?i)mutex|lock|0x|pthread' "$threads --thread-locks=1" "$threads --thread-locks=4096"
parse='import sys, threading
from lxml import etree
data = open("page.xml", "rb").read()
def parse():
    for i in range(25):
        etree.fromstring(data)
threads = [threading.Thread(target=parse) for i in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]'
fix lxml-arena 'allocator' '(?i)arena|malloc' "MALLOC_ARENA_MAX=1 /usr/bin/python3 -c '$parse'" "/usr/bin/python3 -c '$parse'"
tokens='import glob, tokenize
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
files = sorted(glob.glob("/usr/lib/python3.11/**/*.py", recursive=True))[:1000]
def count(name):
    with open(name, "rb") as f:
        return sum(1 for t in tokenize.tokenize(f.readline))
with %sPoolExecutor(2) as pool:
    print(sum(pool.map(count, files)))'
# shellcheck disable=SC2059
fix python-threads 'interpreter' '(?i)interpreter|gil' "/usr/bin/python3 -c '$(printf "$tokens" Thread)'" \
	"/usr/bin/python3 -c '$(printf "$tokens" Process)'"
digits='def work; (1..5_000_000).sum { |i| i.to_s.reverse.to_i %% 7 }; end
4.times.map { %s { work } }.each { |t| %s }'
# shellcheck disable=SC2059
fix ruby-threads 'interpreter|contention|parked' '.' "ruby -e '$(printf "$digits" Thread.new t.join)'" \
	"ruby -e '$(printf "$digits" fork 'Process.wait(t)')'"
insert='seq 1 4000 | sed "s/.*/insert into t values(&);/"'
fix sqlite-sync 'overlap' '.' \
	"rm -f db; (echo 'create table t(a);'; $insert) | sqlite3 db" \
	"rm -f db; (echo 'create table t(a); begin;'; $insert; echo 'commit;') | sqlite3 db"
fix fio-depth 'overlap' '.' \
	'fio --name=a --filename=data --rw=randread --direct=1 --bs=4k --ioengine=psync --number_ios=60000' \
	'fio --name=a --filename=data --rw=randread --direct=1 --bs=4k --ioengine=libaio --iodepth=16 --number_ios=60000'
blas='import numpy; a = numpy.random.rand(160, 160); [a.dot(a) for i in range(12000)]'
fix openblas-threads 'spinning|oversubscribed|fine' '.' \
	"export OPENBLAS_NUM_THREADS=2; /usr/bin/python3 -c '$blas' & /usr/bin/python3 -c '$blas'; wait" \
	"export OPENBLAS_NUM_THREADS=1; /usr/bin/python3 -c '$blas' & /usr/bin/python3 -c '$blas'; wait"
fix beside-xz 'taken' '.' \
	'!x264 xz -T2 -6 -c data >/dev/null & x264 --quiet -o out.mkv video.y4m; kill $!; wait' \
	'!x264 x264 --quiet -o out.mkv video.y4m'
fix ffmpeg-slices 'fine' '.' \
	'ffmpeg -y -i tiny.y4m -c:v mpeg2video -threads 2 -thread_type slice -f null -' \
	'ffmpeg -y -i tiny.y4m -c:v mpeg2video -threads 1 -f null -'
log='import hashlib, logging, sys, threading
logging.basicConfig(level=sys.argv[1], stream=sys.stdout)
block = bytes(4000000)
def work():
    for i in range(60):
        hashlib.sha256(block).digest()
        logging.info("x" * 4000)
threads = [threading.Thread(target=work) for i in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]'
slowly='while read -r -N 4000 line; do sleep 0.015; done'
fix python-logging 'blocking_holder|contention|parked' '.' "/usr/bin/python3 -c '$log' INFO | ($slowly)" \
	"/usr/bin/python3 -c '$log' WARNING | ($slowly)"
