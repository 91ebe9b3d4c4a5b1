// SPDX-License-Identifier: GPL-2.0-only
// The document of a comparison (schema quartz.diff-page/v1) as arrays. Its procedures are all names that rows and frames of
// both sides are matched by.

const COMPARISON_SCHEMA = "quartz.diff-page/v1", KIND_MARKER = 7, SIDES = ["before", "after"];
const CHANGE_METRICS = SIDES.flatMap((side) => METRICS.map((measure) => `${side}_${measure}`));

class ComparisonModel extends Model {
	constructor(json) {
		super(json, ComparedScope);
		this.profiles = json.profiles;
		this.onStacks = new Uint8Array(this.procedures.name.length);
		for (let i = 1; i < this.nodeCount; i++) this.onStacks[this.procedureOf[i]] = 1;
	}

	isProcedure(procedure) {
		return this.procedures.kind[procedure] !== KIND_MARKER;
	}

	select(scope) {
		return new Changes(scope);
	}
}

class ComparedScope {
	constructor(model, json) {
		this.model = model;
		this.comparison = json.comparison;
		this.rows = json.comparison.rows.map((row, i) => ({ ...row, procedure: json.identities[i] }));
		this.rowOf = new Map(this.rows.map((row) => [row.procedure, row]));
		this.stacks = Scope.readRows(json.stacks);
		this.isMachine = false; // programs stand in the tree
	}

	get title() {
		const [run] = this.comparison.after;
		return run.command || run.comm;
	}

	get label() {
		return shortenName(this.title, 60);
	}
}

// Times by node of the tree and by metric, such as after_norm: of one run, on average. In place of a Selection.
class Changes {
	constructor(scope) {
		this.scope = scope;
		this.model = scope.model;
		this.elapsed = scope.comparison.elapsed.before_ns;
		const n = this.model.nodeCount, { parent, procedureOf, procedures } = this.model;
		const room = (length) => Object.fromEntries(CHANGE_METRICS.map((metric) => [metric, new Float64Array(length)]));
		this.largests = {};
		this.self = room(n);
		this.addStacks(scope.stacks);
		this.total = room(n);
		this.ownOf = room(procedures.name.length);
		for (const metric of CHANGE_METRICS) {
			const total = this.total[metric], self = this.self[metric];
			for (let i = n; i-- > 1; ) {
				total[i] += self[i];
				total[parent[i]] += total[i];
				this.ownOf[metric][procedureOf[i]] += self[i];
			}
			total[0] += self[0];
		}
	}

	addStacks(stacks) {
		const runs = SIDES.map((side) => this.scope.comparison[side].length);
		for (let i = 0; i < stacks.n; i++) {
			const side = SIDES[stacks.after[i]], count = runs[stacks.after[i]], node = stacks.node[i];
			this.self[side + "_norm"][node] += stacks.norm_ns[i] / count;
			this.self[side + "_cpu"][node] += stacks.cpu_ns[i] / count;
			this.self[side + "_blocked"][node] += stacks.blocked_ns[i] / count;
			if (stacks.spinning[i]) this.self[side + "_spin"][node] += stacks.cpu_ns[i] / count;
		}
	}

	// The largest change of a frame but the root, in either order.
	largest(measure) {
		return this.largests[measure] ??= this.findLargest(measure);
	}

	findLargest(measure) {
		let most = 0;
		for (const figures of [this.total, this.ownOf]) {
			const before = figures["before_" + measure], after = figures["after_" + measure];
			for (let i = figures === this.total ? 1 : 0; i < before.length; i++) most = Math.max(most, Math.abs(after[i] - before[i]));
		}
		return most;
	}

	// Time of the stacks that this side has and the other one has not.
	onlyIn(side, measure) {
		const here = this.total[`${side}_${measure}`], there = this.total[`${side === "after" ? "before" : "after"}_${measure}`];
		let sum = 0;
		for (let i = 1; i < here.length; i++) {
			if (there[i]) continue;
			sum += here[i];
			i = this.model.end[i] - 1;
		}
		return sum;
	}

	describeFound(sum) {
		const before = sum("before_norm"), after = sum("after_norm");
		return `${formatTime(before)} before, ${formatTime(after)} after: ${formatChange(after - before)}`;
	}
}
