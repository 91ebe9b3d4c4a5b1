#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# completion.sh: what the made completions offer, as a shell asks for it. O names the build directory.
set -u
out=${O:-build}
bad=0

# offers PROGRAM WORD... = EXPECTED...: what bash offers for the last of the words is all that is expected.
offers()
{
	local program=$1 words=() expected

	shift
	while [ "$1" != = ]; do
		words+=("$1")
		shift
	done
	shift
	expected=$(printf '%s\n' "$@" | sort)
	# shellcheck disable=SC1090,SC2034
	actual=$(
		. "$out/completion/$program" || exit
		COMP_WORDS=("$program" "${words[@]}") COMP_CWORD=${#words[@]} COMPREPLY=()
		"_${program//-/_}" "$program" "${words[-1]}" "${COMP_WORDS[-2]}"
		printf '%s\n' "${COMPREPLY[@]}" | sort -u
	)
	[ "$actual" = "$expected" ] || {
		echo "$program ${words[*]}: offers '${actual//$'\n'/ }', not '${expected//$'\n'/ }'"
		bad=1
	}
}

cd "$(dirname "$0")/../.." || exit 1
offers quartzctl ver = version
offers quartzctl report --col = --color
offers quartzctl report --color '' = always auto never
offers quartzctl record --cpu '' = auto none
offers quartzctl record -o "$out/completi" = "$out/completion"
offers quartzctl record -- mkfif = mkfifo
# profiles: those here, and those that are kept
kept=$(mktemp -d) || exit 1
trap 'rm -rf "$kept"' EXIT
mkdir -p "$kept/profiles" "$kept/here"
touch "$kept/profiles/kept.pb.gz" "$kept/here/a b.pb.gz" "$kept/here/a.txt"
export QUARTZ_STATE_DIR=$kept
offers quartzctl report -i "$kept/here/a" = "$kept/here/a b.pb.gz"
offers quartzctl report "$kept/here/a" = "$kept/here/a b.pb.gz"
offers quartzctl diff "$kept/here/a" = "$kept/here/a b.pb.gz"
offers quartzctl advise -i "$kept/profiles/k" = "$kept/profiles/kept.pb.gz"
offers quartzctl replay "$kept/here/a.t" = ''
offers quartzctl scale --from "$kept/here/a.t" = "$kept/here/a.txt"
offers quartzctl report -i /quartz-no- = ''
offers quartzd --sys = --system
offers quartz-exporter --by c = cgroup comm

# Each verb, and each option of it.
for verb in $("$out/quartzctl" help | sed -nE 's/^  ([a-z-]+) .*/\1/p'); do
	offers quartzctl "$verb" = "$verb"
	[ "$verb" != help ] || continue
	mapfile -t options < <("$out/quartzctl" "$verb" --help | grep -oE -- '^  (-., |    )--[a-z-]+' | grep -oE -- '--.*')
	offers quartzctl "$verb" -- = "${options[@]}"
done

for file in "$out"/completion/_*; do
	command -v zsh >/dev/null || { echo "no zsh here: its completions were not read"; break; }
	zsh -fn "$file" || bad=1
done
exit $bad
