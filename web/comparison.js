// SPDX-License-Identifier: GPL-2.0-only
// The views of a comparison: the runs, the differential flame graph, the table of changes.

const ADDING = new Set(["procedure", "kernel", "no_samples", "instrumentation"]); // with idle time, they make the elapsed time

// ---- the runs ----

function percentOf(ns) {
	const { elapsed } = state.selection;
	return elapsed ? signed((100 * ns) / elapsed, 1) : "";
}

function runLine(label, { before_ns: before, after_ns: after, change_ns: change, ci_ns: ci }, withPercent, repeated) {
	return [label, formatSeconds(before), formatSeconds(after), signed(change / 1e9, 3), withPercent ? percentOf(change) : "",
		...(repeated ? [formatSeconds(ci)] : [])];
}

function meanParallelism(runs) {
	return runs.reduce((sum, run) => sum + (run.busy_ns ? run.busy_cpu_ns / run.busy_ns : 0), 0) / runs.length;
}

function runLines(comparison, repeated) {
	const [before, after] = SIDES.map((side) => meanParallelism(comparison[side]));
	return [runLine("elapsed time, s", comparison.elapsed, true, repeated), runLine("CPU time, s", comparison.cpu, false, repeated),
		["average parallelism", before.toFixed(2), after.toFixed(2), signed(after - before, 2), "", ...(repeated ? [""] : [])],
		runLine("only one CPU worked, s", comparison.serial, true, repeated), runLine("none worked, s", comparison.idle, true, repeated)];
}

// Of several runs of a side, the first one's, as in the text.
function verdictLines(comparison) {
	return SIDES.map((side) => element("p", {}, element("b", {}, side + ": "), showName(comparison[side][0].verdict)));
}

function waitsText(comparison) {
	const causes = Object.entries(comparison.blocked).filter(([, c]) => Math.abs(c.change_ns) > c.ci_ns &&
		Math.abs(c.change_ns) >= 0.01 * comparison.elapsed.before_ns);
	causes.sort(([, a], [, b]) => Math.abs(b.change_ns) - Math.abs(a.change_ns));
	return causes.length ? "waits of all threads: " + causes.slice(0, 3).map(([cause, c]) =>
		`${showName(cause)} ${formatChange(c.change_ns)}`).join(", ") : "";
}

// The row with the largest change of its own code beyond chance.
function largestRow() {
	const rows = state.scope.rows.filter((row) => isOfStacks(row) && row.beyond_chance && isCertain(row.self));
	return rows.reduce((most, row) => (most && Math.abs(most.self.change_ns) >= Math.abs(row.self.change_ns) ? most : row), null);
}

// Its frame may be too narrow for a label.
function largestLine() {
	const row = largestRow();
	return row ? [element("p", { id: "largest-change" }, "largest change: ", nameLink("procedure", row.procedure),
		` ${formatChange(row.self.change_ns)} ± ${formatTime(row.self.ci_ns)}`)] : [];
}

function fileLines() {
	const { profiles } = state.model;
	return SIDES.map((side) => {
		const files = profiles.filter((profile) => profile.side === side);
		const rest = files.reduce((sum, profile) => sum + profile.scopes_not_compared, 0);
		return `${side}: ${files.map((profile) => shortenName(profile.file, 80)).join(", ")}` +
			(rest ? `; ${formatCount(rest)} of its programs are not compared` : "");
	});
}

function drawRuns() {
	const { comparison } = state.scope, repeated = comparison.before.length + comparison.after.length > 2;
	const colon = comparison.headline.indexOf(":");
	replace("program", element("bdi", {}, shortenName(state.scope.title, 160)));
	replace("verdict", element("b", {}, comparison.headline.slice(0, colon)), element("span", {}, comparison.headline.slice(colon + 1)));
	const heads = ["", "before", "after", "change", "%", ...(repeated ? ["±"] : [])];
	const cell = (tag) => (text, i) => element(tag, { class: i ? "" : "text" }, text);
	replace("runs",
		element("div", { class: "scroll" }, element("table", {}, element("thead", {}, element("tr", {}, heads.map(cell("th")))),
			element("tbody", {}, runLines(comparison, repeated).map((line) => element("tr", {}, line.map(cell("td"))))))),
		element("div", {}, largestLine(), verdictLines(comparison), [waitsText(comparison)].filter(Boolean).map((text) => element("p", {}, text)),
			[...comparison.notes, ...fileLines()].map((line) => element("p", { class: "muted" }, showName(line)))));
}

