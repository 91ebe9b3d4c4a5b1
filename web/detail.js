// SPDX-License-Identifier: GPL-2.0-only
// What is known of one procedure, thread or object, and where it is in the views.

const MOST_LINES = 8;

function detailList(title, lines) {
	if (!lines.length) return null;
	return element("div", { class: "detail-list" }, element("h4", {}, title),
		element("ul", {}, lines.slice(0, MOST_LINES).map((line) => element("li", {}, line)),
			lines.length > MOST_LINES ? element("li", { class: "muted" }, `and ${formatCount(lines.length - MOST_LINES)} more`) : null));
}

// [[index, amount]] as lines of a list.
function amountLines(pairs, kind, format) {
	return pairs.filter(([, amount]) => amount > 0).sort((a, b) => b[1] - a[1]).map(([index, amount]) =>
		[element("span", { class: "figure" }, format(amount)), " ",
			index < 0 ? element("span", { class: "muted" }, "unknown") : nameLink(kind, index, 48)]);
}

function sumBy(rows, indices, key, amount) {
	const sums = new Map();
	for (const i of indices) sums.set(rows[key][i], (sums.get(rows[key][i]) ?? 0) + amount(i));
	return [...sums];
}

// Sections, by the kind of page and of subject.
const places = { profile: { procedure: ["flame", "procedures-section"], thread: ["bottle-section", "threads-section"],
	object: ["objects-section"] } };

function placeLinks(kind, index) {
	const labels = { flame: "flame graph", "procedures-section": "table", "changes-section": "table", "bottle-section": "bottle graph",
		"threads-section": "threads", "objects-section": "objects" };
	return (places[state.page][kind] ?? []).map((id) => element("button", { class: "link", onclick: () => {
		if (id === "flame" && kind === "procedure") zoomToProcedure(index);
		byId(id).scrollIntoView({ block: "start" });
	} }, labels[id]));
}

// The widest frame of the procedure, where one is in the tree as it stands.
function zoomToProcedure(procedure) {
	let best = null;
	const look = (frame, depth) => {
		if (frame.procedure === procedure) {
			if (!best || frame[state.metric] > best[state.metric]) best = frame;
			return;
		}
		if (depth < 400 && (!best || frame[state.metric] > best[state.metric]))
			for (const child of childrenOf(frame, state.metric)) look(child, depth + 1);
	};
	look(flame.root, 0);
	if (best) {
		zoomTo(flame.root);
		flame.current = best;
		if (!flame.boxes.some((box) => box.frame === best)) flame.zoom = best;
		drawFlame();
	}
}

// ---- procedures ----

function neighbours(procedure) {
	const { model } = state, { total } = state.selection, callers = new Map(), callees = new Map();
	const add = (map, key, ns) => map.set(key, (map.get(key) ?? 0) + ns);
	for (let i = 1; i < model.nodeCount; i++) {
		const parent = model.parent[i], amount = total.norm[i] || total.blocked[i] * 1e-9;
		if (model.procedureOf[i] === procedure && model.outermost[i] && parent) add(callers, model.procedureOf[parent], amount);
		if (parent && model.procedureOf[parent] === procedure && model.procedureOf[i] !== procedure)
			add(callees, model.procedureOf[i], amount);
	}
	return { callers: [...callers], callees: [...callees] };
}

