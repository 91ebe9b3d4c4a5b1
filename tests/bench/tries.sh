# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# What `quartzctl advise --try` finds by itself: programs whose fix changes no source, each with the remedy that is known to help, and
# programs of Debian that nothing is wrong with, and trials of changes that change nothing. FOR is how long each is tried [60s], ONLY a pattern of the names of cases, WORK keeps what they read. See doc/try.md.

[ -d "${WORK-}" ] || fail 'WORK does not name a directory with a gigabyte of room'
cd "$WORK" || fail "$WORK"
# shellcheck source=tests/bench/truth_inputs.sh
. "$here/truth_inputs.sh"

# what_helped REMEDY: of a document, of the trial that helped most and of the best one with the remedy: change, range, gain, ±, pairs.
what_helped()
{
	jq -r --arg remedy "$1" '
		def percent: if . == null then "-" else . / 1e4 | round end;
		def row: "\(.remedies | map(.name) | join(" ") | .[:40]) | \(if .predicted_low_ppm then
				"\(.predicted_low_ppm | percent)..\(.predicted_high_ppm | percent) %" else "-" end) | " +
			"\(.gain_ppm | percent) ± \(.gain_ci_ppm | percent) | \(.pairs) | \(.verdict)";
		(.trials | map(select((.remedies | length) == 1))) as $single |
		($single | map(select((.remedies[0].change | test($remedy)) and .gain_ppm != null)) | max_by(.gain_ppm)) as $known |
		($single | map(select(.verdict == "helps")) | max_by(.gain_ppm)) as $best |
		"\(if $known then $known | row else "not tried | - | - | - | -" end) | " +
		"\(if $best then "\($best.remedies[0].name) \($best.gain_ppm | percent) %" else "nothing" end)"'
}

# try_case NAME REMEDY [OPTION]... -- COMMAND...
try_case()
{
	local name=$1 remedy=$2

	shift 2
	is_wanted "$name" || return 0
	XDG_DATA_HOME=$T "$out/quartzctl" advise --try --for "${FOR-60s}" --json "$@" >"$T/try.json" 2>"$T/try.err" </dev/null ||
		{ echo "| $name | $(tail -n 1 "$T/try.err")"; return 0; }
	echo "| $name | $(what_helped "$remedy" <"$T/try.json") |"
}

grain=$here/grain
make_input nested "gcc -O2 -g -fopenmp -o nested '$grain/nested.c'"
for program in arena random thread_a_task answers; do
	make_input $program "gcc -O2 -g -pthread -o $program '$grain/$program.c' -lm"
done
make_sources()
{
	local i k

	mkdir -p units
	for ((i = 0; i < 12; i++)); do
		for ((k = 0; k < 300; k++)); do
			echo "int f$k(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * $k; return s; }"
		done >units/$i.c
	done
	printf 'all: $(patsubst %%.c,%%.o,$(wildcard *.c))\n%%.o: %%.c\n\tgcc -O2 -c -o $@ $<\n' >units/Makefile
}
export -f make_sources
make_input units make_sources

echo "| program | known | predicted | gain, % | pairs | verdict | best |"
echo '|---|---|---|---|---|---|---|'
try_case nested OMP_THREAD_LIMIT -- ./nested 2
try_case multiply OPENBLAS_NUM_THREADS -- /usr/bin/python3 "$grain/multiply.py"
try_case arena 'jemalloc|tcmalloc|mimalloc' -- ./arena
try_case random '^taskset|processor' -- ./random 0
try_case thread-a-task '^taskset|processor' -- ./thread_a_task 1
try_case answers '32' -k 'threads:4,8,32:./answers {}' -- ./answers 4
try_case make-j8 '2' -k 'jobs:8,4,2:make -B -C units -j{}' -- make -B -C units -j8
try_case ffmpeg-8 '2' -k 'threads:8,4,2:ffmpeg -loglevel error -threads {} -i video.mkv -f null -' -- \
	ffmpeg -loglevel error -threads 8 -i video.mkv -f null -

# Of the sets of truth_first.sh and truth_second.sh, those whose fix is an option or a variable of the command itself.
fix() { :; }
well() { :; }
{
	# shellcheck source=tests/bench/truth_first.sh
	. "$here/truth_first.sh"
	# shellcheck source=tests/bench/truth_second.sh
	. "$here/truth_second.sh"
} >/dev/null
make_input lines 'head -n 2000000 text >lines'
make_input pieces 'mkdir pieces && split -n 8 data pieces/'
make_input half 'head -c 48M data >half'
try_case zstd-T1 'T ?2' -- zstd -q -12 -T1 -c half
try_case sort-1 'parallel=2' -- sort --parallel=1 -S 800M lines -o /dev/null
try_case povray-WT1 'WT2' -- povray +Iscene.pov +W480 +H360 +A0.1 +WT1 -D -GA +O/dev/null
try_case ffmpeg-1 'threads 2' -- ffmpeg -loglevel error -threads 1 -i video.mkv -f null -
# what it writes depends on the number of threads
try_case 7z-1 'mmt=2' --check 'xz -t' -- 7z a -bso0 -bsp0 -txz -mx=3 -mmt=1 -so out half
try_case plzip-1 'n ?2' -- plzip -n1 -1 -c pieces/aa
try_case lbzip2-1 'n ?2' -- lbzip2 -n1 -c pieces/aa
try_case lxml-arena 'jemalloc|tcmalloc|mimalloc' -- env MALLOC_ARENA_MAX=1 /usr/bin/python3 -c "$parse"
try_case lxml-html 'jemalloc|tcmalloc|mimalloc' -- env MALLOC_ARENA_MAX=1 /usr/bin/python3 -c "$pages"
try_case ffmpeg-slices 'threads 1' -- ffmpeg -loglevel error -y -i tiny.y4m -c:v mpeg2video -threads 2 -thread_type slice -f null -
try_case x264-slices 'threads 1' -- x264 --quiet --sliced-threads --threads 2 --preset ultrafast -o /dev/null tiny.y4m

