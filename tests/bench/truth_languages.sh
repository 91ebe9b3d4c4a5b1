# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# As truth_grain.sh, with one program for each language, tests/bench/languages/work.*: a serial phase, a hot lock, and a balanced one. They and
# what they are to be told were written down before the first of them was measured; work.py says what it is.
# Rust needs librust-rayon-dev and cargo, Java a JDK.

languages=$here/languages
make_input work-go "go build -o work-go '$languages/work.go'"
make_input Work.class "javac -d . '$languages/Work.java'"
make_input work-rs "mkdir -p rs/.cargo && cp '$languages/work.rs' '$languages/Cargo.toml' rs &&
	printf '%s\n' '[source.crates-io]' 'replace-with = \"debian\"' '[source.debian]' 'directory = \"/usr/share/cargo/registry\"' >rs/.cargo/config.toml &&
	(cd rs && cargo build --release --offline) && cp rs/target/release/work work-rs"

# language NAME COMMAND LOCK: the rules and the culprit of its lock.
language()
{
	fix "$1-serial" serial 'parse' "$2 serial" "$2 serial-fixed"
	fix "$1-lock" "$3" "$4" "$2 lock" "$2 lock-fixed"
	well "$1" "$2 balanced"
}

language go ./work-go 'contention|parked|serial' 'update|mutex'
language java 'java -cp . Work' 'contention|parked|imbalance' 'update|Work'
language python "/usr/bin/python3 '$languages/work.py'" 'interpreter' '.'
# V8 puts update into locked, where it has no frame of its own
language node "node '$languages/work.js'" 'contention|parked|imbalance' 'update|locked'
language ruby "ruby '$languages/work.rb'" 'imbalance|interpreter|parked' '.'
language rust ./work-rs 'contention|spinning' 'update|mutex'
