// SPDX-License-Identifier: GPL-2.0-only
// What is said of a marked interval, in place of the verdict and the findings of the whole run. What a change would gain is computed
// for whole runs alone: here stands what the time went to.

const LEAST_OF_INTERVAL = 0.02, PHASE = 0.8;

// As core/advise/verdict.c has them, without what others had: that is not known of an interval.
function intervalWord(idle, serial, used, processors) {
	if (idle >= 0.98) return "IDLE";
	if (idle >= 0.5) return "MOSTLY IDLE";
	if (processors === 1) return "ON ONE CPU";
	if (serial >= 0.98 * (1 - idle)) return "SERIAL";
	if (serial >= 0.5) return "MOSTLY SERIAL";
	return used >= 0.9 * processors ? "PARALLEL" : "PARTLY PARALLEL";
}

function intervalVerdict({ elapsed, effective }, processors) {
	const share = (level) => (elapsed ? (effective[level] ?? 0) / elapsed : 0), percent = (x) => `${Math.round(100 * x)}%`;
	const used = effective.reduce((sum, ns, level) => sum + (elapsed ? (ns * level) / elapsed : 0), 0);
	const one = share(1) >= 0.005 && processors > 1, none = share(0) >= 0.005 && share(0) < 0.995;
	return `${intervalWord(share(0), share(1), used, processors)}: it kept ${used < 0.005 ? "no CPU busy"
		: `${used.toFixed(1)} of ${processors} CPU${processors === 1 ? "" : "s"} busy on average`}` +
		`${one ? `, only one for ${percent(share(1))} of the time` : ""}` +
		`${none ? `, none for ${percent(share(0))}${one ? "" : " of the time"}` : ""}`;
}

// The innermost procedure that has most of the time in which one processor was busy, and that time.
function aloneIn({ samples, model }) {
	const alone = new Float64Array(model.nodeCount);
	for (let i = 0; i < samples.n; i++)
		if (samples.busy[i] === 1 && !samples.spinning[i]) alone[samples.node[i]] += samples.norm_ns[i];
	for (let i = model.nodeCount; i-- > 1; ) alone[model.parent[i]] += alone[i];
	let best = 0;
	for (let i = 1; i < model.nodeCount; i++)
		if (model.parent[i] === best && alone[i] >= PHASE * alone[0]) best = i;
	while (best && !model.isProcedure(model.procedureOf[best])) best = model.parent[best];
	return { ns: alone[0], procedure: best ? model.procedureOf[best] : -1 };
}

// The object that threads waited for most, without idle ones, and how long all of them did.
function waitedIn(selection) {
	const { waits } = selection, sums = new Map();
	for (let i = 0; i < waits.n; i++)
		if (waits.object[i] >= 0 && !selection.isIdle(waits.thread[i]))
			sums.set(waits.object[i], (sums.get(waits.object[i]) ?? 0) + waits.blocked_ns[i]);
	const [object, ns] = [...sums].reduce((most, pair) => (pair[1] > most[1] ? pair : most), [-1, 0]);
	return { object, ns };
}

function intervalCard(figure, unit, kind, index, text) {
	return element("li", { class: "finding" },
		element("div", { class: "gain" }, element("b", {}, figure), element("span", {}, unit)),
		element("div", {}, element("p", { class: "what" }, text),
			element("p", { class: "subject" }, index >= 0 ? nameLink(kind, index) : null)));
}

function intervalFindings(selection) {
	const { elapsed } = selection, alone = aloneIn(selection), waited = waitedIn(selection), cards = [];
	if (alone.ns >= LEAST_OF_INTERVAL * elapsed)
		cards.push(intervalCard(formatPercent(alone.ns, elapsed), "of the time", "procedure", alone.procedure,
			alone.procedure < 0 ? "One CPU was busy; several procedures had it." : "One CPU was busy; this procedure had it most of that time."));
	if (waited.ns >= LEAST_OF_INTERVAL * elapsed)
		cards.push(intervalCard(formatLevel(waited.ns / elapsed), "threads", "object", waited.object, "So many threads on average waited for this object."));
	if (!cards.length) cards.push(element("li", { class: "muted" }, "No procedure ran alone, and no object was waited for, for 2 % of this time."));
	return cards;
}
