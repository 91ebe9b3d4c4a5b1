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

// A node of stacks that no longer are on the page is of no use: when there are so many, all begins anew.
const MOST_NODES = 200000;

class Merger {
	constructor() {
		this.causes = new Interner();
		this.procedures = new Interner();
		this.scopes = new Map();
		this.beginNodes();
	}

	beginNodes() {
		this.nodes = new Interner();
		this.nodes.place("root", { parent: 0, procedure: -1 });
	}

	// One document, with all its parts in their places here: what merging would otherwise do again each time.
	read(json) {
		const { name, module, file, line, kind } = json.procedures;
		const places = {
			causes: json.causes.map((cause) => this.causes.place(cause, cause)),
			procedures: name.map((n, i) => (n || kind[i] ? this.procedures.place(`${n}\0${module[i]}\0${file[i]}\0${kind[i]}`,
				{ name: n, module: module[i], file: file[i], line: line[i], kind: kind[i] }) : -1)),
		};
		places.nodes = this.placeNodes(json.nodes, places.procedures);
		return { schema: json.schema, run: json.run,
			scopes: new Map(json.scopes.map((scope) => [scopeKey(scope.summary), this.readScope(scope, places)])) };
	}

	placeNodes(nodes, procedures) {
		const places = [0];
		nodes.back.forEach((back, i) => {
			if (!i) return;
			const parent = places[i - back], procedure = procedures[nodes.procedure[i]];
			places.push(this.nodes.place(parent * 0x400000 + procedure, { parent, procedure }));
		});
		return places;
	}

	readScope(scope, places) {
		const key = scopeKey(scope.summary);
		if (!this.scopes.has(key)) this.scopes.set(key, { threads: new Interner(), objects: new Interner() });
		const known = this.scopes.get(key), place = (list, i) => (i < 0 ? -1 : list[i]);
		const threads = Merger.placeThreads(known, scope.threads, places);
		const objects = scope.objects.map((object) => known.objects.place(`${object.pid} ${object.label}`, { label: object.label }));
		const rowsOf = ({ node_step: steps, ...columns }) => {
			let node = 0;
			return steps.map((step, i) => {
				const row = { node: places.nodes[(node += step)] };
				for (const name in columns) row[name] = columns[name][i];
				row.thread = place(threads, row.thread);
				row.object = place(objects, row.object);
				if (columns.cause) row.cause = places.causes[row.cause];
				return row;
			});
		};
		const subjects = { procedure: places.procedures, cause: places.causes, thread: threads, object: objects };
		return {
			summary: scope.summary, verdict: scope.verdict,
			findings: scope.findings.map((finding) => ({ ...finding, index: place(subjects[finding.subject.kind] ?? [], finding.index) })),
			objects: scope.objects.map((object, i) => [objects[i], object]),
			samples: rowsOf(scope.samples), waits: rowsOf(scope.waits), wakes: rowsOf(scope.wakes),
		};
	}

	// What is known of a thread but its times, which rows have.
	static placeThreads(known, columns, places) {
		return columns.tid.map((tid, i) => {
			const place = known.threads.place(`${columns.pid[i]} ${tid} ${columns.start_ns[i]}`, {}), thread = known.threads.items[place];
			for (const name of THREAD_COLUMNS) thread[name] = columns[name][i];
			thread.start = thread.start < 0 ? -1 : places.procedures[thread.start];
			return place;
		});
	}

	isFull() {
		return this.nodes.items.length > MOST_NODES;
	}

	// Of several that were read, in their order.
	merge(parts) {
		const order = this.sortNodes(), last = parts.at(-1);
		return {
			schema: last.schema,
			run: last.run,
			causes: this.causes.items,
			procedures: columnsOf(this.procedures.items, ["name", "module", "file", "line", "kind"]),
			nodes: order.nodes,
			scopes: [...last.scopes.keys()].map((key) =>
				Merger.mergeScope(this.scopes.get(key), parts.map((part) => part.scopes.get(key)), order.place)),
		};
	}

