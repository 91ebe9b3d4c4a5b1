// SPDX-License-Identifier: GPL-2.0-only
// The threads.

function threadColumn(key, label, title, metric, first) {
	const value = (t) => state.selection.threads[metric][t];
	return { key, label, title, first, value, cell: (t) => timeCell(value(t)) };
}

const threadTable = new Table("threads", [
	{ key: "name", label: "thread", text: true, value: (t) => state.scope.threadName(t),
		cell: (t) => [nameLink("thread", t, 40), " ", element("span", { class: "muted" }, String(state.scope.threads.tid[t]),
			state.scope.threads.idle[t] ? ", idle" : "", state.scope.threads.merged[t] ? ", several" : "")] },
	{ key: "start", label: "started with", text: true, value: (t) => startName(t),
		cell: (t) => (state.scope.threads.start[t] >= 0 ? nameLink("procedure", state.scope.threads.start[t], 40)
			: state.scope.isMachine ? element("bdi", { class: "muted" }, shortenName(state.scope.threads.program[t], 40)) : "") },
	threadColumn("norm", "normalized s", "its share of the elapsed time", "norm", true),
	{ key: "par", label: "CPUs", title: "processors busy while it ran, on average",
		value: (t) => state.selection.threads.parallelism(t), cell: (t) => levelCell(state.selection.threads.parallelism(t)) },
	threadColumn("cpu", "CPU s", "processor time", "cpu"),
	threadColumn("ready", "ready s", "it could have run and had no processor", "ready"),
	threadColumn("blocked", "blocked s", "it waited", "blocked"),
], () => Array.from({ length: state.scope.threadCount }, (_, t) => t), (t) => ["thread", t]);

function startName(t) {
	const start = state.scope.threads.start[t];
	return start >= 0 ? state.model.procedureName(start) : "";
}

listen("data subject", () => threadTable.draw());
