# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# quartzd as a service: settings, what it tells the service manager, pauses and reloads.

# serve OPTION...: a quartzd --system that is ready when this returns, with a manager; sets daemon.
serve()
{
	mkdir -p etc/quartzd.conf.d
	rm -f notify
	start manager "$here/notified.py" "$T/notify"
	await manager.out listening
	NOTIFY_SOCKET=$T/notify WATCHDOG_USEC=1000000 start quartzd "$out/quartzd" --system "$@"
	daemon=$pid
	told READY=1 1
}

# told WORDS N: until the manager was told so N times.
told()
{
	local i

	for ((i = 0; i < 1200; i++)); do
		[ "$(grep -c -e "$1" manager.out)" -lt "$2" ] || return 0
		kill -0 "$daemon" 2>/dev/null || break
		sleep 0.05
	done
	[ "$(grep -c -e "$1" manager.out)" -ge "$2" ] ||
		fail "the manager was not told $1 $2 times" "$(cat manager.out quartzd.err)"
}

# control STATUS COMMAND: it may be late on a busy machine.
control()
{
	local i

	for ((i = 0; i < 10; i++)); do
		"$out/quartzctl" "$2" >control.out 2>control.err
		status=$?
		grep -q 'does not answer' control.err || break
	done
	[ "$status" = "$1" ] || fail "$2 ended with status $status" "$(cat control.err)"
}

# state FILTER: holds of the status.
state()
{
	local i

	for ((i = 0; i < 10; i++)); do
		"$out/quartzctl" status --json >status.json 2>status.err && break
	done
	jq -e "$1" status.json >state.out || fail "not so: $1" "$(cat status.json)"
}

snapshots()
{
	find state/profiles -name '*.pb.gz' | wc -l
}

settings_count()
{
	start_busy 1 # idle processors are not sampled
	mkdir -p etc/quartzd.conf.d
	printf '# mine\nrate = 49\ncpu=none\n\nwoken = yes\n' >etc/quartzd.conf
	printf 'rate = 29\n woken = no \n' >etc/quartzd.conf.d/10.conf
	printf 'rate = 1\n' >etc/quartzd.conf.d/other
	serve
	state '.rate_hz == 29 and .state == "running"'
	sleep 0.5 # the first sample comes some periods after the start
	kill -TERM "$daemon"
	finished
	grep -q STOPPING=1 manager.out || fail 'the manager was not told of the end'
	serve --rate 19
	state '.rate_hz == 19'
	sleep 0.5
	kill -TERM "$daemon"
	finished
}

# Whatever the status tells is told of in the man page, and in a pause what that says of pauses.
status_is_documented()
{
	local page=$here/../../man/quartzctl.1.scd

	serve --cpu none
	sed -n '/^## quartz.status/,/^# /s/^\*/&/p' "$page" | grep -o '[a-z_]*' | sort >told
	state '.schema == "quartz.status/v1" and .state == "running"'
	jq -r 'keys[] | select(. != "schema")' status.json | sort | diff - told >difference ||
		fail 'not as in quartzctl(1)' "$(cat difference)"
	control 0 pause
	state '.state == "paused" and (keys == ["cpu_ns", "pid", "schema", "state", "version"])'
	kill -TERM "$daemon"
	finished
}

# wrong LINE WORDS: refused with status 6 and one line that names the place.
wrong()
{
	printf '\n%s\n' "$1" >etc/quartzd.conf
	"$out/quartzd" --system >wrong.out 2>wrong.err
	status=$?
	[ $status = 6 ] || fail "status $status for $1"
	[ "$(wc -l <wrong.err)" = 1 ] && grep -q "etc/quartzd.conf:2: .*$2" wrong.err ||
		fail "not one line on '$2'" "$(cat wrong.err)"
}

wrong_settings()
{
	mkdir -p etc
	wrong 'rate = much' 'not an integer'
	wrong 'rate' 'NAME = VALUE'
	wrong 'speed = 1' "unknown setting 'speed'"
	wrong 'output = /etc/passwd' "unknown setting 'output'"
	wrong 'woken = perhaps' 'neither yes nor no'
	printf 'rate = 49\n' >etc/quartzd.conf
	chmod go+w etc/quartzd.conf
	"$out/quartzd" --system >wrong.out 2>wrong.err
	status=$?
	[ $status = 6 ] && grep -q 'others than root can write it' wrong.err ||
		fail "a file that anybody can write: status $status" "$(cat wrong.err)"
	"$out/quartzd" --system --config "$T/none" >wrong.out 2>wrong.err
	status=$?
	[ $status = 6 ] || fail "a file that is not there: status $status"
}

