// SPDX-License-Identifier: GPL-2.0-only
// Locks and other objects that threads wait for: what they cost, how long their queues are, and who waits for them, holds
// them, and wakes those who wait.

// Procedures by an amount of the rows of an object: [[procedure, amount]], largest first.
function whoAt(object, rows, amount) {
	const sums = new Map();
	for (let i = 0; i < rows.n; i++) {
		if (rows.object?.[i] !== object) continue;
		const value = amount(rows, i);
		if (!value) continue;
		const procedure = tellingProcedure(rows.node[i]);
		sums.set(procedure, (sums.get(procedure) ?? 0) + value);
	}
	return [...sums].sort((a, b) => b[1] - a[1]);
}

// Only waits are known by interval; who holds and wakes is of the whole run.
const objectRoles = {
	waits: (o) => whoAt(o, state.selection.waits, (rows, i) => rows.blocked_ns[i] + rows.ready_ns[i]),
	holds: (o) => whoAt(o, state.scope.samples, (rows, i) => (rows.spinning[i] ? 0 : rows.norm_ns[i])),
	spins: (o) => whoAt(o, state.scope.samples, (rows, i) => (rows.spinning[i] ? rows.cpu_ns[i] : 0)),
	wakes: (o) => whoAt(o, state.scope.wakes, (rows, i) => rows.wakes[i]),
};

function whoCell(role) {
	return (o) => {
		const [first] = objectRoles[role](o);
		return first ? (first[0] < 0 ? element("span", { class: "muted" }, "unknown") : nameLink("procedure", first[0], 32)) : "";
	};
}

// Time with so many waiters, as bars.
function queueBars(object) {
	const lengths = object.queue_ns, last = lengths.findLastIndex((ns) => ns > 0), most = Math.max(...lengths);
	if (last < 0) return "";
	return element("span", { class: "queue" }, lengths.slice(1, last + 1).map((ns, i) =>
		styled(element("span", { title: `${i + 1}${i + 2 === lengths.length ? " or more" : ""} waiting: ${formatTime(ns)}` }), {
			height: `${Math.max(ns ? 8 : 2, (100 * ns) / most)}%` })));
}

function meanQueue(object) {
	let sum = 0, time = 0;
	object.queue_ns.forEach((ns, length) => {
		sum += ns * length;
		time += ns;
	});
	return time ? sum / time : 0;
}

function waitedFor(o) {
	let sum = 0;
	const { waits } = state.selection;
	if (!state.interval) return state.scope.objects[o].wait_ns;
	for (let i = 0; i < waits.n; i++) if (waits.object[i] === o) sum += waits.blocked_ns[i];
	return sum;
}

const objectTable = new Table("objects", [
	{ key: "name", label: "object", text: true, value: (o) => state.scope.objects[o].label,
		cell: (o) => nameLink("object", o, 48) },
	{ key: "cost", label: "cost s", first: true, title: "elapsed time that its holders, its queue and locking it take",
		value: (o) => state.scope.objects[o].cost.cost_ns || 1e-6 * state.scope.objects[o].wait_ns,
		cell: (o) => timeCell(state.scope.objects[o].cost.cost_ns) },
	{ key: "waited", label: "waited s", title: "by all threads together", value: waitedFor, cell: (o) => timeCell(waitedFor(o)) },
	{ key: "waits", label: "waits", value: (o) => state.scope.objects[o].waits, cell: (o) => formatCount(state.scope.objects[o].waits) },
	{ key: "queue", label: "queue", title: "time with 1, 2, … waiters; the figure is the mean while there was one",
		value: (o) => meanQueue(state.scope.objects[o]),
		cell: (o) => [queueBars(state.scope.objects[o]), " ", formatLevel(meanQueue(state.scope.objects[o]))] },
	{ key: "waiter", label: "waits for it", text: true, value: () => 0, cell: whoCell("waits") },
	{ key: "holder", label: "holds it", text: true, value: () => 0, cell: whoCell("holds") },
	{ key: "waker", label: "wakes", text: true, value: () => 0, cell: whoCell("wakes") },
], () => Array.from({ length: state.scope.objects.length }, (_, o) => o)
	.filter((o) => !state.interval || waitedFor(o)), (o) => ["object", o]);

function drawObjects() {
	byId("objects-none").hidden = state.scope.objects.length > 0;
	byId("objects").hidden = !state.scope.objects.length;
	objectTable.draw();
}

listen("data subject", drawObjects);
