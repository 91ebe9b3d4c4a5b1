#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# dist.sh: `make dist` has all files that git knows, and the tree that is in it gives the same bytes again and knows how to make
# all programs; .ci/run makes them. All files that have a version have the one that NEWS.md begins with. O names the build
# directory.
set -u
cd "$(dirname "$0")/../.." || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
unset MAKEFLAGS MAKELEVEL

# step COMMAND...: silent, unless it fails.
step()
{
	"$@" >"$tmp/log" 2>&1 && return
	echo "dist.sh: $* failed:"
	tail -n 20 "$tmp/log"
	exit 1
}

version=$(sed -n '/^## /{ s/^## \([0-9.]*\),.*/\1/p; q }' NEWS.md)
for has in "Makefile:^VERSION := $version$" "dkms.conf:^PACKAGE_VERSION=\"$version\"$" "kmod/Kbuild:\"$version\"" \
	"debian/quartz-dkms.install:/quartz-$version$" "debian/changelog:^quartz ($version)"; do
	step grep -q -e "${has#*:}" "${has%%:*}"
done
step make O="$tmp/first" dist
tar -xz -f "$tmp/first"/quartz-*.tar.gz -C "$tmp" || exit 1
tree=$(echo "$tmp"/quartz-*)
if git rev-parse --git-dir >"$tmp/log" 2>&1; then
	git ls-files | LC_ALL=C sort >"$tmp/known"
	(cd "$tree" && find . ! -type d -printf '%P\n') | LC_ALL=C sort | diff "$tmp/known" - || exit 1
fi
step make -C "$tree" O="$tmp/second" dist
step cmp "$tmp/first"/quartz-*.tar.gz "$tmp/second"/quartz-*.tar.gz
step make -C "$tree" O="$tmp/third" -n all tests
exit 0
