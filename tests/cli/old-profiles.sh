#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# old-profiles.sh: profiles that version 0.1.0 saved give what its own quartzctl printed of them as JSON, which lies
# beside them: the same keys with the same values, in the same order where they are in lists. There may be new keys.
# O names the build directory.
set -u
out=$(cd "${O:-build}" && pwd) || exit 1
cd "$(dirname "$0")/profiles-0.1.0" || exit 1
export TZ=UTC
bad=0 compared=0

differences=$(mktemp) || exit 1
trap 'rm -f "$differences"' EXIT
# shellcheck disable=SC2016 # jq's own
compare='
	def missing($a; $b; $path):
		if ($a | type) != ($b | type) then $path
		elif ($a | type) == "object" then $a | keys[] | . as $k | missing($a[$k]; $b[$k]; $path + "." + $k)
		elif ($a | type) == "array" then
			if ($a | length) != ($b | length) then $path + "[]"
			else range($a | length) | . as $i | missing($a[$i]; $b[$i]; $path + "[\($i)]") end
		elif $a == $b then empty else $path end;
	[missing($old[0]; $new[0]; "")] | .[:5][] | "\($view): differs at \(.)"'

# view VERB PROFILE: all of it, of all scopes where the verb takes them.
view()
{
	local verb

	read -r -a verb <<<"${1/-/ --}"
	"$out/quartzctl" "${verb[@]}" -i "$2" --json -n 0 -s all 2>/dev/null ||
		"$out/quartzctl" "${verb[@]}" -i "$2" --json -n 0
}

for old in *.json.gz; do
	name=${old%.json.gz}
	view "${name#*.}" "${name%%.*}.pb.gz" |
		jq -rn --slurpfile old <(zcat "$old") --slurpfile new /dev/stdin --arg view "$name" "$compare" \
			>"$differences" || echo "$name: cannot be compared" >>"$differences"
	cat "$differences"
	[ ! -s "$differences" ] || bad=1
	compared=$((compared + 1))
done
[ $compared -gt 0 ] || { echo 'no profiles'; bad=1; }
exit $bad
