# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Real programs built from source with -finstrument-functions: bzip2 and the interpreter of Lua, beside
# gprof's way and as they are. SOURCES is a directory with bzip2-* and lua*-* in it, as `apt-get source
# bzip2 lua5.4` leaves them. Prints processor time as ratios, and what the reports say of calls.

lb=$out/tests/bench/library
sources=${SOURCES:-}
ways=(plain pg floor hooks)
declare -A flags=(
	[plain]='' [pg]=-pg [floor]=-finstrument-functions [hooks]=-finstrument-functions
)

# flags_of COMPILER WAY: clang's hooks can be where -pg is, not in what is put into others.
flags_of()
{
	case $1-$2 in
	clang-floor | clang-hooks) echo -finstrument-functions-after-inlining ;;
	*) echo "${flags[$2]}" ;;
	esac
}

# compile PROGRAM COMPILER WAY FLAGS -- FILE...: one object per file, of which the program is linked.
compile()
{
	local program=$1 compiler=$2 way=$3 own=$4 file objects=() library=() dir

	shift 5
	dir=$T/$program-$compiler-$way
	mkdir -p "$dir"
	for file; do
		# shellcheck disable=SC2046,SC2086
		"$compiler" -O2 -g -w $own $(flags_of "$compiler" "$way") -c -o "$dir/${file##*/}.o" "$file" ||
			fail "$file"
		objects+=("$dir/${file##*/}.o")
	done
	case $way in
	pg) library=(-pg) ;;
	floor) library=("$lb/floor.o") ;;
	hooks) library=("$out/libquartz.a") ;;
	esac
	"$compiler" -o "$dir/program" "${objects[@]}" "${library[@]}" -lm -ldl -pthread || fail "$dir"
}

build_all()
{
	local compiler way file bzip2 lua interpreter=()

	bzip2=$(echo "$sources"/bzip2-*/) lua=$(echo "$sources"/lua*/src/)
	for file in "$bzip2/bzlib.c" "$lua/lapi.c"; do
		[ -r "$file" ] || fail "no sources of bzip2 and Lua in SOURCES=$sources"
	done
	for file in "$lua"/*.c; do
		[ "${file##*/}" = luac.c ] || interpreter+=("$file")
	done
	for compiler in gcc clang; do
		for way in "${ways[@]}"; do
			compile bzip2 $compiler "$way" -D_FILE_OFFSET_BITS=64 -- "$bzip2"/{blocksort,huffman}.c \
				"$bzip2"/{crctable,randtable,compress,decompress,bzlib,bzip2}.c
			compile lua $compiler "$way" -DLUA_USE_LINUX -- "${interpreter[@]}"
		done
	done
}

# What they do: two seconds at most, always the same.
make_work()
{
	local i

	for ((i = 0; i < 4; i++)); do
		cat "$here"/../../{core,daemon,userlib}/*.c
	done >"$T/text"
	cat >"$T/work.lua" <<-'LUA'
		local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
		local words, seed = {}, 42
		for i = 1, 60000 do
			seed = (seed * 1103515245 + 12345) % 2147483648
			words[i] = string.format("%d-%s", seed, string.rep("x", seed % 17))
		end
		table.sort(words)
		local count = {}
		for _, w in ipairs(words) do
			local k = w:gsub("%d", "0"):upper()
			count[k] = (count[k] or 0) + 1
		end
		print(fib(27), #table.concat(words, ","))
	LUA
}

arguments_of()
{
	case $1 in
	bzip2) arguments=(-9 -k -c "$T/text") ;;
	lua) arguments=("$T/work.lua") ;;
	esac
}

# timed LABEL COMMAND...: adds the processor time in the program's own code, in ms, to LABEL.times.
timed()
{
	local label=$1 TIMEFORMAT='%3U'

	shift
	(cd "$T" && { time alone "$@" >/dev/null 2>&1; } 2>&1) | awk '{ print $1 * 1000 }' >>"$T/$label.times"
}

# The same under a quartzd, which is not in the figure.
timed_recorded()
{
	local label=$1

	shift
	# shellcheck disable=SC2016
	(cd "$T" && "$out/quartzd" --private -q --cpu none -o "$T/profile" -- bash -c \
		'TIMEFORMAT=%3U; { time "$@" >/dev/null 2>&1; } 2>&1' - "$@") |
		awk '{ print $1 * 1000 }' >>"$T/$label.times"
}

measure_all()
{
	local program compiler way label

	for program in bzip2 lua; do
		arguments_of $program
		for compiler in gcc clang; do
			label=$program-$compiler
			for way in "${ways[@]}"; do
				timed "$label-$way" "$T/$label-$way/program" "${arguments[@]}"
			done
			for way in plain hooks; do
				timed_recorded "$label-$way-recorded" "$T/$label-$way/program" "${arguments[@]}"
			done
		done
	done
}

# Calls of each procedure, "NAME N", of gprof's flat profile.
calls_by_gprof()
{
	(cd "$T" && rm -f gmon.out && "$1" "${arguments[@]}" >/dev/null 2>&1 && gprof -b -p "$1" gmon.out) |
		awk 'NR > 5 && NF >= 7 && $4 ~ /^[0-9]+$/ { print $7, $4 }' | sort
}

# The same of those procedures by the callers in Quartz's report, "-" where they were never sampled.
calls_by_quartz()
{
	local name calls

	(cd "$T" && "$out/quartzctl" record --cpu none -o "$T/profile" -- "$1" "${arguments[@]}" \
		>/dev/null 2>"$T/record.err") || fail "$(cat "$T/record.err")"
	while read -r name _; do
		calls=$("$out/quartzctl" report -i "$T/profile" --json "$name" 2>/dev/null |
			jq '[.scopes[0].callers[].calls // 0] | add // 0')
		echo "$name ${calls:--}"
	done <"$2" | sort
}

compare_calls()
{
	local program

	for program in bzip2 lua; do
		arguments_of $program
		calls_by_gprof "$T/$program-gcc-pg/program" >"$T/gprof.calls"
		calls_by_quartz "$T/$program-gcc-hooks/program" "$T/gprof.calls" >"$T/hooks.calls"
		join "$T/gprof.calls" "$T/hooks.calls" | awk -v what="$program" '
			$3 == "-" || $3 == 0 { absent++; next }
			$2 == $3 { equal++; calls += $2; next }
			{ other++; others = others " " $1 " " $2 "/" $3 }
			END { printf "%s: %d procedures with the calls that gprof has, %d calls; " \
				"%d others; %d without a row%s\n", what, equal, calls, other, absent,
				others ? ":" others : "" }'
	done
}

if [ -z "$sources" ]; then
	echo 'SOURCES is not set: no programs to build'
else
	build_all
	make_work
	for ((round = 0; round < rounds; round++)); do
		measure_all
	done
	echo '| program | plain | plain, recorded | gprof | empty hooks | hooks, inactive | hooks, recorded |'
	echo '|---|---|---|---|---|---|---|'
	for program in bzip2 lua; do
		for compiler in gcc clang; do
			p=$program-$compiler
			row "$program, $compiler" ms "$p-plain" "$p-plain-recorded" "$p-pg" "$p-floor" "$p-hooks" \
				"$p-hooks-recorded"
		done
	done
	echo
	compare_calls
fi
