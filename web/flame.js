// SPDX-License-Identifier: GPL-2.0-only
// The flame graph: each frame is a procedure called from the one above it, as wide as its time, coloured by how many
// processors were busy meanwhile. Upside down, each is one that called the one above it. Drawn on a canvas, and only what
// is as wide as a third of a pixel, so that the number of stacks does not matter.

const ROW = 20, MOST_ROWS = 70, LEAST_WIDTH = 0.35, LEAST_SHARE = 1e-5;

// look: what the frames of a page add up, and how they are shown; see below.
const flame = { look: null, root: null, zoom: null, boxes: [], current: null };

function newFrame(parent, procedure, label) {
	const frame = { parent, procedure, label, children: null };
	for (const metric of flame.look.metrics) frame[metric] = 0;
	return frame;
}

function addTo(frame, figures, k) {
	for (const metric of flame.look.metrics) frame[metric] += figures[metric][k];
}

// ---- callers above callees ----

function growDown(selection) {
	const { model, total } = selection, frames = new Array(model.nodeCount);
	const root = newFrame(null, -1, "all"), least = {}, { metrics } = flame.look;
	for (const metric of metrics) least[metric] = total[metric][0] * LEAST_SHARE;
	frames[0] = root;
	addTo(root, total, 0);
	root.children = [];
	for (let i = 1; i < model.nodeCount; i++) {
		const parent = frames[model.parent[i]];
		if (!parent || metrics.every((metric) => !(total[metric][i] > least[metric]))) continue;
		const frame = frames[i] = newFrame(parent, model.procedureOf[i]);
		addTo(frame, total, i);
		frame.children = [];
		parent.children.push(frame);
	}
	return root;
}

// Of the machine, programs come first: each has a tree of its own rows.
function growDownByProgram(selection) {
	const { scope, model } = selection, root = newFrame(null, -1, "all"), programs = new Map();
	root.children = [];
	const add = (thread, node, amounts) => {
		const name = thread < 0 ? "no program" : scope.threads.program[thread];
		let program = programs.get(name);
		if (!program) {
			program = { frame: newFrame(root, -1, name), frames: new Map() };
			program.frame.children = [];
			root.children.push(program.frame);
			programs.set(name, program);
		}
		for (const frame of [root, program.frame, ...frameOf(program, node, model)])
			for (const metric of METRICS) frame[metric] += amounts[metric] ?? 0;
	};
	const { samples, waits } = selection;
	for (let i = 0; i < samples.n; i++)
		add(samples.thread[i], samples.node[i], { norm: samples.norm_ns[i], cpu: samples.cpu_ns[i],
			spin: samples.spinning[i] ? samples.cpu_ns[i] : 0 });
	for (let i = 0; i < waits.n; i++)
		if (!selection.isIdle(waits.thread[i]))
			add(waits.thread[i], waits.node[i], { blocked: waits.blocked_ns[i] });
	return root;
}

// The frames of a stack in a program's tree, innermost first, made where they are missing.
function frameOf(program, node, model) {
	const missing = [], path = [];
	for (; node && !program.frames.has(node); node = model.parent[node]) missing.push(node);
	let frame = node ? program.frames.get(node) : program.frame;
	while (missing.length) {
		const parent = frame, made = missing.pop();
		frame = newFrame(parent, model.procedureOf[made]);
		frame.children = [];
		parent.children.push(frame);
		program.frames.set(made, frame);
	}
	for (; frame !== program.frame; frame = frame.parent) path.push(frame);
	return path;
}

// ---- callees above callers ----

// Frames of ends of stacks, which are expanded when they are drawn.
function growUp(selection) {
	const { model, self } = selection, root = newFrame(null, -1, "all"), ends = [];
	for (let i = 0; i < model.nodeCount; i++)
		if (flame.look.metrics.some((metric) => self[metric][i])) ends.push([i, i]);
	root.ends = ends;
	for (const [end] of ends) addTo(root, self, end);
	return root;
}

// ends: pairs of where a walk stands, and the end whose time it has.
function expand(frame, selection) {
	const { model, self } = selection, groups = new Map();
	for (const [at, end] of frame.ends) {
		if (!at) continue;
		const procedure = model.procedureOf[at];
		let group = groups.get(procedure);
		if (!group) {
			group = newFrame(frame, procedure);
			group.ends = [];
			groups.set(procedure, group);
		}
		group.ends.push([model.parent[at], end]);
		addTo(group, self, end);
	}
	frame.children = [...groups.values()];
}

function childrenOf(frame, metric) {
	if (!frame.children) expand(frame, state.selection);
	if (frame.sorted !== metric) {
		frame.children.sort((a, b) => b[metric] - a[metric] || a.procedure - b.procedure);
		frame.sorted = metric;
	}
	return frame.children;
}

// ---- drawing ----

function frameName(frame) {
	return frame.label ?? state.model.procedureName(frame.procedure);
}

