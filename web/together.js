// SPDX-License-Identifier: GPL-2.0-only
// What all processors did at the same instants: sets of procedures, and what ran beside one of them.

// Pairs of a procedure and how many processors were in it.
function countEach(procedures) {
	const counts = new Map();
	for (const p of procedures) counts.set(p, (counts.get(p) ?? 0) + 1);
	return [...counts];
}

function memberLinks(procedures, spinning) {
	return countEach(procedures).map(([p, n]) => [n > 1 ? `${n} × ` : "", nameLink("procedure", p, 48), spinning ? " (spinning)" : ""]);
}

function setCell([, busy, spinning]) {
	const links = [...memberLinks(busy, false), ...memberLinks(spinning, true)];
	return links.length ? links.flatMap((link, i) => (i ? [", ", link] : [link])) : element("span", { class: "muted" }, "(no thread)");
}

// The sum of an amount of each set, times its instants.
function sumSets(sets, amount) {
	return sets.reduce((sum, set) => sum + set[0] * amount(set), 0);
}

const togetherTable = new Table("together", [
	{ key: "what", label: "what ran together", text: true, value: ([, busy, spinning]) => [...busy, ...spinning].map((p) => state.model.procedureName(p)).join(),
		cell: setCell },
	{ key: "instants", label: "instants", first: true, value: ([n]) => n, cell: ([n]) => formatCount(n) },
	{ key: "share", label: "%", value: ([n]) => n, cell: ([n]) => formatPercent(n, sumSets(state.scope.together.sets, () => 1)) },
	{ key: "busy", label: "busy", title: "processors", value: ([, busy]) => busy.length, cell: ([, busy]) => busy.length },
], () => state.scope.together.sets, () => null);

/*
 * The instants at which a processor was busy in the procedure itself: { instants, alone, others }, the last as
 * [procedure, { instants, busy, spinning }], most frequent first.
 */
function pairsOf(procedure) {
	const sets = state.scope.together?.sets.filter(([, busy]) => busy.includes(procedure)) ?? [], others = new Map();
	for (const [n, busy, spinning] of sets) {
		const itself = busy.indexOf(procedure), rest = busy.filter((_, i) => i !== itself);
		for (const p of new Set([...rest, ...spinning])) {
			const sum = others.get(p) ?? { instants: 0, busy: 0, spinning: 0 }, there = (q) => p === q;
			sum.instants += n;
			sum.busy += n * rest.filter(there).length;
			sum.spinning += n * spinning.filter(there).length;
			others.set(p, sum);
		}
	}
	return { instants: sumSets(sets, () => 1), alone: sumSets(sets, ([, busy]) => Number(busy.length === 1)),
		others: [...others].sort(([, a], [, b]) => b.instants - a.instants) };
}

function pairLines(procedure) {
	const { instants, alone, others } = pairsOf(procedure), mean = (sum) => (sum / instants).toFixed(2);
	if (!instants) return [];
	return [`no other one was busy at ${formatPercent(alone, instants)} of ${formatCount(instants)} instants`,
		...others.map(([p, sum]) => [element("span", { class: "figure" }, formatPercent(sum.instants, instants)), " ", nameLink("procedure", p, 48),
			`, ${mean(sum.busy)} busy`, sum.spinning ? ` and ${mean(sum.spinning)} spinning` : ""])];
}

function drawTogether() {
	const { together } = state.scope;
	byId("together-section").hidden = !together;
	if (!together) return;
	const { snapshots: s, sets } = together, whole = s.taken - s.incomplete, some = (n, what) => (n ? `, ${formatCount(n)} ${what}` : "");
	byId("together-said").textContent = `${formatCount(s.taken)} ${s.sampled ? "rounds of samples" : "snapshots"} of all processors at ${s.rate_hz} Hz` +
		some(s.incomplete, "incomplete") + some(s.unplaced, "without a place") + some(s.outside, "with no thread running") +
		`; ${whole ? formatTime(s.skew_ns / whole) : "0"} apart on average, ${formatTime(s.skew_max_ns)} at most. ` +
		`${formatLevel(sumSets(sets, ([, busy]) => busy.length) / sumSets(sets, ([, busy]) => Number(busy.length > 0)))} processors busy on average ` +
		"while any was, counted from them. A procedure's details have what the other processors did meanwhile." +
		(s.sampled ? " Instants at which no thread ran are not among them." : "");
	togetherTable.draw();
}

listen("data subject", drawTogether);
