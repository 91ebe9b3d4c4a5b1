# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2154
# Programs with nothing wrong in the size of their steps, the number of their threads or the lines that they share, written
# down before the first of them was measured: none may have a finding about these that promises above 5 %.

grain='steps|fine|handing|shared-line|oversubscribed|few-threads|polling|delayed-ack|round-trips|in_vain|herd|last-job'

# sound NAME COMMAND: what is promised about these, and the first finding of all.
sound()
{
	is_wanted "$1" || return 0
	printf '| %s | %s |\n' "$1" "$(advised "$1" "$2" | jq -r --arg rules "^($grain)$" '
		def shown: "\(.rule) \(.gain_low_ppm / 1e4 | round)..\(.gain_high_ppm / 1e4 | round) %";
		([.findings[] | select((.rule | test($rules)) and .gain_high_ppm > 50000) | shown] | join(", ")) as $wrong |
		"\(if $wrong == "" then "none" else $wrong end) | \(.findings[0] | if . then shown else "nothing" end)"')"
}

echo '| sound program | about grain, above 5 % | the first finding |'
echo '|---|---|---|'
sound pigz 'pigz -p 2 -c data >out'
sound xz 'xz -T2 -1 -c data >out'
sound zstd 'zstd -q -T2 -9 -f -o out data'
sound lbzip2 'lbzip2 -n2 -c data >out'
sound pbzip2 'pbzip2 -p2 -b9 -c data >out'
sound plzip 'plzip -n2 -0 -c data >out'
sound 7z '7z a -bso0 -bsp0 -mx=1 -mmt=2 out.7z data; rm out.7z'
sound sort 'sort --parallel=2 text >out'
sound povray 'povray +Iscene.pov +W640 +H480 +A0.1 +WT2 -D +Oout.png'
sound x264 'x264 --quiet -o out.mkv video.y4m'
sound ffmpeg 'ffmpeg -y -i video.y4m -c:v libx264 -f null -'
sound par2 'rm -f *.par2; par2 create -q -q -t2 -r8 out.par2 video.y4m'
sound flac 'ls sounds/* | xargs -P 2 -I {} sh -c "flac -s -8 -e -f -o out.\$\$.flac {}; rm out.\$\$.flac"'
sound optipng 'ls pictures/* | xargs -P 2 -n 1 optipng -quiet -o2 -simulate'
sound pipes 'cat data | gzip -1 | md5sum >out'
sound git 'git -C repository repack -a -d -f -q --threads=2'
sound openmp "$out/tests/bench/balanced 3"
sound processes '/usr/bin/python3 -c "
from concurrent.futures import ProcessPoolExecutor
def count(n): return sum(i * i for i in range(n))
with ProcessPoolExecutor(2) as pool: print(sum(pool.map(count, [1000000] * 40)))"'
sound node 'node -e "
const { Worker, isMainThread } = require(\"worker_threads\");
const count = \"let n = 0; for (let i = 0; i < 1e9; i++) n += i & 3; console.log(n)\";
for (let i = 0; i < 2; i++) new Worker(count, { eval: true });"'
sound make "make -sj2 -C '$here/../..' O=$WORK/made '$WORK/made/core/libcore.a' >out; rm -rf '$WORK/made'"
