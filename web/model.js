// SPDX-License-Identifier: GPL-2.0-only
// The document (schema quartz.page/v1) as arrays: what does not depend on what is selected.

const KIND_PROCEDURE = 0, KIND_UNATTRIBUTED = 4, KIND_INSTRUMENTATION = 5;

// Sums of steps.
function fromSteps(steps) {
	const values = new Int32Array(steps.length);
	for (let i = 0, value = 0; i < steps.length; i++) values[i] = value += steps[i];
	return values;
}

class Model {
	constructor(json, kind = Scope) {
		this.run = json.run;
		this.causes = json.causes;
		this.procedures = json.procedures;
		this.processors = Math.max(1, json.run.processors);
		this.readNodes(json.nodes);
		this.scopes = json.scopes.map((scope) => new kind(this, scope));
	}

	// What views of a scope show at first.
	select(scope) {
		return new Selection(scope, null);
	}

	// Nodes stand behind their parents, all that a node calls right behind it.
	readNodes(nodes) {
		const n = nodes.back.length;
		this.nodeCount = n;
		this.parent = new Int32Array(n);
		this.procedureOf = Int32Array.from(nodes.procedure);
		this.depth = new Uint32Array(n);
		this.end = new Int32Array(n).fill(n);
		this.outermost = new Uint8Array(n);
		const open = [], onStack = new Uint32Array(this.procedures.name.length);
		for (let i = 0; i < n; i++) {
			this.parent[i] = i - nodes.back[i];
			this.depth[i] = i ? this.depth[this.parent[i]] + 1 : 0;
			while (open.length > this.depth[i]) {
				const closed = open.pop();
				this.end[closed] = i;
				if (closed) onStack[this.procedureOf[closed]]--;
			}
			open.push(i);
			if (i) this.outermost[i] = onStack[this.procedureOf[i]]++ === 0 ? 1 : 0;
		}
	}

	isProcedure(procedure) {
		return this.procedures.kind[procedure] === KIND_PROCEDURE;
	}

	procedureName(procedure) {
		return procedure < 0 ? "all" : this.procedures.name[procedure];
	}
}

class Scope {
	constructor(model, json) {
		this.model = model;
		this.summary = json.summary;
		this.verdict = json.verdict;
		this.findings = json.findings;
		this.threads = json.threads;
		this.threadCount = json.threads.tid.length;
		this.objects = json.objects;
		this.procedures = json.procedures;
		this.rowOf = new Map(json.procedures.procedure.map((procedure, row) => [procedure, row]));
		this.samples = Scope.readRows(json.samples);
		this.waits = Scope.readRows(json.waits);
		this.wakes = Scope.readRows(json.wakes);
		this.timeline = json.timeline ? new Timeline(json.timeline) : null;
		this.together = json.together ?? null;
		this.isMachine = json.summary.kind === "machine";
	}

	static readRows(rows) {
		const { node_step: steps, ...columns } = rows;
		return { n: steps.length, node: fromSteps(steps), ...columns };
	}

	get title() {
		return programName(this.summary);
	}

	get label() {
		return `${shortenName(this.title, 60)} (${this.summary.pid})`;
	}

	threadName(thread) {
		if (thread < 0) return "no thread";
		return this.threads.name[thread] || this.threads.comm[thread];
	}
}

// How a run developed, in slots of equal width.
class Timeline {
	constructor(json) {
		this.slotNs = json.slot_ns;
		this.beginNs = json.begin_ns;
		this.n = json.slots.elapsed_ns.length;
		this.slots = json.slots.elapsed_ns.map((_, i) =>
			Object.fromEntries(Object.entries(json.slots).map(([name, column]) => [name, column[i]])));
		this.samples = Timeline.readRows(json.samples);
		this.waits = Timeline.readRows(json.waits);
		this.endNs = this.beginNs + this.n * this.slotNs;
	}

	static readRows(rows) {
		const { slot_step: steps, ...columns } = rows;
		return { n: steps.length, slot: fromSteps(steps), ...columns };
	}

	// Those of the rows that are in slots from..to - 1, as rows of a scope are.
	static between(columns, from, to) {
		const place = (slot) => {
			const i = columns.slot.findIndex((s) => s >= slot);
			return i < 0 ? columns.n : i;
		};
		const first = place(from), last = place(to), rows = { n: last - first };
		for (const [name, values] of Object.entries(columns))
			if (name !== "n" && name !== "slot") rows[name] = values.slice(first, last);
		return rows;
	}
}
