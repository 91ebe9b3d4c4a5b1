// SPDX-License-Identifier: GPL-2.0-only
// The bottle graph (Du Bois and others, 2013): a box for each thread, as wide as the number of processors that were busy
// while it ran, as high as its share of the time. All heights add up to the time in which anything ran. The neck of
// the bottle is what to look at: high and narrow.

const BOTTLE_HEIGHT = 320, BOTTLE_LEAST = 0.015;

// Boxes of threads, widest first; small ones are one.
function bottleBoxes(selection) {
	const { threads } = selection, boxes = [], small = { threads: [], norm: 0, work: 0 };
	for (let i = 0; i < threads.n; i++) {
		if (!threads.norm[i]) continue;
		const work = threads.cpu[i] - threads.spin[i];
		if (threads.norm[i] < BOTTLE_LEAST * selection.busy) {
			small.threads.push(i);
			small.norm += threads.norm[i];
			small.work += work;
		} else boxes.push({ thread: i, norm: threads.norm[i], work });
	}
	if (small.threads.length) boxes.push({ ...small, thread: -1 });
	return boxes.sort((a, b) => b.work / b.norm - a.work / a.norm || b.norm - a.norm);
}

function bottleLabel(box, scope) {
	if (box.thread < 0) return `${box.threads.length} others`;
	const start = scope.threads.start[box.thread];
	const name = scope.threadName(box.thread), tid = scope.threads.tid[box.thread];
	return start >= 0 ? `${state.model.procedureName(start)} (${name} ${tid})` : `${name} ${tid}`;
}

function drawBottle() {
	const { selection, scope, model } = state, boxes = bottleBoxes(selection);
	const width = Math.max(260, byId("bottle").clientWidth), body = Math.min(0.52 * width, 300);
	const svg = svgElement("svg", { viewBox: `0 0 ${width} ${BOTTLE_HEIGHT + 22}`, width, height: BOTTLE_HEIGHT + 22,
		role: "img", "aria-label": "bottle graph of threads" });
	const sum = boxes.reduce((all, box) => all + box.norm, 0);
	let bottom = BOTTLE_HEIGHT, labelAbove = Infinity;
	for (const box of boxes) {
		const height = (box.norm / sum) * BOTTLE_HEIGHT, parallelism = box.work / box.norm;
		const boxWidth = (parallelism / model.processors) * body, y = bottom - height;
		const title = `${shortenName(bottleLabel(box, scope), 100)}: ${formatTime(box.norm)}, ` +
			`${formatPercent(box.norm, selection.elapsed)} of the time, ${formatLevel(parallelism)} CPUs busy meanwhile`;
		const selected = box.thread >= 0 && isSubject("thread", box.thread);
		const group = svgElement("g", { class: box.thread < 0 ? "" : "clickable", tabindex: box.thread < 0 ? false : 0,
			role: box.thread < 0 ? false : "button",
			onclick: () => box.thread >= 0 && selectSubject("thread", box.thread),
			onkeydown: (event) => event.key === "Enter" && box.thread >= 0 && selectSubject("thread", box.thread) },
		svgElement("title", {}, title),
		svgElement("rect", { x: (body - boxWidth) / 2, y, width: Math.max(1, boxWidth), height: Math.max(0.5, height - 1),
			fill: parallelismColor(parallelism, model.processors), stroke: selected ? theme.mark : "none", "stroke-width": 2 }));
		// Labels keep a line's distance, even where boxes are lower than that.
		const at = Math.min(y + height / 2 + 4, labelAbove - 14);
		if (at > 8) {
			group.append(svgElement("text", { x: body + 12, y: at, fill: theme.ink, "font-size": 12 },
				`${formatPercent(box.norm, selection.elapsed)} `,
				svgElement("tspan", { class: "bottle-name" }, shortenName(bottleLabel(box, scope), Math.floor((width - body - 70) / 6.6)))));
			labelAbove = at;
		}
		svg.append(group);
		bottom = y;
	}
	for (let level = 0; level <= 1; level++) {
		const x = level ? body : 0;
		svg.append(svgElement("line", { x1: x, x2: x, y1: 0, y2: BOTTLE_HEIGHT, stroke: theme.line, "stroke-dasharray": "3 3" }));
	}
	svg.append(svgElement("text", { x: body / 2, y: BOTTLE_HEIGHT + 16, "text-anchor": "middle", fill: theme.muted, "font-size": 11 },
		`width: CPUs busy meanwhile, at most ${model.processors}`));
	replace("bottle", boxes.length ? svg : element("p", { class: "muted" }, "No thread ran here."));
}

listen("data subject theme view", drawBottle);
