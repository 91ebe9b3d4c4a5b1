// SPDX-License-Identifier: GPL-2.0-only
// Parallelism over time, in three lanes over one axis: threads that run, spin or are ready; the share of each
// number of running threads, which is exact; threads that are blocked. An interval that is marked here filters all else.

const LANES = [
	{ name: "threads", height: 110 },
	{ name: "running", height: 34 },
	{ name: "blocked", height: 34 },
];
const LANE_GAP = 16, AXIS = 18, LEFT = 34;

const chart = { width: 0, drag: null };

// Threads in each state, on average over a slot.
function statesOf(slot) {
	const elapsed = slot.elapsed_ns || 1;
	return {
		busy: Math.max(0, slot.running_ns - slot.spin_ns) / elapsed,
		spin: slot.spin_ns / elapsed,
		ready: slot.ready_ns / elapsed,
		blocked: slot.blocked_ns / elapsed,
	};
}

function timeX(slot) {
	return LEFT + (slot / state.scope.timeline.n) * (chart.width - LEFT - 4);
}

function slotAt(x) {
	const n = state.scope.timeline.n;
	return Math.max(0, Math.min(n, Math.round(((x - LEFT) / (chart.width - LEFT - 4)) * n)));
}

function drawTimeline() {
	const timeline = state.scope.timeline, canvas = byId("timeline-canvas");
	byId("timeline-body").hidden = !timeline;
	byId("timeline-none").hidden = Boolean(timeline);
	if (!timeline) return;
	chart.width = canvas.clientWidth;
	const height = LANES.reduce((sum, lane) => sum + lane.height + LANE_GAP, AXIS);
	const context = prepareCanvas(canvas, chart.width, height);
	let top = LANE_GAP - 2;
	context.font = "11px system-ui, sans-serif";
	for (const [lane, draw] of [[LANES[0], drawThreads], [LANES[1], drawLevelShares], [LANES[2], drawBlocked]]) {
		draw(context, timeline, top, lane.height);
		top += lane.height + LANE_GAP;
	}
	drawAxis(context, timeline, top - LANE_GAP + 2);
	drawInterval(context, top - LANE_GAP);
	describeInterval();
}

function drawLabel(context, text, top) {
	context.fillStyle = theme.muted;
	context.textAlign = "left";
	context.fillText(text, LEFT, top - 4);
}

// An area per state, one upon the other. `most` is at the top of the lane.
function drawAreas(context, timeline, top, height, most, names) {
	const states = timeline.slots.map(statesOf);
	timeline.slots.forEach((slot, i) => {
		let y = top + height;
		const x = timeX(i), width = Math.max(1, timeX(i + 1) - x + 0.5);
		for (const name of names) {
			const part = (states[i][name] / most) * height;
			context.fillStyle = theme[name];
			context.fillRect(x, Math.max(top, y - part), width, Math.min(part, y - top));
			y -= part;
		}
	});
}

function drawScale(context, top, height, most, unit) {
	context.textAlign = "right";
	context.fillStyle = theme.muted;
	context.fillText(formatLevel(most), LEFT - 5, top + 9);
	context.fillText("0", LEFT - 5, top + height);
	context.strokeStyle = theme.line;
	context.strokeRect(LEFT - 0.5, top + 0.5, chart.width - LEFT - 3, height);
}

function drawThreads(context, timeline, top, height) {
	const { processors } = state.model;
	const most = Math.max(processors, ...timeline.slots.map(statesOf).map((s) => Math.min(s.busy + s.spin + s.ready, 3 * processors)));
	drawLabel(context, "threads: busy, spinning, ready for a CPU", top);
	drawAreas(context, timeline, top, height, most, ["busy", "spin", "ready"]);
	drawScale(context, top, height, most);
	const y = top + height - (processors / most) * height;
	context.setLineDash([4, 3]);
	context.strokeStyle = theme.ink;
	context.beginPath();
	context.moveTo(LEFT, y + 0.5);
	context.lineTo(chart.width - 4, y + 0.5);
	context.stroke();
	context.setLineDash([]);
}

function drawLevelShares(context, timeline, top, height) {
	drawLabel(context, "running threads, exact: share of the time with 0, 1, … of them", top);
	timeline.slots.forEach((slot, i) => {
		const x = timeX(i), width = Math.max(1, timeX(i + 1) - x + 0.5);
		let y = top + height;
		slot.levels_ns.forEach((ns, level) => {
			const part = (ns / (slot.elapsed_ns || 1)) * height;
			context.fillStyle = levelColor(level, state.model.processors);
			context.fillRect(x, y - part, width, part + 0.5);
			y -= part;
		});
	});
	context.strokeStyle = theme.line;
	context.strokeRect(LEFT - 0.5, top + 0.5, chart.width - LEFT - 3, height);
}

