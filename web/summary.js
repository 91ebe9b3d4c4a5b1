// SPDX-License-Identifier: GPL-2.0-only
// The head of the page: what was measured, the verdict, the findings.

function programName(summary) {
	if (summary.kind === "machine") return "machine " + state.model.run.machine;
	return summary.command || summary.comm;
}

function formatDate(ns) {
	return new Date(ns / 1e6).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

function stat(value, label, title) {
	return element("div", { class: "stat", title }, element("b", {}, value), element("span", {}, label));
}

function drawStats() {
	const { selection, scope, model } = state, s = scope.summary;
	const work = selection.effective.reduce((sum, ns, level) => sum + ns * level, 0);
	const stats = [
		stat(formatTime(selection.elapsed), "elapsed"),
		stat(formatLevel(selection.elapsed ? work / selection.elapsed : 0), `of ${model.processors} CPUs busy`,
			"average number of busy processors over all of the time"),
		stat(formatPercent(selection.effective[1] ?? 0, selection.elapsed), "only one busy"),
		stat(formatPercent(selection.effective[0] ?? 0, selection.elapsed), "none busy"),
		stat(formatTime(selection.interval ? sumOf(selection.samples.cpu_ns) : s.cpu_ns), "CPU time"),
		stat(formatCount(scope.threadCount), "threads"),
	];
	const { rate_in_force_hz: rate, rate_hz: wanted } = model.run;
	if (rate < 0.99 * wanted)
		stats.push(stat(`${formatDigits(rate)}\u202fHz`, `sampled, of ${wanted}`, "Quartz lowered its rate to keep its cost low"));
	replace("stats", state.interval ? element("div", { class: "stat of-interval" }, `${intervalText()}:`) : null, stats);
}

function sumOf(values) {
	let sum = 0;
	for (const value of values) sum += value;
	return sum;
}

// How the elapsed time divides among numbers of busy processors.
function drawStrip() {
	const { selection, model } = state;
	const parts = selection.effective.map((ns, level) => [ns, level]).filter(([ns]) => ns > 0);
	replace("strip", parts.map(([ns, level]) => styled(element("span", {
		title: `${level} busy: ${formatTime(ns)}, ${formatPercent(ns, selection.elapsed)}`,
	}, ns > 0.07 * selection.elapsed ? (level ? `${level} busy` : "none") : ""), {
		"flex-grow": String(ns / selection.elapsed),
		"background-color": levelColor(level, model.processors),
	})));
}

function drawVerdict() {
	const { summary } = state.scope;
	const verdict = state.interval ? intervalVerdict(state.selection, state.model.processors) : state.scope.verdict;
	const colon = verdict.indexOf(":");
	replace("program", element("bdi", {}, shortenName(programName(summary), 160)));
	replace("verdict", element("b", {}, colon < 0 ? verdict : verdict.slice(0, colon)),
		colon < 0 ? "" : element("span", {}, verdict.slice(colon + 1)),
		state.interval ? element("span", { class: "of-interval" }, ` from ${intervalText()}`)
			: live.parts.length ? element("span", { class: "hint" }, " in the last second") : "");
}

function gainOf(finding) {
	const { elapsed_ns: elapsed } = state.scope.summary;
	const low = formatPercent(finding.gain_low_ns, elapsed), high = formatPercent(finding.gain_high_ns, elapsed);
	return low === high ? low : `${low.replace(/\u202f%/, "")} – ${high}`;
}

function findingCard(finding, number) {
	const kind = finding.subject.kind;
	const evidence = finding.evidence.map((e) => element("li", {}, showName(e.text),
		e.command ? element("code", {}, showName(e.command)) : null));
	return element("li", { class: "finding" },
		element("div", { class: "gain", title: "what the elapsed time would be shorter by" },
			element("b", {}, gainOf(finding)), element("span", {}, "gain")),
		element("div", {},
			element("p", { class: "what" }, element("span", { class: "number" }, `${number}. `),
				element("bdi", {}, showName(finding.what))),
			element("p", { class: "subject" }, SUBJECTS[kind] && finding.index >= 0 ? nameLink(kind, finding.index) : null,
				finding.where ? element("bdi", { class: "muted" }, " " + showName(finding.where)) : null),
			element("p", { class: "remedy" }, showName(finding.remedy)),
			evidence.length ? element("details", {}, element("summary", {}, "evidence"), element("ul", {}, evidence))
				: null));
}

function drawFindings() {
	const { findings } = state.scope, list = byId("findings");
	// the list stays as high as it was, so that what is marked stays under the pointer
	styled(list, { "min-height": state.interval ? list.style.minHeight || `${list.offsetHeight}px` : "" });
	if (state.interval) {
		replace("findings", intervalFindings(state.selection));
		return;
	}
	replace("findings", findings.length ? findings.map((f, i) => findingCard(f, i + 1))
		: element("li", { class: "muted" }, "Nothing found that would save 2 % of the time or more. The largest parts are below."));
}

function drawQuality() {
	const { run } = state.model, s = state.scope.summary;
	const lost = Object.entries(run.ledger.lost).filter(([, n]) => n > 0).map(([cause, n]) => `${cause} ${formatCount(n)}`);
	const lines = [
		`${formatCount(s.samples)} samples at ${formatDigits(run.rate_in_force_hz)} Hz by ${run.event}, ` +
			`${formatPercent(s.samples - s.truncated, s.samples)} with whole stacks, ` +
			`${formatPercent(s.samples - s.unresolved, s.samples)} with a name`,
		lost.length ? `lost: ${lost.join(", ")}` : "none lost",
		`normalized time ${formatTime(s.busy_ns)} busy + ${formatTime(s.idle_ns)} idle = ${formatTime(s.elapsed_ns)} elapsed; ` +
			`${formatTime(s.unattributed_ns)} of the busy time has no sample`,
		s.instrumentation_ns ? `${formatTime(s.instrumentation_ns)} of instrumentation were taken out` : "",
		`Quartz ${run.quartz_version}, Linux ${run.kernel}, ${run.machine}, ${run.processors} processors, ` +
			formatDate(run.wall_start_ns),
	];
	replace("quality", lines.filter(Boolean).map((line) => element("p", {}, showName(line))));
}

listen("data theme", () => {
	drawVerdict();
	drawStats();
	drawStrip();
	drawFindings();
	drawQuality();
});
