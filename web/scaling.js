// SPDX-License-Identifier: GPL-2.0-only
// The page of a scaling experiment (schema quartz.scale/v1): speed-ups over processors, as figure 2 of Acar, Charguéraud and
// Rainey (2017), what the gaps between them say, and where idle time and inflation are.

const SCALING_SCHEMA = "quartz.scale/v1", SPEEDUP_HEIGHT = 360, SCALING_LEAST = 0.01;

// From the top down: each lies above the next, but for the last two of them before the actual one.
const SPEEDUPS = [
	{ key: "linear", name: "linear", color: "muted", dash: "2 4" },
	{ key: "maximal", name: "maximal", color: "ink", dash: "8 3" },
	{ key: "idle_time_specific", name: "idle-time-specific", color: "less", dash: "" },
	{ key: "inflation_specific", name: "inflation-specific", color: "more", dash: "" },
	{ key: "actual", name: "actual", color: "busy", dash: "" },
];

class ScalingModel {
	constructor(json) {
		this.json = json;
		this.scopes = [{ title: json.command || "scaling", label: shortenName(json.command, 60) }];
	}

	select() {
		return null;
	}

	get points() {
		return this.json.processors;
	}

	get last() {
		return this.points[this.points.length - 1];
	}
}

// ---- the figure ----

// A round number of which some make the most: 1, 2 or 5 times a power of ten.
function tickOf(most) {
	const size = 10 ** Math.floor(Math.log10(most / 5 || 1));
	return [1, 2, 5, 10].map((factor) => factor * size).find((tick) => most / tick <= 8);
}

// Pixels of a number of processors and of a speed-up; most: what is highest.
function speedupScale(points, width) {
	const most = Math.max(...points.flatMap((point) => [...SPEEDUPS.map(({ key }) => point.speedup[key]),
		point.speedup.actual + (point.speedup.actual_ci ?? 0)]).filter(Number.isFinite));
	const left = 46, bottom = SPEEDUP_HEIGHT - 36, processors = points[points.length - 1].processors;
	return { most, processors, left, bottom, right: width - 14,
		x: (value) => left + (value / processors) * (width - 14 - left), y: (value) => bottom - (value / most) * (bottom - 12) };
}

function drawAxes(svg, scale, points) {
	const label = (x, y, anchor, text) => svg.append(svgElement("text", { x, y, fill: theme.muted, "font-size": 12, "text-anchor": anchor }, text));
	const line = (x1, y1, x2, y2) => svg.append(svgElement("line", { x1, y1, x2, y2, stroke: theme.line }));
	const tick = tickOf(scale.most);
	for (let value = 0; value <= scale.most * 1.0001; value += tick) {
		line(scale.left, scale.y(value), scale.right, scale.y(value));
		label(scale.left - 6, scale.y(value) + 4, "end", String(Number(value.toPrecision(6))));
	}
	let used = -Infinity;
	for (const { processors } of points) {
		if (scale.x(processors) - used < 24) continue;
		used = scale.x(processors);
		label(used, scale.bottom + 16, "middle", String(processors));
	}
	label((scale.left + scale.right) / 2, SPEEDUP_HEIGHT - 4, "middle", "processors");
}

function drawCurve(svg, scale, points, { key, name, color, dash }) {
	const shown = points.filter((point) => Number.isFinite(point.speedup[key]));
	const at = (point) => [scale.x(point.processors), scale.y(point.speedup[key])];
	const group = svgElement("g", { class: "speedup", "data-key": key, "aria-label": name });
	group.append(svgElement("polyline", { points: shown.map((point) => at(point).join()).join(" "), fill: "none", stroke: theme[color],
		"stroke-width": key === "actual" ? 3 : 1.8, "stroke-dasharray": dash || false }));
	for (const point of shown) {
		const [x, y] = at(point), value = point.speedup[key], ci = key === "actual" ? point.speedup.actual_ci : null;
		if (ci) group.append(svgElement("line", { x1: x, x2: x, y1: scale.y(value - ci), y2: scale.y(value + ci), stroke: theme[color],
			"stroke-width": 1.5 }));
		group.append(svgElement("circle", { cx: x, cy: y, r: key === "actual" ? 4 : 3, fill: theme[color] },
			svgElement("title", {}, `${name}, ${point.processors} processors: ${value.toFixed(2)}${ci ? ` ± ${ci.toFixed(2)}` : ""}`)));
	}
	svg.append(group);
}

function drawSpeedups(model) {
	const width = Math.max(300, byId("speedups").clientWidth), scale = speedupScale(model.points, width);
	const svg = svgElement("svg", { viewBox: `0 0 ${width} ${SPEEDUP_HEIGHT}`, width, height: SPEEDUP_HEIGHT, role: "img",
		"aria-label": "speed-ups over processors; the table below has the same figures" });
	drawAxes(svg, scale, model.points);
	for (const curve of SPEEDUPS) drawCurve(svg, scale, model.points, curve);
	replace("speedups", svg);
	replace("speedups-legend", SPEEDUPS.map(({ name, color, dash }) => element("span", {}, svgElement("svg", { width: 30, height: 10 },
		svgElement("line", { x1: 0, x2: 30, y1: 5, y2: 5, stroke: theme[color], "stroke-width": 2.5, "stroke-dasharray": dash || false })),
	" ", name)));
}

