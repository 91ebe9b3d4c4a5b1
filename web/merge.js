// SPDX-License-Identifier: GPL-2.0-only
// Documents of one time after another, put together as one with a time axis, a slot for each. Procedures, threads, objects
// and causes keep their places as long as the page is open, so that what is selected stays so.

class Interner {
	constructor() {
		this.places = new Map();
		this.items = [];
	}

	place(key, item) {
		let place = this.places.get(key);
		if (place === undefined) {
			place = this.items.length;
			this.places.set(key, place);
			this.items.push(item);
		}
		return place;
	}
}

// Adds numbers, and lists of numbers, to those of the same name; other values replace.
function addFigures(to, from) {
	for (const [name, value] of Object.entries(from)) {
		const now = to[name];
		if (Array.isArray(value)) to[name] = value.map((v, i) => v + (now?.[i] ?? 0));
		else if (typeof value === "number" && /_ns$|^(samples|waits|wakes|truncated|unresolved)$/.test(name)) to[name] = (now ?? 0) + value;
		else if (value && typeof value === "object") to[name] = addFigures(now ?? {}, value);
		else to[name] = value;
	}
	return to;
}

class Merger {
	constructor() {
		this.causes = new Interner();
		this.procedures = new Interner();
		this.scopes = new Map();
	}

	// One document, with the places of its parts here.
	read(json) {
		const { name, module, file, line, kind } = json.procedures;
		return {
			json,
			causes: json.causes.map((cause) => this.causes.place(cause, cause)),
			procedures: name.map((n, i) => (n || kind[i] ? this.procedures.place(`${n}\0${module[i]}\0${file[i]}\0${kind[i]}`,
				{ name: n, module: module[i], file: file[i], line: line[i], kind: kind[i] }) : -1)),
		};
	}

	// Of several that were read, in their order.
	merge(parts) {
		const nodes = new Interner(), last = parts.at(-1).json;
		nodes.place("root", { parent: 0, procedure: -1 });
		for (const part of parts) part.nodes = this.mergeNodes(nodes, part);
		const order = Merger.sortNodes(nodes.items);
		for (const part of parts) part.nodes = part.nodes.map((node) => order.place[node]);
		return {
			schema: last.schema,
			run: last.run,
			causes: this.causes.items,
			procedures: Object.fromEntries(["name", "module", "file", "line", "kind"].map((column) =>
				[column, this.procedures.items.map((p) => p[column])])),
			nodes: order.nodes,
			scopes: last.scopes.map((scope) => this.mergeScope(parts, scope.summary)),
		};
	}

	mergeNodes(nodes, { json, procedures }) {
		const places = [0];
		json.nodes.back.forEach((back, i) => {
			if (!i) return;
			const parent = places[i - back], procedure = procedures[json.nodes.procedure[i]];
			places.push(nodes.place(`${parent},${procedure}`, { parent, procedure }));
		});
		return places;
	}

	// What each calls right behind it.
	static sortNodes(items) {
		const children = items.map(() => []), place = new Int32Array(items.length), back = [], procedure = [], open = [0];
		items.forEach((node, i) => i && children[node.parent].push(i));
		while (open.length) {
			const node = open.pop();
			place[node] = back.length;
			back.push(place[node] - place[items[node].parent]);
			procedure.push(items[node].procedure);
			for (let i = children[node].length; i-- > 0; ) open.push(children[node][i]);
		}
		return { place, nodes: { back, procedure } };
	}

	mergeScope(parts, { kind, pid }) {
		const key = `${kind} ${pid}`;
		if (!this.scopes.has(key)) this.scopes.set(key, { threads: new Interner(), objects: new Interner() });
		const merged = { summary: {}, verdict: "", findings: [], wakes: [], slots: [] };
		merged.known = this.scopes.get(key);
		merged.threads = merged.known.threads.items.map((thread) => ({ ...thread }));
		merged.objects = merged.known.objects.items.map((object) => ({ ...object }));
		parts.forEach((part, slot) => {
			const scope = part.json.scopes.find((s) => s.summary.kind === kind && s.summary.pid === pid);
			merged.slots.push({ samples: [], waits: [], summary: scope?.summary });
			if (scope) Merger.addScope(merged, part, scope, slot);
		});
		return Merger.finish(merged, parts.length);
	}

