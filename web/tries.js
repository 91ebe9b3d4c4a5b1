// SPDX-License-Identifier: GPL-2.0-only
// The page of advice that was tried (schema quartz.try/v1): what the command took without each remedy and with it, side by side.

const TRIES_SCHEMA = "quartz.try/v1", TRY_ROW = 40, TRY_LABEL = 210;
const VERDICT_COLORS = { helps: "less", harms: "more", "breaks it": "more" };

class TriesModel {
	constructor(json) {
		this.json = json;
		const title = json.pid === null ? json.command.join(" ") : `process ${json.pid}`;
		this.scopes = [{ title, label: shortenName(title, 60) }];
	}

	select() {
		return null;
	}

	// Those that were measured, the best one first.
	get measured() {
		return this.json.trials.filter(({ pairs }) => pairs).sort((a, b) => b.gain_ppm - a.gain_ppm);
	}
}

function tryName({ remedies }) {
	return remedies.map(({ name }) => name).join(" + ");
}

function medianOf(values) {
	const sorted = [...values].sort((a, b) => a - b), n = sorted.length;
	return (sorted[n >> 1] + sorted[(n - 1) >> 1]) / 2;
}

// ---- the figure ----

// A bar as long as the median, and a dot for each run.
function drawTryRuns(group, times, x, y, color, side) {
	group.append(svgElement("rect", { class: side, x: TRY_LABEL, y, width: Math.max(1, x(medianOf(times)) - TRY_LABEL), height: 13,
		fill: theme[color], "fill-opacity": 0.35 }, svgElement("title", {}, `${side}: median ${formatSeconds(medianOf(times))} s`)));
	for (const ns of times)
		group.append(svgElement("circle", { class: side, cx: x(ns), cy: y + 6.5, r: 3, fill: theme[color] },
			svgElement("title", {}, `${side}: ${formatSeconds(ns)} s`)));
}

function drawTries(trials) {
	const width = Math.max(420, byId("tries").clientWidth), bottom = TRY_ROW * trials.length;
	const most = Math.max(...trials.flatMap((trial) => [...trial.with_ns, ...trial.without_ns])), tick = tickOf(most / 1e9);
	const x = (ns) => TRY_LABEL + (ns / most) * (width - TRY_LABEL - 16);
	const svg = svgElement("svg", { viewBox: `0 0 ${width} ${bottom + 22}`, width, height: bottom + 22, role: "img",
		"aria-label": "seconds without and with each remedy; the table below has the same figures" });
	const text = (at, y, anchor, words) => svg.append(svgElement("text", { x: at, y, fill: theme.muted, "font-size": 12, "text-anchor": anchor }, words));
	for (let value = 0; value <= (most / 1e9) * 1.0001; value += tick) {
		svg.append(svgElement("line", { x1: x(value * 1e9), x2: x(value * 1e9), y1: 0, y2: bottom, stroke: theme.line }));
		text(x(value * 1e9), bottom + 15, "middle", `${Number(value.toPrecision(6))} s`);
	}
	trials.forEach((trial, i) => {
		const group = svgElement("g", { class: "try", "aria-label": tryName(trial) }), y = TRY_ROW * i + 5;
		text(TRY_LABEL - 8, y + 17, "end", shortenName(tryName(trial), 30));
		drawTryRuns(group, trial.without_ns, x, y, "muted", "without");
		drawTryRuns(group, trial.with_ns, x, y + 15, VERDICT_COLORS[trial.verdict] ?? "ink", "with");
		svg.append(group);
	});
	return svg;
}

// ---- tables ----

function ppmText(ppm, digits = 0) {
	return ppm === null ? "" : `${(ppm / 1e4).toFixed(digits)}%`.replace("-", "−");
}

// From twice as much on, percent are hard to read.
function timesText(ratio) {
	return `${ratio.toFixed(ratio < 99.95 ? 1 : 0)} times`;
}

function changeText(ppm) {
	if (ppm !== null && ppm >= 1e6) return timesText(1 + ppm / 1e6);
	return ppm === null ? "" : `${signed(ppm / 1e4, 0) || "0"}%`;
}

// And half of its interval, in the same unit.
function gainTexts({ pairs, gain_ppm: gain, gain_ci_ppm: ci }) {
	if (!pairs) return ["", ""];
	const known = ci !== null && ci < Math.max(1e6, 1e6 - gain); // a wider one says nothing
	if (gain > -1e6) return [ppmText(gain, 1), known ? ppmText(ci, 1) : "?"];
	return [`${timesText(1 - gain / 1e6)} as slow`, known ? (ci / 1e6).toFixed(1) : "?"];
}

function tryLines(trials) {
	return trials.map((trial) => [tryName(trial), trial.verdict, trial.predicted_low_ppm === null ? ""
		: `${ppmText(trial.predicted_low_ppm)} to ${ppmText(trial.predicted_high_ppm)}`,
	...gainTexts(trial), changeText(trial.cpu_change_ppm),
	changeText(trial.memory_change_ppm), String(trial.pairs),
	element("span", {}, element("code", { class: "name" }, showName(trial.command)), trial.failure ? ` (${trial.failure})` : "")]);
}

// What a process did in a second; a command takes a time.
function ratesText({ rate_before: before, rate_after: after, by }) {
	return before === null ? "" : ` In a second, without a remedy (by ${by}): ${formatCount(Math.round(before))} at first, ` +
		`${formatCount(Math.round(after))} at the end.`;
}

function drawTriesPage() {
	const { json, measured } = state.model;
	replace("program", element("bdi", {}, shortenName(state.model.scopes[0].title, 160)));
	replace("verdict", element("b", {}, json.keep === null ? "Keep it as it is" : "Keep:"),
		json.keep === null ? element("span", {}, "nothing that was tried helps by more than chance")
			: element("code", { class: "name" }, showName(json.keep)));
	byId("tries-section").hidden = !measured.length;
	replace("tries", measured.length ? drawTries(measured) : null);
	byId("tries-said").textContent = "Of each remedy, above: without it, right before or after; below: with it. A dot is a run" +
		`${json.pid === null ? "" : ", of the work of the first measurement"}, a bar the median.${ratesText(json)}`;
	replace("tries-table", scalingTable(["remedy", "verdict", "predicted", "gain", "±", "CPU time", "memory", "pairs", "to be typed"],
		tryLines(json.trials), [0, 1, 8]));
	const left = [...json.not_tried.map(({ change, why }) => `${showName(change)}: ${why}`),
		...json.source_must_change.map((rule) => `${rule}: no remedy from outside, the source must change`)];
	byId("tries-left-section").hidden = !left.length;
	replace("tries-left", left.map((line) => element("li", {}, line)));
}

listen("data theme view", drawTriesPage, "tries");