function procedureDetail(procedure) {
	const { selection, model, scope } = state, { totalOf, ownOf } = selection, { procedures } = model;
	const levels = new Array(model.processors + 1).fill(0), causes = new Map();
	const below = [...selection.rowsBelow(selection.samples, procedure)];
	for (const i of below)
		if (!selection.samples.spinning[i]) levels[selection.samples.busy[i]] = (levels[selection.samples.busy[i]] ?? 0) + selection.samples.norm_ns[i];
	for (const i of selection.rowsBelow(selection.waits, procedure))
		if (!selection.isIdle(selection.waits.thread[i]))
			causes.set(selection.waits.cause[i], (causes.get(selection.waits.cause[i]) ?? 0) + selection.waits.blocked_ns[i]);
	const ci = selection.uncertainty(procedure), { callers, callees } = neighbours(procedure);
	const where = [procedures.module[procedure], procedures.file[procedure] &&
		`${procedures.file[procedure]}${procedures.line[procedure] ? ":" + procedures.line[procedure] : ""}`].filter(Boolean);
	return [
		element("p", {}, `normalized ${formatTime(totalOf.norm[procedure])}` + (ci === null ? "" : ` ± ${formatTime(ci)}`) +
			`, ${formatPercent(totalOf.norm[procedure], selection.elapsed)} of the elapsed time; ` +
			`own code ${formatTime(ownOf.norm[procedure])}; ${formatLevel(totalOf.parallelism(procedure))} CPUs busy meanwhile; ` +
			`CPU ${formatTime(totalOf.cpu[procedure])}, spinning ${formatTime(totalOf.spin[procedure])}, ` +
			`blocked ${formatTime(totalOf.blocked[procedure])}`),
		where.length ? element("p", { class: "muted" }, where.map((part) => element("bdi", {}, shortenName(part, 120))).flatMap((x) => [x, "  "])) : null,
		element("div", { class: "detail-lists" },
			detailList("By busy CPUs", levels.map((ns, level) => [ns, level]).filter(([ns]) => ns > 0).map(([ns, level]) =>
				[levelCell(level), " ", formatTime(ns), ", ", formatPercent(ns, selection.elapsed)])),
			detailList("Calls", amountLines(callees, "procedure", (ns) => (ns >= 1 ? formatTime(ns) : "waits"))),
			detailList("Called by", amountLines(callers, "procedure", (ns) => (ns >= 1 ? formatTime(ns) : "waits"))),
			detailList("Other processors meanwhile", pairLines(procedure)),
			detailList("Blocked by cause", amountLines([...causes], "cause", formatTime)),
			detailList("Threads", amountLines(sumBy(selection.samples, below, "thread", (i) => selection.samples.norm_ns[i])
				.filter(([t]) => t >= 0 && t < scope.threadCount), "thread", formatTime))),
	];
}

// ---- threads ----

function rowsOf(rows, key, index) {
	const found = [];
	for (let i = 0; i < rows.n; i++) if (rows[key]?.[i] === index) found.push(i);
	return found;
}

function threadDetail(thread) {
	const { selection, scope, model } = state, { threads } = selection, t = scope.threads;
	const { samples, waits } = selection, mine = rowsOf(samples, "thread", thread), waited = rowsOf(waits, "thread", thread);
	const procedures = new Map();
	for (const i of mine) {
		const procedure = model.procedureOf[samples.node[i]];
		procedures.set(procedure, (procedures.get(procedure) ?? 0) + samples.norm_ns[i]);
	}
	return [
		element("p", {}, `normalized ${formatTime(threads.norm[thread])}, ${formatPercent(threads.norm[thread], selection.elapsed)} ` +
			`of the elapsed time; ${formatLevel(threads.parallelism(thread))} CPUs busy meanwhile; CPU ${formatTime(threads.cpu[thread])}, ` +
			`ready ${formatTime(threads.ready[thread])}, blocked ${formatTime(threads.blocked[thread])}`),
		element("p", { class: "muted" }, `thread ${t.tid[thread]} of process ${t.pid[thread]} (`, element("bdi", {}, shortenName(t.program[thread], 60)),
			`), ${t.idle[thread] ? "idle: it hardly did anything but wait in one place" : `${formatCount(t.waits[thread])} waits`}`),
		element("div", { class: "detail-lists" },
			detailList("Own code", amountLines([...procedures].filter(([p]) => p >= 0), "procedure", formatTime)),
			detailList("Waited by cause", amountLines(sumBy(waits, waited, "cause", (i) => waits.blocked_ns[i]), "cause", formatTime)),
			detailList("Waited for", amountLines(sumBy(waits, waited, "object", (i) => waits.blocked_ns[i]).filter(([o]) => o >= 0),
				"object", formatTime))),
	];
}

// ---- objects ----

