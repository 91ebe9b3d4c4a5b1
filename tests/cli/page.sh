#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# page.sh: the page of quartzctl html in a headless Chromium: what it shows, what it does, what it must not do.
# O names the build directory.
set -u
out=$(cd "${O:-build}" && pwd) || exit 1
cd "$(dirname "$0")" || exit 1
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || {
	echo "no Chromium here: scripts/deps.sh check installs it"
	exit 77
}
exec python3 page.py "$out"