function frameColor(frame) {
	if (state.metric === "blocked") return theme.blocked;
	if (state.metric === "spin") return theme.spin;
	if (frame.procedure >= 0 && !state.model.isProcedure(frame.procedure)) return theme.other;
	return parallelismColor(frame.norm ? (frame.cpu - frame.spin) / frame.norm : 0, state.model.processors);
}

// Boxes of the frames from the zoomed one's callers on down.
function layOut(width) {
	const { metric } = state, boxes = [], above = [];
	for (let frame = flame.zoom.parent; frame; frame = frame.parent) above.unshift(frame);
	above.forEach((frame, row) => boxes.push({ frame, row, x: 0, width, above: true }));
	let row = above.length, deeper = 0;
	let level = flame.zoom[metric] > 0 ? [{ frame: flame.zoom, row, x: 0, width }] : [];
	while (level.length && row < above.length + MOST_ROWS) {
		boxes.push(...level);
		const next = [];
		row++;
		for (const box of level) {
			let { x } = box;
			for (const child of childrenOf(box.frame, metric)) {
				const share = (child[metric] / box.frame[metric]) * box.width;
				if (!(share >= LEAST_WIDTH)) break;
				next.push({ frame: child, row, x, width: share });
				x += share;
			}
		}
		level = next;
		deeper = next.length;
	}
	return { boxes, deeper };
}

function isDimmed(frame) {
	return state.matches !== null && !(frame.procedure >= 0 && state.matches[frame.procedure]);
}

function drawBox(context, box) {
	const { frame, x, width } = box, y = box.row * ROW;
	context.globalAlpha = isDimmed(frame) ? 0.25 : box.above ? 0.55 : 1;
	context.fillStyle = flame.look.color(frame);
	context.fillRect(x, y, Math.max(LEAST_WIDTH, width - (width > 3 ? 0.7 : 0)), ROW - 1);
	context.globalAlpha = isDimmed(frame) ? 0.45 : 1;
	if (width > 22) {
		context.fillStyle = theme["frame-ink"];
		const most = Math.floor((width - 8) / flame.character);
		if (most > 1) context.fillText(shortenName(frameName(frame), most), x + 4, y + 14);
	}
	context.globalAlpha = 1;
	if (frame === flame.current || (frame.procedure >= 0 && isSubject("procedure", frame.procedure))) {
		context.strokeStyle = theme.mark;
		context.lineWidth = 2;
		context.strokeRect(x + 1, y + 1, Math.max(1, width - 2.7), ROW - 3);
		context.lineWidth = 1;
	}
}

function drawFlame() {
	const canvas = byId("flame-canvas"), width = canvas.clientWidth, { metric } = state;
	while (flame.zoom.parent && !(flame.zoom[metric] > 0)) flame.zoom = flame.zoom.parent;
	const { boxes, deeper } = layOut(width);
	const rows = boxes.reduce((most, box) => Math.max(most, box.row + 1), 1);
	const context = prepareCanvas(canvas, width, rows * ROW);
	context.font = "12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
	flame.character = context.measureText("0").width;
	flame.boxes = boxes;
	for (const box of boxes) drawBox(context, box);
	const nothing = !(flame.root[metric] > 0);
	byId("flame-none").hidden = !nothing;
	byId("flame-more").hidden = !deeper;
	replace("flame-legend", flame.look.legend());
	drawPath();
	byId("flame-sum").textContent = flame.look.sum(nothing);
	flame.look.drawn?.();
}

function swatch(text, color) {
	return styled(element("span", { class: "swatch" }, text), { "background-color": color });
}

function levelLegend() {
	const { processors } = state.model, byLevel = state.metric === "norm" || state.metric === "cpu";
	const steps = [...new Set([0, 0.25, 0.5, 0.75, 1].map((share) => Math.round(1 + share * (processors - 1))))];
	return byLevel ? ["CPUs busy meanwhile: ", ...steps.map((level) => swatch(String(level), parallelismColor(level, processors)))] : [];
}

function sumText(nothing) {
	const { metric, selection } = state;
	return nothing ? "" : `${formatTime(flame.root[metric])} in all` +
		(metric === "norm" ? `, ${formatPercent(flame.root.norm, selection.elapsed)} of the elapsed time` : "");
}

function drawPath() {
	const path = [];
	for (let frame = flame.zoom; frame; frame = frame.parent) path.unshift(frame);
	const shown = path.length > 6 ? [path[0], null, ...path.slice(-4)] : path;
	replace("flame-path", path.length < 2 ? [] : shown.flatMap((frame, i) => [i ? " › " : "", frame === null ? "…"
		: element("button", { class: "link", onclick: () => zoomTo(frame) }, shortenName(frameName(frame), 40))]));
}

// ---- by hand ----

function zoomTo(frame) {
	flame.zoom = frame;
	flame.current = frame.parent ? frame : null;
	drawFlame();
	describeFrame(flame.current);
}

function boxAt(event) {
	const area = byId("flame-canvas").getBoundingClientRect();
	const x = event.clientX - area.left, row = Math.floor((event.clientY - area.top) / ROW);
	return flame.boxes.findLast((box) => box.row === row && x >= box.x && x < box.x + Math.max(1, box.width));
}