// ---- the flame graph ----

function changeOf(frame, measure = state.measure) {
	return frame["after_" + measure] - frame["before_" + measure];
}

function changeFrameColor(frame) {
	return changeColor(changeOf(frame), state.selection.largest(state.measure));
}

function changeLegend() {
	const most = state.selection.largest(state.measure);
	return most ? ["change: ", ...[-most, -most / 4, 0, most / 4, most].map((ns) => swatch(ns ? formatChange(ns) : "same", changeColor(ns, most)))]
		: [];
}

function changeLine(label, frame, measure) {
	return `${label}: ${formatTime(frame["before_" + measure])} before, ${formatTime(frame["after_" + measure])} after, ` +
		`change ${formatChange(changeOf(frame, measure))}`;
}

function changeLines(frame) {
	const row = state.scope.rowOf.get(frame.procedure), module = frame.procedure >= 0 && state.model.procedures.module[frame.procedure];
	const labels = { norm: "normalized", cpu: "CPU", blocked: "blocked", spin: "spin" };
	const lines = [shortenName(frameName(frame), 300),
		`${changeLine("normalized", frame, "norm")}, ${percentOf(changeOf(frame, "norm"))} % of the elapsed time before`];
	for (const measure of ["cpu", "blocked", "spin"])
		if (frame["before_" + measure] || frame["after_" + measure]) lines.push(changeLine(labels[measure], frame, measure));
	if (row && frame.parent)
		lines.push(`in all places: ${formatChange(row.total.change_ns)} ± ${formatTime(row.total.ci_ns)}` +
			(row.beyond_chance ? "" : ", within chance"));
	if (module) lines.push(shortenName(module, 80));
	return lines;
}

function changeSum(nothing) {
	return nothing && !changeOf(flame.root) ? "" : changeLine("in all", flame.root, state.measure);
}

// What this side does not show, for the other one has it alone.
function drawGone() {
	const other = state.side === "after" ? "before" : "after", ns = state.selection.onlyIn(other, state.measure);
	byId("flame-gone").hidden = !ns;
	replace("flame-gone", `${formatTime(ns)} in stacks that only ${other} has: `,
		element("button", { class: "link", onclick: () => chooseMetric(state.measure, other) }, `show ${other}`));
}

const changeLook = { metrics: CHANGE_METRICS, color: changeFrameColor, legend: changeLegend, lines: changeLines, sum: changeSum, drawn: drawGone };

// ---- the table ----

const folded = { shown: false };

// Rows of objects and threads have no time of their own.
function isOfStacks(row) {
	return ADDING.has(row.kind);
}

function changeCell(change, isCertain = true) {
	if (!change.change_ns && !change.before_ns && !change.after_ns) return "";
	if (!isCertain) return element("span", { class: "muted" }, "0");
	const share = Math.min(100, (100 * Math.abs(change.change_ns)) / (state.selection.elapsed || 1));
	return [styled(element("span", { class: change.change_ns < 0 ? "cell-bar is-less" : "cell-bar is-more", "aria-hidden": "true" }),
		{ width: share + "%" }), element("span", { class: "cell-text" }, signed(change.change_ns / 1e9, 3))];
}

function isCertain(change) {
	return Math.abs(change.change_ns) > change.ci_ns;
}

function sideColumn(side) {
	const value = (row) => (isOfStacks(row) ? row.self[side + "_ns"] : 0);
	return { key: side, label: `self ${side} s`, title: `normalized time of its own code ${side}; –: the side does not have it`, value,
		cell: (row) => (!isOfStacks(row) ? "" : row["in_" + side] ? formatSeconds(value(row)) : "–") };
}

// Sorted by their size, whatever the sign.
function changeColumn(key, label, title, more) {
	return { key, label, title, value: (row) => Math.abs(row[key].change_ns), cell: (row) => changeCell(row[key]), ...more };
}

function ciColumn(key) {
	return { key: key + "-ci", label: "± s", title: "half the width of the 95 % interval of the change", value: (row) => row[key].ci_ns,
		cell: (row) => (row[key].before_ns || row[key].after_ns ? formatSeconds(row[key].ci_ns) : "") };
}

