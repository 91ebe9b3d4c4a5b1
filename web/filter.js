// SPDX-License-Identifier: GPL-2.0-only
// What is shown: a scope, or an interval of it, added up. All views draw from this and nothing else.

const METRICS = ["norm", "cpu", "blocked", "spin"];

class Figures {
	constructor(n) {
		this.n = n;
		for (const name of ["norm", "cpu", "spin", "blocked", "ready"]) this[name] = new Float64Array(n);
	}

	parallelism(i) {
		return this.norm[i] ? (this.cpu[i] - this.spin[i]) / this.norm[i] : 0;
	}

	add(i, other, k) {
		this.norm[i] += other.norm[k];
		this.cpu[i] += other.cpu[k];
		this.spin[i] += other.spin[k];
		this.blocked[i] += other.blocked[k];
		this.ready[i] += other.ready[k];
	}
}

class Selection {
	// interval: null, or { from, to } in slots of the timeline.
	constructor(scope, interval) {
		this.scope = scope;
		this.model = scope.model;
		this.interval = interval;
		this.unseen = [];
		if (interval) this.cutOut(scope.timeline, interval);
		else {
			const s = scope.summary;
			Object.assign(this, { samples: scope.samples, waits: scope.waits, elapsed: s.elapsed_ns, levels: s.level_ns,
				effective: s.effective_ns });
		}
		this.busy = this.effective.slice(1).reduce((sum, ns) => sum + ns, 0);
		this.addRows();
		this.addProcedures();
	}

	// As `quartzctl report --time` does it: level times are exact, and samples of the interval divide them.
	cutOut(timeline, { from, to }) {
		const slots = timeline.slots.slice(from, to);
		this.elapsed = slots.reduce((sum, slot) => sum + slot.elapsed_ns, 0);
		this.levels = Selection.sumLists(slots.map((slot) => slot.levels_ns));
		this.samples = Timeline.between(timeline.samples, from, to);
		this.waits = Timeline.between(timeline.waits, from, to);
		this.divideLevels(this.samples);
	}

	divideLevels(samples) {
		const cpu = this.levels.map(() => 0);
		for (let i = 0; i < samples.n; i++) cpu[samples.level[i]] += samples.cpu_ns[i];
		const scale = this.levels.map((ns, level) => (cpu[level] ? (ns * level) / cpu[level] : 0));
		samples.cpu_ns = Float64Array.from(samples.cpu_ns, (ns, i) => ns * scale[samples.level[i]]);
		samples.norm_ns = Float64Array.from(samples.norm_ns, (ns, i) => ns * scale[samples.level[i]]);
		// Levels without a sample, of which nothing else is known.
		this.unseen = this.levels.map((ns, level) => (level && !cpu[level] ? ns : 0));
		this.effective = this.unseen.slice();
		for (let i = 0; i < samples.n; i++) this.effective[samples.busy[i]] += samples.norm_ns[i];
		this.effective[0] = Math.max(0, this.elapsed - this.effective.slice(1).reduce((sum, ns) => sum + ns, 0));
	}

	static sumLists(lists) {
		const sums = [];
		for (const list of lists) list.forEach((ns, k) => (sums[k] = (sums[k] ?? 0) + ns));
		return sums;
	}

	isIdle(thread) {
		return thread >= 0 && this.scope.threads.idle[thread];
	}

	// By node, and by thread; what idle threads are blocked is told apart, as in reports.
	addRows() {
		const { samples, waits } = this;
		this.self = new Figures(this.model.nodeCount);
		this.threads = new Figures(this.scope.threadCount);
		this.idleBlocked = 0;
		for (let i = 0; i < samples.n; i++) {
			const spin = samples.spinning[i] ? samples.cpu_ns[i] : 0;
			for (const [figures, k] of [[this.self, samples.node[i]], [this.threads, samples.thread[i]]]) {
				if (k < 0) continue;
				figures.norm[k] += samples.norm_ns[i];
				figures.cpu[k] += samples.cpu_ns[i];
				figures.spin[k] += spin;
			}
		}
		for (let i = 0; i < waits.n; i++) {
			const thread = waits.thread[i], node = waits.node[i];
			this.self.ready[node] += waits.ready_ns[i];
			if (this.isIdle(thread)) this.idleBlocked += waits.blocked_ns[i];
			else this.self.blocked[node] += waits.blocked_ns[i];
			if (thread < 0) continue;
			this.threads.blocked[thread] += waits.blocked_ns[i];
			this.threads.ready[thread] += waits.ready_ns[i];
		}
		this.unseen.forEach((ns, level) => {
			this.self.norm[0] += ns;
			this.self.cpu[0] += ns * level;
		});
		this.total = new Figures(this.model.nodeCount);
		for (let i = this.model.nodeCount; i-- > 0; ) {
			this.total.add(i, this.self, i);
			if (i) this.total.add(this.model.parent[i], this.total, i);
		}
	}

	// A procedure counts once for each stack, however often it is on it.
	addProcedures() {
		const { model } = this, n = model.procedures.name.length;
		this.ownOf = new Figures(n);
		this.totalOf = new Figures(n);
		for (let i = 1; i < model.nodeCount; i++) {
			this.ownOf.add(model.procedureOf[i], this.self, i);
			if (model.outermost[i]) this.totalOf.add(model.procedureOf[i], this.total, i);
		}
	}

	// Half the width of the interval of a procedure's total, which the report knows for the whole run.
	uncertainty(procedure) {
		const row = this.scope.rowOf.get(procedure);
		return this.interval || row === undefined ? null : this.scope.procedures.ci_ns[row];
	}

	// What is said of the procedures that were found; sum(metric) is the time of the stacks that they are on.
	describeFound(sum) {
		return `${formatPercent(sum("norm"), this.elapsed)} of the elapsed time`;
	}

	// Rows of samples or waits below a procedure.
	*rowsBelow(rows, procedure) {
		const { model } = this, below = new Uint8Array(model.nodeCount);
		for (let i = 1; i < model.nodeCount; i++)
			if (model.outermost[i] && model.procedureOf[i] === procedure) below.fill(1, i, model.end[i]);
		for (let i = 0; i < rows.n; i++) if (below[rows.node[i]]) yield i;
	}
}