	static addScope(merged, part, scope, slot) {
		addFigures(merged.summary, scope.summary);
		const threads = Merger.addThreads(merged, part, scope.threads);
		const objects = scope.objects.map((object) => {
			const place = merged.known.objects.place(`${object.pid} ${object.label}`, { label: object.label });
			addFigures((merged.objects[place] ??= {}), object);
			return place;
		});
		const place = (places, i) => (i < 0 ? -1 : places[i]);
		const walk = (rows, take) => {
			let node = 0;
			rows.node_step.forEach((step, i) => take(part.nodes[(node += step)], rows, i));
		};
		walk(scope.samples, (node, r, i) => merged.slots[slot].samples.push({ node, thread: place(threads, r.thread[i]),
			object: place(objects, r.object[i]), level: r.level[i], busy: r.busy[i], spinning: r.spinning[i],
			norm_ns: r.norm_ns[i], cpu_ns: r.cpu_ns[i], samples: r.samples[i] }));
		walk(scope.waits, (node, r, i) => merged.slots[slot].waits.push({ node, thread: place(threads, r.thread[i]),
			object: place(objects, r.object[i]), cause: part.causes[r.cause[i]], blocked_ns: r.blocked_ns[i],
			ready_ns: r.ready_ns[i], waits: r.waits[i] }));
		walk(scope.wakes, (node, r, i) => merged.wakes.push({ node, thread: place(threads, r.thread[i]),
			object: place(objects, r.object[i]), woken_ns: r.woken_ns[i], wakes: r.wakes[i] }));
		const subjects = { procedure: part.procedures, cause: part.causes, thread: threads, object: objects };
		merged.verdict = scope.verdict;
		merged.findings = scope.findings.map((finding) => ({ ...finding,
			index: place(subjects[finding.subject.kind] ?? [], finding.index) }));
	}

	static addThreads(merged, part, columns) {
		return columns.tid.map((tid, i) => {
			const row = Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, column[i]]));
			const place = merged.known.threads.place(`${row.pid} ${tid} ${row.start_ns}`, { tid, pid: row.pid });
			const { start, start_ns: began, end_ns: ended } = row;
			addFigures((merged.threads[place] ??= {}), row);
			Object.assign(merged.threads[place], { start: start < 0 ? -1 : part.procedures[start], start_ns: began, end_ns: ended });
			return place;
		});
	}

	// Rows as columns. Threads and objects of earlier times that are not among these are empty.
	static finish(merged, n) {
		const columns = (rows, names) => Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name] ?? 0)]));
		const steps = (values) => values.map((value, i) => value - (i ? values[i - 1] : 0));
		const table = (rows, names) => {
			rows.sort((a, b) => a.node - b.node);
			return { node_step: steps(rows.map((row) => row.node)), ...columns(rows, names) };
		};
		const slotted = (kind, names) => {
			const rows = merged.slots.flatMap((slot, i) => slot[kind].map((row) => ({ ...row, slot: i })));
			return { slot_step: steps(rows.map((row) => row.slot)), ...columns(rows, ["node", ...names]) };
		};
		const samples = ["thread", "object", "level", "busy", "spinning", "norm_ns", "cpu_ns", "samples"];
		const waits = ["thread", "object", "cause", "blocked_ns", "ready_ns", "waits"];
		const objects = merged.known.objects.items.map((item, i) => ({ queue_ns: [], arrivals: [], waits: 0, wait_ns: 0,
			cost: { cost_ns: 0, held_running_ns: 0, held_blocked_ns: 0, free_ns: 0, lock_ns: 0 }, ...merged.objects[i], label: item.label }));
		const threads = merged.known.threads.items.map((item, i) => ({ comm: "", name: "", program: "", unit: "", start: -1,
			...merged.threads[i], tid: item.tid, pid: item.pid }));
		return {
			summary: merged.summary, verdict: merged.verdict, findings: merged.findings, objects,
			threads: columns(threads, ["tid", "pid", "comm", "name", "program", "unit", "start", "idle", "merged", "waits"]),
			procedures: { procedure: [], ci_ns: [] },
			samples: table(merged.slots.flatMap((slot) => slot.samples), samples),
			waits: table(merged.slots.flatMap((slot) => slot.waits), waits),
			wakes: table(merged.wakes, ["thread", "object", "woken_ns", "wakes"]),
			timeline: { slot_ns: 1e9, begin_ns: -n * 1e9, slots: Merger.slotColumns(merged), samples: slotted("samples", samples),
				waits: slotted("waits", waits) },
		};
	}

	static slotColumns({ slots, summary }) {
		const of = (pick, none) => slots.map((slot) => (slot.summary ? pick(slot.summary, slot) : none));
		const sum = (rows, name) => rows.reduce((all, row) => all + row[name], 0);
		return {
			elapsed_ns: of((s) => s.elapsed_ns, 0),
			running_ns: of((s) => s.level_ns.reduce((all, ns, level) => all + ns * level, 0), 0),
			spin_ns: of((s) => s.spin_ns, 0),
			ready_ns: of((s, slot) => sum(slot.waits, "ready_ns"), 0),
			blocked_ns: of((s, slot) => sum(slot.waits, "blocked_ns"), 0),
			levels_ns: of((s) => s.level_ns, summary.level_ns.map(() => 0)),
			busy_ns: of((s) => s.effective_ns, summary.effective_ns.map(() => 0)),
		};
	}
}