pause_and_resume()
{
	serve --cpu none --rate 49
	control 0 pause
	told STATUS=paused 1
	[ "$(snapshots)" = 1 ] || fail 'no snapshot of the time before the pause'
	state '.state == "paused"'
	[ -z "$(grep -hs link_id "/proc/$daemon/fdinfo/"*)" ] || fail 'something is attached in a pause'
	control 1 ps
	grep -q paused control.err || fail 'it is not said that it is paused' "$(cat control.err)"
	control 0 resume
	told READY=1 2
	state '.state == "running" and .rate_hz == 49'
	told WATCHDOG=1 2
	kill -TERM "$daemon"
	finished
	[ "$(snapshots)" = 2 ] || fail 'no snapshot of the time after the pause'
}

# Both stand still for longer than the watchdog allows, and no quartzd reads the figures meanwhile.
stopped()
{
	local began before
	export QUARTZ_WATCHDOG_SECONDS=10 # the least that it takes

	start_busy 1
	began=$(date +%s%N) # before it is attached, which is seen later than it is so
	start single "$out/quartzd" --private --pid "$busy" --cpu none --output profile
	single=$pid
	await single.err 'attached to'
	serve --cpu none
	kill -STOP "$single" "$daemon"
	sleep 11
	before=$(date +%s%N)
	kill -CONT "$single" "$daemon"
	ended "$single"
	# what it did not measure is a failure, and what it has measured is saved
	[ "$status" = 1 ] || fail "it ended with status $status" "$(cat single.err)"
	grep -q 'did not run for more than 10 s' single.err || fail 'it says nothing' "$(cat single.err)"
	lawful
	expect 'what was measured until then, and nothing after' '.scopes[0].elapsed_ns | . >= 10e9 and . < $most' \
		--argjson most $((before - began))
	told READY=1 2
	[ "$(snapshots)" = 1 ] || fail 'no snapshot of the time before it was stopped'
	state ".state == \"running\" and .window_ns < $(date +%s%N) - $before"
	kill -TERM "$daemon"
	finished
	[ "$(snapshots)" = 2 ] || fail 'no snapshot of the time after it was stopped'
}

reload()
{
	serve --cpu none
	state '.rate_hz == 99'
	echo 'rate = 39' >etc/quartzd.conf.d/10.conf
	control 0 reload
	told 'RELOADING=1 MONOTONIC_USEC=' 1
	told READY=1 2
	state '.rate_hz == 39'
	echo 'rate = none' >etc/quartzd.conf.d/20.conf
	control 1 reload
	grep -q '20.conf:1: rate:' control.err || fail 'not about the line' "$(cat control.err)"
	kill -HUP "$daemon"
	await quartzd.err 'as before'
	state '.rate_hz == 39 and .state == "running"'
	[ "$(snapshots)" = 1 ] || fail 'wrong settings ended the measurement'
	echo 'rate = 59' >etc/quartzd.conf.d/20.conf
	kill -HUP "$daemon"
	told READY=1 3
	state '.rate_hz == 59'
	kill -TERM "$daemon"
	finished
	[ "$(snapshots)" = 3 ] || fail "$(snapshots) snapshots, not 3"
}

not_for_one_run()
{
	start_busy 1
	attach --pid "$busy"
	control 1 pause
	grep -q 'only quartzd --system' control.err || fail 'no reason' "$(cat control.err)"
	detach
	control 3 status
}

