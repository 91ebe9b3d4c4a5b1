#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# screenshots.sh: makes the pictures of doc/ from a recorded profile, with the page as it is built now. O names the build
# directory. The profile is one of tests/programs/indexer.c.
set -eu
out=$(cd "${O:-build}" && pwd)
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$out/quartzctl" html -i tests/cli/recorded/indexer.pb.gz -o "$work/indexer.html" 2>/dev/null

# picture NAME WIDTH HEIGHT SCHEME SCRIPT
picture()
{
	tests/cli/browser.py screenshot "$work/indexer.html" "doc/$1.png" "$2" "$3" "$4" "$5"
	echo "doc/$1.png: $(stat -c %s "doc/$1.png") bytes"
}

picture page 1100 890 light ''
picture page-interval 1100 1010 dark "(() => {
	selectInterval({ from: 28, to: 47 });
	window.scrollTo(0, document.getElementById('timeline').offsetTop - 8);
})()"