const ofStacks = (cell) => (row) => (isOfStacks(row) ? cell(row) : "");

const changeTable = new Table("changes", [
	{ key: "name", label: "procedure", text: true, value: (row) => row.name,
		cell: (row) => [nameLink("procedure", row.procedure), " ", element("span", { class: "muted module" }, shortenName(row.module, 30))] },
	changeColumn("self", "self change s", "of its own code", { first: true, cell: ofStacks((row) => changeCell(row.self)) }),
	{ key: "percent", label: "%", title: "of the elapsed time before", value: (row) => Math.abs(row.self.change_ns),
		cell: ofStacks((row) => (row.self.before_ns || row.self.after_ns ? percentOf(row.self.change_ns) : "")) },
	{ ...ciColumn("self"), cell: ofStacks(ciColumn("self").cell) },
	sideColumn("before"), sideColumn("after"),
	changeColumn("cpu", "CPU change s", "of processor time of its own; 0: within chance",
		{ cell: ofStacks((row) => changeCell(row.cpu, isCertain(row.cpu))) }),
	changeColumn("total", "total change s", "of it and of what it calls"), ciColumn("total"),
	changeColumn("blocked", "blocked change s", "threads blocked in it or on its behalf; 0: within chance",
		{ cell: (row) => changeCell(row.blocked, isCertain(row.blocked)) }),
], () => state.scope.rows.filter((row) => (state.matches ? state.matches[row.procedure] : folded.shown || row.beyond_chance)),
(row) => ["procedure", row.procedure]);

function sumOfSelf(rows) {
	return rows.filter(isOfStacks).reduce((sum, row) => sum + row.self.change_ns, 0);
}

function drawChanges() {
	const { rows, comparison } = state.scope, within = rows.filter((row) => !row.beyond_chance);
	changeTable.draw();
	replace("changes-folded", within.length < rows.length ? "" : "No row has changed by more than chance. ",
		within.length ? [`${formatCount(within.length)} within chance, or said by the rows that they call: self ${formatChange(sumOfSelf(within))} `,
			element("button", { class: "link", onclick: () => { folded.shown = !folded.shown; drawChanges(); } },
				folded.shown ? "fold them" : "show them")] : "");
	byId("changes-sum").textContent = rows.some(isOfStacks) ? `self of all rows ${formatChange(sumOfSelf(rows))}, ` +
		`none worked ${formatChange(comparison.idle.change_ns)}: together elapsed ${formatChange(comparison.elapsed.change_ns)}` : "";
}

// ---- one name ----

function changeDetail(procedure) {
	const row = state.scope.rowOf.get(procedure), parts = [["self", "self"], ["total", "total"], ["cpu", "CPU"], ["blocked", "blocked"]];
	if (!row) return [element("p", {}, "It has no row of its own.")];
	const lines = parts.filter(([key]) => (key === "self" || key === "cpu" ? isOfStacks(row) : true)).map(([key, label]) => {
		const { before_ns: before, after_ns: after, change_ns: change, ci_ns: ci } = row[key];
		return element("tr", {}, [label, formatSeconds(before), formatSeconds(after), signed(change / 1e9, 3), ci ? formatSeconds(ci) : "exact",
			isCertain(row[key]) ? "" : "within chance"].map((text, i) => element("td", { class: i ? "" : "text" }, text)));
	});
	return [element("p", { class: "muted" }, [row.kind.replace("_", " "), row.module && shortenName(row.module, 80),
		`${formatCount(row.samples)} samples`].filter(Boolean).join(", ")),
	element("div", { class: "scroll" }, element("table", {}, element("thead", {}, element("tr", {},
		["", "before s", "after s", "change s", "± s", ""].map((text) => element("th", {}, text)))), element("tbody", {}, lines)))];
}

// ---- start ----

details.comparison = { procedure: changeDetail };
places.comparison = { procedure: ["flame", "changes-section"] };

function startComparison() {
	flame.look = changeLook;
	chooseMetric("norm", "after");
}

// The side where the frame of the largest change is wider.
function beginChanges() {
	const row = largestRow();
	folded.shown = false;
	chooseMetric("norm", row && row.self.change_ns < 0 ? "before" : "after");
}

listen("data", beginChanges, "comparison");
listen("data theme", drawRuns, "comparison");
listen("data search subject", drawChanges, "comparison");