# With nothing but the capabilities that its unit leaves it.
unit_is_enough()
{
	local unit=$out/service/quartzd.service caps

	caps=$(sed -n 's/^CapabilityBoundingSet=//p' "$unit" | tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g')
	[ -n "$caps" ] || fail 'the unit bounds nothing'
	# the flag that programs have mapped must outlive a quartzd, see "quartzd is started anew" of page.sh
	grep -qx 'RuntimeDirectoryPreserve=yes' "$unit" || fail 'the runtime directory is removed'
	start_busy 1
	setpriv --bounding-set "-all,$caps" --inh-caps -all --no-new-privs \
		"$out/quartzd" --system --cpu none --duration 1s -o profile 2>quartzd.err ||
		fail "ended with status $?"
	"$out/quartzctl" report -i profile --scope "pid=$busy" --json >report.json ||
		fail "report ended with status $?"
	expect 'procedures of a process have names' 'row("phase_1").self.samples > 0'
}

# asked NAME PARAMETERS: a snapshot of these that holds the busy process; NAME.json is its report.
asked()
{
	local i

	for ((i = 0; i < 600; i++)); do
		"$here/ask.py" "$2" >"$1" && "$out/quartzctl" report -i "$1" --scope "pid=$busy" --json >"$1.json" &&
			jq -e '[.scopes[].samples] | add > 20' "$1.json" >/dev/null && return
		sleep 0.1
	done
	fail "no snapshot of $2 with samples"
}

# names NAME FILTER: holds of the names of what the report lists.
names()
{
	jq -e "[.scopes[].rows[].name] | $2" "$1.json" >jq.out || fail "$1: not so: $2" "$(cat "$1.json")"
}

# Figures only grow; what is not asked for is not there.
parts_of_snapshots()
{
	serve --cpu none
	start_busy 1
	asked scopes '{"detail": "scopes"}'
	asked procedures '{"detail": "procedures"}'
	asked whole "{\"detail\": \"scopes\", \"pid\": $busy}"
	asked all '{}'
	names scopes '. == []'
	names procedures 'any(. == "phase_1") and all(. != "main")'
	names whole 'any(. == "phase_1") and any(. == "main")'
	jq -se '[.[] | .scopes[0].cpu_ns] | . == sort and .[0] > 0' {scopes,procedures,whole,all}.json >jq.out ||
		fail 'figures fell' "$(cat jq.out)"
	"$here/ask.py" '{"detail": "much"}' 2>ask.err && fail 'an unknown detail was understood'
	grep -q 'no such parameters' ask.err || fail 'no reason' "$(cat ask.err)"
	kill -TERM "$daemon"
	finished
}

# scraped NAME LINE: until the exporter says so, as it renews its figures each second; NAME has all of it.
scraped()
{
	local i

	for ((i = 0; i < 600; i++)); do
		python3 "$here/../cli/get.py" "$url/metrics" >"$1" 2>get.err
		! grep -qxF -- "$2" "$1" || return 0
		sleep 0.1
	done
	fail "the exporter never says $2" "$(cat get.err "$1")"
}

# counters_grow BEFORE AFTER [BUT]: none is less than it was, but for those of quartzd itself when it began anew.
counters_grow()
{
	awk -v but="${3-none}" '
		$1 == "#" && $2 == "TYPE" { counter[$3] = $4 == "counter" }
		$1 == "#" { next }
		{ name = $1; sub(/[{].*/, "", name); key = $0; sub(/ [^ ]*$/, "", key) }
		!counter[name] || name ~ but { next }
		NR == FNR { was[key] = $NF; next }
		key in was { n++; if ($NF + 0 < was[key] + 0) { print key, was[key], $NF; bad = 1 } }
		END { exit bad || !n }' "$1" "$2" >awk.out || fail "a counter fell from $1 to $2" "$(cat awk.out)"
}

# adds_up FILE: what the machine was busy is what was measured, and its units have no more than that.
adds_up()
{
	awk '
		/^quartz_machine_level_seconds_total/ { n = $1; gsub(/[^0-9]/, "", n); levels += $2; busy += n * $2 }
		$1 == "quartz_machine_busy_seconds_total" { once = $2 }
		$1 == "quartz_machine_busy_processor_seconds_total" { weighed = $2 }
		/^quartz_normalized_seconds_total/ { norm += $NF }
		END { exit !(levels >= once && busy >= weighed - 1e-6 && once > 0 && norm > 0 && norm <= once + 1e-6) }' "$1" ||
		fail 'the figures do not add up' "$(cat "$1")"
}

# A real quartzd behind quartz-exporter: in a pause, started anew, and absent.
exported()
{
	local url

	serve --cpu none --max-overhead 0
	start_busy 1
	start exporter "$out/quartz-exporter" --profiles --listen 127.0.0.1:0
	await exporter.err 'at port'
	url=http://127.0.0.1:$(sed -n 's/.*at port //p' exporter.err)
	scraped first 'quartz_measuring 1'
	sleep 2
	scraped second 'quartz_measuring 1'
	counters_grow first second
	adds_up second
	python3 "$here/../cli/get.py" "$url/debug/pprof/profile?seconds=2" >part 2>get.err
	grep -q '^200 application/octet-stream' get.err || fail 'no profile' "$(cat get.err part)"
	python3 "$here/../cli/strict.py" part 2>strict.err || fail 'not a strict profile' "$(cat strict.err)"
	"$out/quartzctl" report -i part --scope "pid=$busy" --json >report.json || fail 'it cannot be read'
	# the later the first of the two snapshots is taken, the shorter is what is between them
	expect 'the program that was busy' 'row("phase_1").self.samples > 0 and
		.scopes[0].elapsed_ns >= 2e9 - 2e7 * $slow' --argjson slow "$slow"
	control 0 pause
	scraped paused 'quartz_measuring 0'
	grep -qx 'quartz_up 1' paused || fail 'a paused one is not up' "$(cat paused)"
	counters_grow second paused
	python3 "$here/../cli/get.py" "$url/debug/pprof/all" >part 2>get.err
	grep -q '^503 ' get.err && grep -q paused part || fail 'a profile in a pause' "$(cat get.err part)"
	control 0 resume
	scraped resumed 'quartz_measuring 1'
	counters_grow paused resumed
	kill -KILL "$daemon"
	ended "$daemon"
	scraped absent 'quartz_up 0'
	counters_grow resumed absent
	serve --cpu none --max-overhead 0
	scraped anew 'quartz_measuring 1'
	counters_grow absent anew
	counters_grow resumed anew 'quartz_daemon_cpu|quartz_processes_refused'
	adds_up anew
	kill -TERM "$daemon"
	finished
}

open_files()
{
	ls -l "/proc/$daemon/fd" 2>/dev/null | grep -c "$T/many/"
}

# Programs that no process executes any more are not kept open; one that is executed again has its names.
executables()
{
	local i

	mkdir many
	for ((i = 0; i < 600; i++)); do
		cp "$programs/spin_cpu" "many/program$i"
	done
	attach --system
	for ((i = 0; i < 600; i++)); do
		"many/program$i" 1 >program.out
	done
	for ((i = 0; i < 120; i++)); do
		[ "$(open_files)" -gt 600 ] || break
		"many/program599" 1 >program.out
		sleep 0.5
	done
	[ "$i" -lt 120 ] || fail "quartzd has $(open_files) descriptors of 600 files"
	"many/program0" $((300 * slow)) >program.out
	detach
	"$out/quartzctl" report -i profile --scope comm=program0 --json >report.json ||
		fail "report ended with status $?"
	expect 'executed again, it has its names' '
		[.scopes[].rows[] | select(.name == "fixed_work") | .self.samples] | add > 3'
}

# Slices that are too old go, by the time of the last one.
rotation()
{
	attach --system --slice 1s --history 2s
	sleep 4
	detach
	ls "$T/state/history" | sed 's/\.pb\.gz$//' | sort -n | awk -F- '
		NR == 1 { oldest = $2 } { newest = $2; n++ }
		END { exit !(n > 0 && oldest + 2000 >= newest) }' ||
		fail 'not what is kept' "$(ls "$T/state/history")"
}

thorough 'settings and drop-ins' settings_count
try 'wrong settings are refused' wrong_settings
try 'pause and resume' pause_and_resume
try 'the status is documented' status_is_documented
thorough 'stopped for longer than its watchdog allows' stopped
try 'reload' reload
try 'what runs for one program is not paused' not_for_one_run
try 'the capabilities of the unit are enough' unit_is_enough
thorough 'snapshots of no more than is asked for' parts_of_snapshots
thorough 'figures and profiles for others' exported
thorough 'more programs than files' executables
thorough 'old slices go' rotation