	// What each calls right behind it.
	sortNodes() {
		const { items } = this.nodes, n = items.length, child = new Int32Array(n).fill(-1), sibling = new Int32Array(n).fill(-1);
		const place = new Int32Array(n), back = new Array(n), procedure = new Array(n);
		for (let i = n; i-- > 1; ) {
			sibling[i] = child[items[i].parent];
			child[items[i].parent] = i;
		}
		for (let at = 0, k = 0; at >= 0; k++) {
			place[at] = k;
			back[k] = k - place[items[at].parent];
			procedure[k] = items[at].procedure;
			if (child[at] >= 0) at = child[at];
			else {
				while (at && sibling[at] < 0) at = items[at].parent;
				at = at ? sibling[at] : -1;
			}
		}
		return { place, nodes: { back, procedure } };
	}

	// parts: undefined where the scope was not in a document.
	static mergeScope(known, parts, place) {
		const last = parts.findLast((part) => part), summary = {}, objects = [];
		for (const part of parts) {
			if (!part) continue;
			addFigures(summary, part.summary);
			for (const [at, object] of part.objects) addFigures((objects[at] ??= {}), object);
		}
		const all = (kind) => parts.flatMap((part, slot) => (part ? part[kind].map((row) => ({ ...row, node: place[row.node], slot })) : []));
		const samples = all("samples"), waits = all("waits"), slots = Merger.slotColumns(parts, summary);
		return {
			summary, verdict: last.verdict, findings: last.findings,
			objects: known.objects.items.map((item, i) => ({ ...NO_OBJECT, ...objects[i], label: item.label })),
			threads: columnsOf(known.threads.items, THREAD_COLUMNS),
			procedures: { procedure: [], ci_ns: [] },
			timeline: { slot_ns: 1e9, begin_ns: -parts.length * 1e9, slots, samples: stepped(samples, "slot", ["node", ...SAMPLE_COLUMNS]),
				waits: stepped(waits, "slot", ["node", ...WAIT_COLUMNS]) },
			samples: stepped(samples.sort(byNode), "node", SAMPLE_COLUMNS),
			waits: stepped(waits.sort(byNode), "node", WAIT_COLUMNS),
			wakes: stepped(all("wakes").sort(byNode), "node", ["thread", "object", "woken_ns", "wakes"]),
		};
	}

	static slotColumns(parts, { level_ns: levels, effective_ns: effective }) {
		const of = (pick, none) => parts.map((part) => (part ? pick(part.summary, part) : none));
		const sum = (rows, name) => rows.reduce((all, row) => all + row[name], 0);
		return {
			elapsed_ns: of((s) => s.elapsed_ns, 0),
			running_ns: of((s) => s.level_ns.reduce((all, ns, level) => all + ns * level, 0), 0),
			spin_ns: of((s) => s.spin_ns, 0),
			ready_ns: of((s, part) => sum(part.waits, "ready_ns"), 0),
			blocked_ns: of((s, part) => sum(part.waits, "blocked_ns"), 0),
			levels_ns: of((s) => s.level_ns, levels.map(() => 0)),
			busy_ns: of((s) => s.effective_ns, effective.map(() => 0)),
		};
	}
}

const THREAD_COLUMNS = ["tid", "pid", "comm", "name", "program", "unit", "start", "idle", "merged", "waits"];
const SAMPLE_COLUMNS = ["thread", "object", "level", "busy", "spinning", "norm_ns", "cpu_ns", "samples"];
const WAIT_COLUMNS = ["thread", "object", "cause", "blocked_ns", "ready_ns", "waits"];
const NO_OBJECT = { queue_ns: [], arrivals: [], waits: 0, wait_ns: 0,
	cost: { cost_ns: 0, held_running_ns: 0, held_blocked_ns: 0, free_ns: 0, lock_ns: 0 } };

function scopeKey(summary) {
	return `${summary.kind} ${summary.pid}`;
}

function byNode(a, b) {
	return a.node - b.node;
}

function columnsOf(rows, names) {
	return Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name])]));
}

// Rows that are sorted by a column, as columns: of that one the steps.
function stepped(rows, by, names) {
	return { [by + "_step"]: rows.map((row, i) => row[by] - (i ? rows[i - 1][by] : 0)), ...columnsOf(rows, names) };
}