function linesOf(frame) {
	const { elapsed } = state.selection, { procedure } = frame;
	const lines = [shortenName(frameName(frame), 300),
		`normalized ${formatTime(frame.norm)}, ${formatPercent(frame.norm, elapsed)} of the elapsed time`,
		`${formatLevel(frame.norm ? (frame.cpu - frame.spin) / frame.norm : 0)} of ${state.model.processors} CPUs busy; ` +
			`CPU ${formatTime(frame.cpu)}` + (frame.spin ? `, ${formatTime(frame.spin)} of it spinning` : ""),
		`blocked ${formatTime(frame.blocked)}`];
	if (procedure >= 0 && state.model.procedures.module[procedure])
		lines.push(shortenName(state.model.procedures.module[procedure], 80));
	return lines;
}

function describeFrame(frame) {
	byId("flame-said").textContent = frame ? flame.look.lines(frame).join("; ") : "";
}

function hoverFlame(event) {
	const box = boxAt(event);
	event.target.classList.toggle("pointing", Boolean(box));
	if (box) showTip(event, flame.look.lines(box.frame));
	else hideTip();
}

function clickFlame(event) {
	const box = boxAt(event);
	if (!box) return;
	zoomTo(box.frame === flame.zoom && box.frame.parent ? box.frame.parent : box.frame);
	if (event.detail === 2 && box.frame.procedure >= 0) selectSubject("procedure", box.frame.procedure);
}

// Arrows go from frame to frame; Enter zooms, Backspace and Escape go back, Space shows what is known.
function steerFlame(event) {
	const now = flame.current ?? flame.zoom, { metric } = state;
	const siblings = now.parent ? childrenOf(now.parent, metric) : [now], at = siblings.indexOf(now);
	const moves = {
		ArrowDown: () => childrenOf(now, metric)[0],
		ArrowUp: () => now.parent,
		ArrowLeft: () => siblings[at - 1],
		ArrowRight: () => siblings[at + 1],
	};
	if (event.key === "Enter") zoomTo(now);
	else if (event.key === "Backspace" || event.key === "Escape") zoomTo(flame.zoom.parent ?? flame.root);
	else if (event.key === " " && now.procedure >= 0) selectSubject("procedure", now.procedure);
	else if (moves[event.key]) {
		const next = moves[event.key]();
		if (next && next[metric] > 0) {
			flame.current = next;
			if (!flame.boxes.some((box) => box.frame === next)) flame.zoom = next;
			drawFlame();
			describeFrame(next);
		}
	} else return;
	event.preventDefault();
}

// Procedures on the way to a frame, to find it in another tree.
function pathOf(frame) {
	const path = [];
	for (; frame?.parent; frame = frame.parent) path.unshift(frame.label ?? frame.procedure);
	return path;
}

function followPath(path) {
	let frame = flame.root;
	for (const step of path) {
		const next = childrenOf(frame, state.metric).find((child) => (child.label ?? child.procedure) === step);
		if (!next) break;
		frame = next;
	}
	return frame;
}

function growFlame() {
	const { selection, inverted, scope } = state, path = pathOf(flame.zoom);
	flame.root = inverted ? growUp(selection) : scope.isMachine ? growDownByProgram(selection) : growDown(selection);
	flame.zoom = followPath(path);
	flame.current = null;
	drawFlame();
}

// side: "" on the page of one profile.
function chooseMetric(measure, side = state.side) {
	Object.assign(state, { measure, side, metric: side ? `${side}_${measure}` : measure });
	for (const button of document.querySelectorAll("[data-metric]"))
		button.setAttribute("aria-pressed", String(button.dataset.metric === measure));
	for (const button of document.querySelectorAll("[data-side]"))
		button.setAttribute("aria-pressed", String(button.dataset.side === side));
	if (flame.root) drawFlame();
}

function startFlame() {
	const canvas = byId("flame-canvas");
	canvas.addEventListener("mousemove", hoverFlame);
	canvas.addEventListener("mouseleave", hideTip);
	canvas.addEventListener("click", clickFlame);
	canvas.addEventListener("keydown", steerFlame);
	for (const button of document.querySelectorAll("[data-metric]"))
		button.addEventListener("click", () => chooseMetric(button.dataset.metric));
	for (const button of document.querySelectorAll("[data-side]"))
		button.addEventListener("click", () => chooseMetric(state.measure, button.dataset.side));
	byId("flame-inverted").addEventListener("click", (event) => {
		state.inverted = !state.inverted;
		event.currentTarget.setAttribute("aria-pressed", String(state.inverted));
		flame.zoom = null;
		growFlame();
	});
	byId("flame-reset").addEventListener("click", () => zoomTo(flame.root));
}

// color, legend, lines, which are shown of a frame under the mouse, sum, beside the legend, and drawn, which is called then.
flame.look = { metrics: METRICS, color: frameColor, legend: levelLegend, lines: linesOf, sum: sumText };

listen("data", growFlame, "profile comparison");
listen("search subject theme view", () => flame.root && drawFlame(), "profile comparison");
