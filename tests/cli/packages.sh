#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# packages.sh: each file that `make install` brings is in exactly one of the Debian packages, and a server needs no
# library that only people or other machines have a use for; templates are filled in, and systemd takes the units. O names
# the build directory.
set -u
out=$(cd "${O:-build}" && pwd) || exit 1
cd "$(dirname "$0")/../.." || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
bad=0

# wrong WORDS...
wrong()
{
	echo "packages.sh: $*"
	bad=1
}

# As debian/rules has it.
env -u MAKEFLAGS -u MAKELEVEL make O="$out" DESTDIR="$tmp/root" prefix=/usr unitdir=/lib/systemd/system install \
	>"$tmp/log" 2>&1 || {
	cat "$tmp/log"
	exit 1
}
find "$tmp/root" ! -type d -printf '%P\n' | sort >"$tmp/installed"
: >"$tmp/packed"
for list in debian/*.install; do
	package=$(basename "$list" .install)
	[ "$package" != quartz-dkms ] || continue
	grep -qx "Package: $package" debian/control || wrong "$list: no such package"
	while read -r path; do
		grep -E "^$path(/|$)" "$tmp/installed" >>"$tmp/packed" || wrong "$list: nothing is installed at $path"
	done <"$list"
done
sort "$tmp/packed" | diff "$tmp/installed" - >"$tmp/difference" ||
	wrong "not in one package (< in none, > in several):" "$(cat "$tmp/difference")"
for package in $(sed -n 's/^Package: //p' debian/control); do
	[ -e "debian/$package.install" ] || wrong "debian/control: $package has no files"
done
for doc in README.md NEWS.md SECURITY.md doc/*.md; do
	cmp -s "$doc" "$tmp/root/usr/share/doc/quartz/$doc" || wrong "$doc is not installed"
done
for program in usr/sbin/quartzd usr/libexec/quartz/quartz-symbolizer; do
	readelf -d "$tmp/root/$program" >"$tmp/needed" || wrong "no $program"
	grep -q 'NEEDED.*libc.so' "$tmp/needed" || wrong "$program needs nothing"
	! grep -E 'NEEDED.*(microhttpd|ncurses|tinfo)' "$tmp/needed" || wrong "$program needs what servers do not"
done
# What was made of a template has no place left to fill in.
grep -rIlE '@[a-z]+@' "$tmp/root" >"$tmp/templates" && wrong "places are left in" "$(cat "$tmp/templates")"
# Whatever systemd has to say of the units, but that the programs are not where they will be.
if command -v systemd-analyze >/dev/null; then
	mkdir "$tmp/units"
	for unit in "$tmp/root/lib/systemd/system"/*.service; do
		sed "s|^ExecStart=|&$tmp/root|" "$unit" >"$tmp/units/${unit##*/}"
	done
	[ "$(find "$tmp/units" -name '*.service' | wc -l)" = 2 ] || wrong 'not two units'
	systemd-analyze --man=no --recursive-errors=no verify "$tmp/units"/*.service >"$tmp/verified" 2>&1 &&
		[ ! -s "$tmp/verified" ] || wrong 'systemd on the units:' "$(cat "$tmp/verified")"
fi
exit $bad