# Programs of Debian that were in no set before: of packages whose name is that of a program and whose short description has "parallel" or
# "multithreaded", those that work on files of this machine alone, in order of their names. Nothing is known to be wrong with them.
make_input jobs 'ls pieces/?? | sed "s/.*/gzip -1 -c & >\/dev\/null/" >jobs'
make_input scene.dat "printf '%s\n' BEGIN_SCENE 'RESOLUTION 1200 900' CAMERA 'ZOOM 1.0' 'ASPECTRATIO 1.0' 'ANTIALIASING 3' 'RAYDEPTH 12' \
	'CENTER 0.0 0.0 -6.0' 'VIEWDIR 0.0 0.0 1.0' 'UPDIR 0.0 1.0 0.0' END_CAMERA 'LIGHT CENTER 4.0 3.0 -6.0 RAD 0.2 COLOR 1.0 1.0 1.0' \
	'SPHERE CENTER 0.0 0.0 5.0 RAD 2.0 TEXTURE AMBIENT 0.1 DIFFUSE 0.7 SPECULAR 0.4 OPACITY 0.9 COLOR 1.0 0.5 0.2 TEXFUNC 0' \
	'SPHERE CENTER -2.0 1.0 3.0 RAD 1.0 TEXTURE AMBIENT 0.1 DIFFUSE 0.7 SPECULAR 0.6 OPACITY 1.0 COLOR 0.2 0.5 1.0 TEXFUNC 0' END_SCENE >scene.dat"
make_input proteins 'zcat /usr/share/doc/plast-example/db/sapiens_1Mo.fa.gz >proteins'
make_input queries 'zcat /usr/share/doc/plast-example/db/query.fa.gz >queries'

make_input functions.c 'for k in {1..300}; do
	echo "int f$k(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * $k; return s; }"; done >functions.c'
make_input interesting "printf '%s\n' '#!/bin/sh' 'grep -q \"i . 7;\" case.c && gcc -fsyntax-only case.c 2>/dev/null' >interesting &&
	chmod +x interesting"

try_case cvise . -- sh -c 'cp functions.c case.c && cvise --n 2 --pass-group delta ./interesting case.c >/dev/null 2>&1'
try_case ParaFly . -- sh -c 'rm -f jobs.completed && ParaFly -c jobs -CPU 2 >/dev/null 2>&1'
try_case paexec . -- sh -c 'ls pieces/?? | paexec -x -n +2 -c "gzip -1 -k -f" >/dev/null'
try_case parallel . -- parallel -j2 -a jobs
try_case pexec . -- pexec -n 2 -f pieces/?? -c -e f -o - -- 'gzip -1 -c $f | cksum'
try_case pixz . -- sh -c 'pixz -p 2 -1 <pieces/aa >/dev/null'
try_case plast . -- sh -c 'plast -p plastp -d proteins -i queries -a 2 -o plast.out >/dev/null'
try_case tachyon . -- tachyon-nox scene.dat -numthreads 2 -o /dev/null
try_case xjobs . -- sh -c 'ls pieces/?? | xjobs -j 2 -- gzip -1 -k -f >/dev/null 2>&1'
try_case parsort . -- parsort --parallel=2 text -o /dev/null

# What is told of values that change nothing, in twenty tries: by chance it helps in one of them at most.
# same_case NAME LINE
same_case()
{
	is_wanted "same-$1" || return 0
	XDG_DATA_HOME=$T "$out/quartzctl" advise --try --for "${FOR-60s}" --json -k "same:0,1,2,3,4:true {} && $2" -- sh -c "true 0 && $2" \
		>"$T/try.json" 2>"$T/try.err" </dev/null || { echo "| same-$1 | $(tail -n 1 "$T/try.err")"; return 0; }
	jq -r --arg name "$1" '[.trials[] | select(.remedies | length == 1) | select(.gain_ppm != null and (.remedies[0].change | test("true [0-4] &&")))] |
		"| same-\($name) | \(map("\(.gain_ppm / 1e4 | round) ± \(.gain_ci_ppm / 1e4 | round) \(.verdict)") | join(", ")) |"' "$T/try.json"
}

echo
echo '| program | gain, % and verdict of values that change nothing |'
echo '|---|---|'
for round in 1 2; do
	same_case "xz-$round" 'xz -T2 -0 -c pieces/aa >/dev/null'
	same_case "zstd-$round" 'zstd -q -T2 -3 -c pieces/aa >/dev/null'
	same_case "pigz-$round" 'pigz -c pieces/aa >/dev/null'
	same_case "lbzip2-$round" 'lbzip2 -n2 -c pieces/aa >/dev/null'
	same_case "flac-$round" 'flac -s -c sounds/1.wav >/dev/null'
	same_case "sort-$round" 'sort --parallel=2 -S 100M lines -o /dev/null'
	same_case "ffmpeg-$round" 'ffmpeg -loglevel error -threads 2 -i video.y4m -f null -'
	same_case "numpy-$round" "/usr/bin/python3 -c 'import numpy; a = numpy.ones((900, 900)); [a @ a for i in range(9)]'"
	same_case "sqlite-$round" 'sqlite3 :memory: "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000000) SELECT sum(i) FROM n"'
	same_case "gcc-$round" 'gcc -O2 -c -o /dev/null units/1.c'
done