function objectDetail(index) {
	const object = state.scope.objects[index], { cost } = object;
	return [
		element("p", {}, `cost ${formatTime(cost.cost_ns)}, ${formatPercent(cost.cost_ns, state.scope.summary.elapsed_ns)} of the elapsed time: ` +
			`${formatTime(cost.held_running_ns)} while a holder ran, ${formatTime(cost.held_blocked_ns)} while it was blocked, ` +
			`${formatTime(cost.free_ns)} with free processors, ${formatTime(cost.lock_ns)} for locking; ` +
			`${formatCount(object.waits)} waits of ${formatTime(object.wait_ns)} together`),
		element("div", { class: "detail-lists" },
			detailList("Queue", object.queue_ns.map((ns, length) => [ns, length]).filter(([ns, length]) => ns > 0 && length).map(([ns, length]) =>
				`${length}${length + 1 === object.queue_ns.length ? " or more" : ""} waiting: ${formatTime(ns)}`)),
			detailList("Waits for it", amountLines(objectRoles.waits(index), "procedure", formatTime)),
			detailList("Holds it", amountLines(objectRoles.holds(index), "procedure", formatTime)),
			detailList("Spins on it", amountLines(objectRoles.spins(index), "procedure", formatTime)),
			detailList("Wakes who waits", amountLines(objectRoles.wakes(index), "procedure", (n) => `${formatCount(n)} times`))),
	];
}

// ---- causes ----

function causeDetail(cause) {
	const { waits } = state.selection, mine = rowsOf(waits, "cause", cause).filter((i) => !state.selection.isIdle(waits.thread[i]));
	const procedures = new Map();
	let sum = 0;
	for (const i of mine) {
		const procedure = tellingProcedure(waits.node[i]);
		procedures.set(procedure, (procedures.get(procedure) ?? 0) + waits.blocked_ns[i]);
		sum += waits.blocked_ns[i];
	}
	return [
		element("p", {}, `threads were blocked ${formatTime(sum)} together, without idle ones`),
		element("div", { class: "detail-lists" },
			detailList("In", amountLines([...procedures], "procedure", formatTime)),
			detailList("Threads", amountLines(sumBy(waits, mine, "thread", (i) => waits.blocked_ns[i]).filter(([t]) => t >= 0), "thread", formatTime)),
			detailList("For", amountLines(sumBy(waits, mine, "object", (i) => waits.blocked_ns[i]).filter(([o]) => o >= 0), "object", formatTime))),
	];
}

const details = { profile: { procedure: procedureDetail, thread: threadDetail, object: objectDetail, cause: causeDetail } };

function drawDetail() {
	const { subject } = state;
	byId("detail").hidden = !subject;
	document.body.classList.toggle("has-detail", subject !== null);
	if (!subject) return;
	const { kind, index } = subject;
	replace("detail-body",
		element("h3", {}, element("span", { class: "muted" }, kind + " "), element("bdi", {}, shortenName(subjectName(kind, index), 300)),
			element("span", { class: "places" }, placeLinks(kind, index).flatMap((link) => [" ", link]))),
		details[state.page][kind](index));
	byId("detail").scrollTop = 0;
	requestAnimationFrame(uncoverFrame);
}

// What was clicked, or reached by a key, is not to be below the details: the page moves as far as they are over it.
function uncover(bottom) {
	const over = bottom + 12 - byId("detail").getBoundingClientRect().top;
	if (!byId("detail").hidden && over > 0) window.scrollBy(0, over);
}

// The frame that keys have chosen, in the flame graph.
function uncoverFrame() {
	const box = document.activeElement === byId("flame-canvas") && flame.boxes.find(({ frame }) => frame === flame.current);
	if (box) uncover(byId("flame-canvas").getBoundingClientRect().top + (box.row + 1) * ROW);
}

function startDetail() {
	document.addEventListener("click", (event) => {
		if (!byId("detail").contains(event.target)) requestAnimationFrame(() => uncover(event.clientY + ROW));
	});
	byId("detail-close").addEventListener("click", () => selectSubject(null));
}

listen("data subject theme", drawDetail, "profile comparison");
