# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# What a change costs: this build beside another one, whose build directory OTHER names, in one series.

kinds=(clock futex-threads pipe-processes getppid fork thread)
declare -A slices=([fork]=25 [thread]=30)
[ -x "${OTHER-}/quartzd" ] || fail 'OTHER does not name the build directory of another version'
declare -A builds=([this]=$out [other]=$(cd "$OTHER" && pwd))

# beat_all LABEL: a median of each kind of work, to LABEL.WORK.
beat_all()
{
	local kind

	for kind in "${kinds[@]}"; do
		beat "$kind" "${slices[$kind]-40}"
		echo "$beaten" >>"$T/$1.$kind"
	done
}

milliseconds()
{
	echo $((($1 - $2) / 1000))
}

# How long until it is attached, the processor time that this took, what it costs others, and its memory.
attached()
{
	local began=${EPOCHREALTIME/./} out=${builds[$1]}

	start_quartzd --tree "${beats%% *}"
	milliseconds "${EPOCHREALTIME/./}" "$began" >>"$T/$1.start"
	awk '{ print ($14 + $15 + $16 + $17) * 10 }' "/proc/$pid/stat" >>"$T/$1.start-cpu"
	sleep 0.3
	beat_all "$1"
	sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status" >>"$T/$1.peak"
	awk '{ print ($14 + $15) * 10 }' "/proc/$pid/stat" >>"$T/$1.run-cpu"
	stop
}

# report LABEL: of one profile, that of the other version.
reported()
{
	local began=${EPOCHREALTIME/./}

	"${builds[$1]}/quartzctl" report -i "$T/common" --json >"$T/$1.json" || fail "$1: no report"
	milliseconds "${EPOCHREALTIME/./}" "$began" >>"$T/$1.report"
}

# ratios A B: of two files of as many figures, line by line.
ratios()
{
	paste "$1" "$2" | awk '{ print $2 / ($1 ? $1 : 1) }' | median
}

# compared WHAT A B [ALONE]
compared()
{
	local a b ratio least most alone=

	read -r a _ < <(median "$T/$2")
	read -r b _ < <(median "$T/$3")
	read -r ratio least most < <(ratios "$T/$2" "$T/$3")
	[ -z "${4-}" ] || read -r alone _ < <(median "$T/$4")
	printf '| %s | %s | %s | %s | %.3f | %.3f..%.3f |\n' "$1" "$alone" "$a" "$b" "$ratio" "$least" "$most"
}

"${builds[other]}/quartzctl" record --cpu none -o "$T/common" -- "$out/tests/programs/threads_churn" 3000 8 \
	>/dev/null 2>"$T/common.err" || fail "$(cat "$T/common.err")"
start_beat
for ((round = 0; round < rounds; round++)); do
	beat_all alone
	order=(other this)
	[ $((round % 2)) = 0 ] || order=(this other)
	for label in "${order[@]}"; do
		attached "$label"
		reported "$label"
	done
done
end_beat
echo "after the rounds: load $(cut -d' ' -f1-3 /proc/loadavg)"
echo '| what | alone | other | this | this / other | min..max |'
echo '|---|---|---|---|---|---|'
for kind in "${kinds[@]}"; do
	compared "$kind, ns" "other.$kind" "this.$kind" "alone.$kind"
done
compared 'until attached, ms' other.start this.start
compared 'processor time until attached, ms' other.start-cpu this.start-cpu
compared 'processor time of quartzd, ms' other.run-cpu this.run-cpu
compared 'peak memory of quartzd, KiB' other.peak this.peak
compared 'report, ms' other.report this.report