// ---- tables ----

// Lines of cells; the columns of these numbers are text.
function scalingTable(heads, lines, text = []) {
	const row = (tag, cells) => element("tr", {}, cells.map((cell, i) => element(tag, { class: text.includes(i) ? "text" : "" }, cell)));
	return element("table", {}, element("thead", {}, row("th", heads)), element("tbody", {}, lines.map((cells) => row("td", cells))));
}

function halfWidth(ci) {
	return ci === null ? "" : formatSeconds(ci);
}

function percentOfAll(ns, point) {
	return `${signed((100 * ns) / (point.processors * point.elapsed_ns || 1), 1)}`.replace("+", "") || "0";
}

function speedupLines(model) {
	return model.points.map(({ processors, runs, speedup }, i) => [String(processors), String(runs),
		...SPEEDUPS.map(({ key }) => speedup[key].toFixed(2)),
		speedup.actual_ci === null || (!i && !model.json.has_baseline) ? "" : speedup.actual_ci.toFixed(2)]);
}

function termLines(model) {
	const one = model.points[0].work_ns;
	return model.points.map((p, i) => [String(p.processors), formatSeconds(p.elapsed_ns), halfWidth(p.elapsed_ci_ns),
		formatSeconds(p.processors * p.elapsed_ns), formatSeconds(one), formatSeconds(p.idle_ns), halfWidth(p.idle_ci_ns),
		signed(p.inflation_ns / 1e9, 3).replace("+", "") || "0", i ? halfWidth(p.inflation_ci_ns) : "", percentOfAll(p.idle_ns, p),
		percentOfAll(p.inflation_ns, p)]);
}

const IDLE_CAUSES = {
	wait: (name) => `waits for ${name}`, join: (name) => `waits for the end of others (${name})`, no_work: (name) => `threads without work (${name})`,
	no_thread: () => "no further thread to run", others: () => "other programs on the processors",
	late: () => "threads on their way to a processor", spin: (name) => (name ? `spinning in ${name}` : "spinning"),
};

// What each has at the most processors, if that is enough to be told.
function worth(model, rows, values) {
	const { last } = model, least = SCALING_LEAST * last.processors * last.elapsed_ns;
	return rows.map((row) => ({ row, first: row.processors[0], now: row.processors[row.processors.length - 1] }))
		.filter(({ now }) => values(now).some((ns) => Math.abs(ns) >= least));
}

function causeLines(model) {
	return worth(model, model.json.idle, (now) => [now.idle_ns]).map(({ row, now }) => [formatSeconds(now.idle_ns),
		percentOfAll(now.idle_ns, model.last), halfWidth(now.idle_ci_ns),
		element("bdi", { class: "name" }, IDLE_CAUSES[row.kind](row.name === null ? "" : shortenName(row.name, 120)))]);
}

function inflationLines(model) {
	return worth(model, model.json.procedures, (now) => [now.inflation_ns, now.beside_ns]).map(({ row, first, now }) => [
		formatSeconds(first.work_ns), formatSeconds(now.work_ns), signed(now.inflation_ns / 1e9, 3).replace("+", "") || "0",
		percentOfAll(now.inflation_ns, model.last), halfWidth(now.inflation_ci_ns), formatSeconds(now.beside_ns),
		element("span", {}, element("bdi", { class: "name" }, shortenName(row.name, 120)), " ",
			element("span", { class: "module muted" }, shortenName(row.module, 40)))]);
}

// ---- all of it ----

function drawScaling() {
	const { model } = state, { json, last } = model, { actual, actual_ci: ci } = last.speedup;
	replace("program", element("bdi", {}, shortenName(model.scopes[0].title, 160)));
	replace("verdict", element("b", {}, `${actual.toFixed(2)} times as fast`), element("span", {},
		`on ${last.processors} processor${last.processors === 1 ? "" : "s"} as ${json.has_baseline ? "the baseline" : "on 1"}` +
		(ci === null ? "" : `, ± ${ci.toFixed(2)}`)));
	drawSpeedups(model);
	byId("speedups-base").textContent = `Over ${json.has_baseline ? "the baseline" : "one processor"}, ${formatSeconds(json.baseline_ns)} s. ` +
		"The vertical line of a point is its 95 % interval.";
	replace("speedups-table", scalingTable(["processors", "runs", ...SPEEDUPS.map(({ name }) => name), "±"], speedupLines(model)));
	byId("gaps-section").hidden = !json.gaps.length;
	replace("gaps", json.gaps.map((sentence) => element("li", {}, sentence)));
	replace("terms", scalingTable(["processors", "elapsed s", "± s", "processors × elapsed s", "= work on one s", "+ idle time s", "± s",
		"+ work inflation s", "± s", "idle %", "inflation %"], termLines(model)));
	const causes = causeLines(model), rows = last.processors > 1 ? inflationLines(model) : [];
	byId("idle-section").hidden = !causes.length;
	replace("idle-causes", scalingTable(["s", "% of all", "± s", "cause"], causes, [3]));
	byId("inflation-section").hidden = !rows.length;
	replace("inflation", scalingTable(["work on one s", `work on ${last.processors} s`, "inflation s", "% of all", "± s", "idle meanwhile s", "procedure"],
		rows, [6]));
}

listen("data theme view", drawScaling, "scaling");
