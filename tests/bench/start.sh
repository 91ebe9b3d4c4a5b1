# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2154
# What record costs programs that have just begun, and how whole the stacks of their first moments are. Each round runs a
# program alone, then recorded twice: with an empty cache, and with what that run has kept; and, where OTHER names
# the build directory of another version, as often with that one, in turns. WORK chooses programs.
#
# x: the program's own time, recorded, by its time alone. Own CPU: processor time of all processes of a recording, less that of
# the program alone, by a control group of their own. Whole: samples whose stack reached the outermost frame. Had: in how many
# recordings the first lines say that Quartz took processors that the program wanted, and the most of it.

read -ra works <<<"${WORK-true numpy shell gcc node java}"
builds=(this)
declare -A at=([this]=$out)
[ -z "${OTHER-}" ] || {
	builds+=(other)
	at[other]=$(cd "$OTHER" && pwd)
}
declare -A commands=(
	[true]='true'
	[numpy]='/usr/bin/python3 "$T/multiply.py"'
	[shell]='i=0; while [ $i -lt 150 ]; do awk "BEGIN { for (i = 0; i < 30000; i++) s += i }"; i=$((i + 1)); done'
	[gcc]='gcc -O2 -c -o "$T/large.o" "$T/large.c"'
	[node]='node "$T/sum.js"'
	[java]='java -cp "$T" Sum'
)

prepare_files()
{
	local i

	cat >"$T/multiply.py" <<-'END'
		import numpy, os
		def work():
		    a = numpy.random.rand(256, 256)
		    for _ in range(150):
		        a = (a @ a) * 1e-3
		for _ in range(4):
		    if not os.fork():
		        work()
		        os._exit(0)
		for _ in range(4):
		    os.wait()
	END
	echo 'int g[64];' >"$T/large.c"
	for ((i = 0; i < 150; i++)); do
		cat <<-END
			int f$i(int a, int b, int *p)
			{
				int s = g[$((i % 64))];
				for (int i = 0; i < a; i++) {
					s += p[i] * b + $i;
					if (s > $((i * 7)))
						s ^= f$((i ? i - 1 : 0))(i, s, p + 1);
				}
				return s;
			}
		END
	done >>"$T/large.c"
	cat >"$T/sum.js" <<-'END'
		let n = 0;
		for (const until = Date.now() + 1000; Date.now() < until;)
			n += JSON.parse(JSON.stringify([...Array(200).keys()])).length;
	END
	cat >"$T/Sum.java" <<-'END'
		public class Sum {
			public static void main(String[] args) {
				java.util.Map<String, Integer> m = new java.util.HashMap<>();
				for (int i = 0; i < 3000000; i++)
					m.merge("k" + i % 5000, 1, Integer::sum);
			}
		}
	END
	[[ " ${works[*]} " != *' java '* ]] || javac -d "$T" "$T/Sum.java" || fail javac
}

unified=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
group=$unified/quartz-bench.$$
if [ -z "$unified" ] || ! mkdir "$group"; then
	fail 'no control group can be made'
fi
trap 'rmdir "$group" 2>/dev/null; clean_up' EXIT

# all COMMAND...: sets cpu_ms, the processor time of all that it starts, and own_us, what the program takes.
all()
{
	local before after

	before=$(awk '/^usage_usec/ { print $2 }' "$group/cpu.stat")
	T=$T bash -c 'echo $$ >"$0" && exec "$@"' "$group/cgroup.procs" "$@" >"$T/work.out" 2>"$T/work.err" </dev/null ||
		fail "status $? of $*: $(tail -n 3 "$T/work.err")"
	while grep -q . "$group/cgroup.procs"; do sleep 0.01; done
	after=$(awk '/^usage_usec/ { print $2 }' "$group/cpu.stat")
	cpu_ms=$(awk "BEGIN { print ($after - $before) / 1000 }")
	own_us=$(cat "$T/own")
}

# Within what is recorded, as alone.
timed='cd "$T" && t=${EPOCHREALTIME/./}; bash -c "$1"; s=$?; echo $((${EPOCHREALTIME/./} - t)) >"$T/own"; exit $s'

# recorded LABEL WORK: adds to the files of the label.
recorded()
{
	local label=$1

	all "${at[${label%-*}]}/quartzctl" record --cpu none -o "$T/profile" -- bash -c "$timed" - "${commands[$2]}"
	awk "BEGIN { print $own_us / $alone_us }" >>"$T/$label.ratio"
	awk "BEGIN { print $cpu_ms - $alone_cpu }" >>"$T/$label.cpu"
	"$out/quartzctl" report -i "$T/profile" --json 2>/dev/null | jq -r '.scopes[0] |
		"\([.stack_ends | .outermost, .guessed] | add // 0) \(.samples)"' >>"$T/$label.whole"
	{ tr '\n' ' '; echo; } <"$T/work.err" | sed -n 's/quartzctl: //g; s/.*Quartz *\(itself\)\? *had \([0-9.]*[0-9]\).*/\2/p' >>"$T/$label.had"
}

figures()
{
	local label=$1 ratio least most cpu

	read -r ratio least most < <(median "$T/$label.ratio")
	read -r cpu _ < <(median "$T/$label.cpu")
	printf ' %.3f (%.3f..%.3f) | %.0f | %s | %s |' "$ratio" "$least" "$most" "$cpu" \
		"$(awk '{ w += $1; n += $2 } END { printf "%.1f", n ? 100 * w / n : 100 }' "$T/$label.whole")" \
		"$(sort -g "$T/$label.had" | awk '{ m = $1 } END { print NR ? NR ", " m : 0 }')"
}

labels=()
for build in "${builds[@]}"; do
	labels+=("$build-first" "$build-second")
done
prepare_files
printf '| program | ms |'
printf ' %s: x | own CPU, ms | whole %% | had |' "${labels[@]}"
printf '\n|---|---|'
printf -- '---|---|---|---|%.0s' "${labels[@]}"
echo
for work in "${works[@]}"; do
	rm -f "$T"/*.ratio "$T"/*.cpu "$T"/*.whole "$T"/*.had "$T/alone.times"
	for label in "${labels[@]}"; do : >"$T/$label.had"; done
	for ((round = -1; round < rounds; round++)); do
		all bash -c "$timed" - "${commands[$work]}"
		alone_us=$own_us alone_cpu=$cpu_ms
		[ $round -ge 0 ] || continue # files are in memory from now on
		echo "$alone_us" >>"$T/alone.times"
		order=("${builds[@]}")
		[ $((round % 2)) = 0 ] || mapfile -t order < <(printf '%s\n' "${builds[@]}" | tac)
		for build in "${order[@]}"; do
			export QUARTZ_CACHE_DIR=$T/cache-$build
			rm -rf "$QUARTZ_CACHE_DIR"
			recorded "$build-first" "$work"
			recorded "$build-second" "$work"
		done
	done
	read -r alone_us _ < <(median "$T/alone.times")
	printf '| %s | %.0f |' "$work" "$((${alone_us%.*} / 1000))"
	for label in "${labels[@]}"; do
		figures "$label"
	done
	echo
done
unset QUARTZ_CACHE_DIR
