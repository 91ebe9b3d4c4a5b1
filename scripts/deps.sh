#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# deps.sh [GROUP...]: installs the Debian 12 packages of these groups (default: build) that are
# missing. Does nothing, without network or root, when nothing is.
set -u

declare -A groups=(
	[build]="libc6-dev clang bpftool libbpf-dev libelf-dev libdw-dev libcap-dev libcapstone-dev libseccomp-dev
		protobuf-c-compiler libprotobuf-c-dev libjansson-dev zlib1g-dev libiberty-dev
		libmicrohttpd-dev libncurses-dev libunistring-dev
		scdoc"
	# redis-tools, not redis-server: its redis-check-rdb is the server's program too, and
	# nothing starts as a service.
	[check]="check dwz g++ jq python3 linux-perf strace pigz xz-utils sysbench redis-tools golang-go rustc tmux systemd dkms chromium musl-tools libdebuginfod1 ruby"
	[editor]="bear"
	[debug]="bc libelf-dev xz-utils"
	[deb]="debhelper dh-dkms"
	[ci]="git zsh clang-format-14 clang-tidy-14 shellcheck sparse libomp-dev"
)

fail()
{
	echo "deps.sh: $*" >&2
	exit 1
}

# Sets `wanted` to those of the packages that dpkg does not know as installed, in one question.
find_missing()
{
	local -A settled
	local state package

	while read -r state package; do
		[ "$state" != installed ] || settled[$package]=1
	done <<<"$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null)"
	wanted=()
	for package; do
		[ -n "${settled[$package]-}" ] || wanted+=("$package")
		settled[$package]=1
	done
}

apt()
{
	DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 "$@"
}

install_packages()
{
	local log

	log=$(mktemp) || exit 1
	# An update that fails for some source only can still be enough; if not, the log has both.
	apt update >"$log" 2>&1 || echo "apt-get update failed" >>"$log"
	if ! apt install --no-install-recommends "$@" >>"$log" 2>&1 </dev/null; then
		tail -n 20 "$log" >&2
		rm -f "$log"
		fail "cannot install: $*"
	fi
	rm -f "$log"
}

packages=()
for group in "${@:-build}"; do
	[ -n "${groups[$group]-}" ] || fail "no group '$group'; there are: ${!groups[*]}"
	read -r -d '' -a names <<<"${groups[$group]}"
	packages+=("${names[@]}")
done

command -v dpkg-query >/dev/null ||
	fail "no dpkg here; install the equivalents of: ${packages[*]}"
find_missing "${packages[@]}"
[ ${#wanted[@]} -gt 0 ] || exit 0
command -v apt-get >/dev/null || fail "no apt-get here; please install: ${wanted[*]}"
[ "$(id -u)" = 0 ] || fail "not root; please run: apt-get install ${wanted[*]}"
echo "installing ${wanted[*]}"
install_packages "${wanted[@]}"