function drawBlocked(context, timeline, top, height) {
	const most = Math.max(1, ...timeline.slots.map(statesOf).map((s) => s.blocked));
	drawLabel(context, "blocked threads", top);
	drawAreas(context, timeline, top, height, most, ["blocked"]);
	drawScale(context, top, height, most);
}

function drawAxis(context, timeline, top) {
	const span = timeline.endNs - timeline.beginNs, raw = span / Math.max(2, chart.width / 110);
	const power = 10 ** Math.floor(Math.log10(raw));
	const step = [1, 2, 5, 10].map((k) => k * power).find((value) => value >= raw);
	context.fillStyle = theme.muted;
	context.textAlign = "center";
	for (let ns = 0; ns <= span; ns += step) {
		const x = timeX(ns / timeline.slotNs);
		context.fillRect(Math.round(x), top, 1, 4);
		if (x > LEFT + 10 && x < chart.width - 20) context.fillText(formatTime(timeline.beginNs + ns), x, top + 14);
	}
}

function drawInterval(context, bottom) {
	const interval = chart.drag ?? state.interval;
	if (!interval) return;
	const from = timeX(interval.from), to = timeX(interval.to);
	context.fillStyle = theme.card;
	context.globalAlpha = 0.65;
	context.fillRect(LEFT, 0, from - LEFT, bottom);
	context.fillRect(to, 0, chart.width - 4 - to, bottom);
	context.globalAlpha = 1;
	context.strokeStyle = theme.accent;
	context.lineWidth = 2;
	context.strokeRect(from, 1, to - from, bottom - 2);
	context.lineWidth = 1;
}

function intervalText() {
	const { timeline } = state.scope, { interval } = state;
	return !interval ? (live.parts.length ? "all that is kept" : "all of the run") : `${formatTime(timeline.beginNs + interval.from * timeline.slotNs)} to ` +
		formatTime(timeline.beginNs + interval.to * timeline.slotNs);
}

function describeInterval() {
	const { interval } = state;
	byId("interval").textContent = intervalText();
	byId("interval-clear").classList.toggle("absent", !interval);
	byId("interval-note").classList.toggle("absent", !interval);
}

// ---- marking an interval ----

function pointerSlot(event) {
	return slotAt(event.clientX - byId("timeline-canvas").getBoundingClientRect().left);
}

function beginDrag(event) {
	if (event.button) return;
	const slot = pointerSlot(event);
	chart.drag = { start: slot, from: slot, to: slot };
	event.target.setPointerCapture(event.pointerId);
}

function moveDrag(event) {
	if (!chart.drag) return tipOfSlot(event);
	const slot = pointerSlot(event);
	chart.drag.from = Math.min(slot, chart.drag.start);
	chart.drag.to = Math.max(slot, chart.drag.start);
	drawTimeline();
}

// A click without a move gives the whole run back.
function endDrag() {
	const drag = chart.drag;
	chart.drag = null;
	if (drag) selectInterval(drag.to > drag.from ? { from: drag.from, to: drag.to } : null);
}

function tipOfSlot(event) {
	const { timeline } = state.scope, i = Math.min(timeline.n - 1, Math.floor(slotAt(event.clientX -
		byId("timeline-canvas").getBoundingClientRect().left)));
	const s = statesOf(timeline.slots[i]);
	showTip(event, [
		`${formatTime(timeline.beginNs + i * timeline.slotNs)}, slot of ${formatTime(timeline.slotNs)}`,
		`${s.busy.toFixed(2)} busy, ${s.spin.toFixed(2)} spinning, ${s.ready.toFixed(2)} ready, ` +
			`${s.blocked.toFixed(1)} blocked`,
	]);
}

// Arrows move the interval, with shift its end; Escape gives the whole run back.
function steerInterval(event) {
	const { timeline } = state.scope, n = timeline.n, step = Math.max(1, Math.round(n / 64));
	const now = state.interval ?? { from: 0, to: Math.max(1, Math.round(n / 8)) };
	const by = { ArrowLeft: -step, ArrowRight: step }[event.key];
	if (event.key === "Escape") selectInterval(null);
	else if (!by) return;
	else if (event.shiftKey)
		selectInterval({ from: now.from, to: Math.max(now.from + 1, Math.min(n, now.to + by)) });
	else if (!state.interval) selectInterval(now);
	else {
		const shift = Math.max(-now.from, Math.min(n - now.to, by));
		selectInterval({ from: now.from + shift, to: now.to + shift });
	}
	event.preventDefault();
}

function startTimeline() {
	const canvas = byId("timeline-canvas");
	canvas.addEventListener("pointerdown", beginDrag);
	canvas.addEventListener("pointermove", moveDrag);
	canvas.addEventListener("pointerup", endDrag);
	canvas.addEventListener("pointercancel", endDrag);
	canvas.addEventListener("pointerleave", hideTip);
	canvas.addEventListener("keydown", steerInterval);
	byId("interval-clear").addEventListener("click", () => selectInterval(null));
}

listen("data theme view", drawTimeline);
