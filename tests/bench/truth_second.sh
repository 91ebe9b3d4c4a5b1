# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2154
# As truth_first.sh; chosen and written down before the first of them was measured, and nothing was changed after that.

fix 7z 'serial|pipeline' '.' '7z a -bso0 -bsp0 -mx=3 -mmt=1 out.7z data; rm out.7z' \
	'7z a -bso0 -bsp0 -mx=3 -mmt=2 out.7z data; rm out.7z'
fix plzip 'serial|pipeline' '.' 'plzip -n1 -1 -c data >out' 'plzip -n2 -1 -c data >out'
fix lbzip2 'serial|pipeline' '.' 'lbzip2 -n1 -c data >out' 'lbzip2 -n2 -c data >out'
fix par2 'serial' '.' 'rm -f *.par2; par2 create -q -q -t1 -r8 out.par2 video.y4m' \
	'rm -f *.par2; par2 create -q -q -t2 -r8 out.par2 video.y4m'
fix flac 'processes' '.' 'for f in sounds/*; do flac -s -8 -e -f -o out.flac $f; done' \
	'ls sounds/* | xargs -P 2 -I {} sh -c "flac -s -8 -e -f -o out.\$\$.flac {}; rm out.\$\$.flac"'
fix oggenc 'processes' '.' 'for f in sounds/*; do oggenc -Q -o out.ogg $f; done' \
	'ls sounds/* | xargs -P 2 -I {} sh -c "oggenc -Q -o out.\$\$.ogg {}; rm out.\$\$.ogg"'
fix plzip-blocks 'imbalance|serial' '.' 'plzip -n2 -1 -B64MiB -c data >out' 'plzip -n2 -1 -B4MiB -c data >out'
fix pbzip2-blocks 'imbalance|serial' '.' 'pbzip2 -p2 -b640 -c data >out' 'pbzip2 -p2 -b9 -c data >out'
fix tar-xz 'pipeline|serial' '(?i)lzma|xz' 'tar c data | xz -T1 -1 | cat >out' 'tar c data | xz -T2 -1 | cat >out'
trees='import ast, glob
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
files = sorted(glob.glob("/usr/lib/python3.11/**/*.py", recursive=True))[:400]
def length(name):
    return len(ast.unparse(ast.parse(open(name).read())))
with %sPoolExecutor(2) as pool:
    print(sum(pool.map(length, files)))'
# shellcheck disable=SC2059
fix python-unparse 'interpreter' '(?i)interpreter|gil' "/usr/bin/python3 -c '$(printf "$trees" Thread)'" \
	"/usr/bin/python3 -c '$(printf "$trees" Process)'"
pages='import threading
from lxml import html
data = "<table>" + "".join(f"<tr><td class=c>{i}</td><td><a href=x{i}>y</a></td></tr>" for i in range(9000)) + "</table>"
def parse():
    for i in range(14):
        html.tostring(html.fromstring(data))
threads = [threading.Thread(target=parse) for i in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]'
fix lxml-html 'allocator' '(?i)arena|malloc' "MALLOC_ARENA_MAX=1 /usr/bin/python3 -c '$pages'" "/usr/bin/python3 -c '$pages'"
fix dd-dsync 'overlap' '.' 'dd if=data of=out bs=16k count=4000 oflag=dsync' 'dd if=data of=out bs=4M count=16 oflag=dsync'
fio='fio --name=a --filename=out --rw=write --bs=16k --size=64M --ioengine=psync'
fix fio-fsync 'overlap' '.' "$fio --fsync=1" "$fio --fsync=64"
fix povray-beside-xz 'taken' '.' \
	'!povray xz -T2 -6 -c data >/dev/null & povray +Iscene.pov +W640 +H480 +A0.1 +WT2 -D +Oout.png; kill $!; wait' \
	'!povray povray +Iscene.pov +W640 +H480 +A0.1 +WT2 -D +Oout.png'
fix x264-slices 'fine|steps' '.' 'x264 --quiet --sliced-threads --threads 2 --preset ultrafast -o out.mkv tiny.y4m' \
	'x264 --quiet --threads 1 --preset ultrafast -o out.mkv tiny.y4m'

echo
echo '| well-behaved program | the first finding |'
echo '|---|---|'
well pigz 'pigz -p 2 -c data >out'
well x264 'x264 --quiet -o out.mkv video.y4m'
well openmp "$out/tests/bench/balanced 3"
well server '/usr/sbin/nginx -g "daemon off; pid $PWD/nginx.pid; error_log /dev/null;" & sleep 4; kill $!; wait'
well ffmpeg 'ffmpeg -y -i video.y4m -c:v libx264 -f null -'
