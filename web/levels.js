// SPDX-License-Identifier: GPL-2.0-only
// How long so many processors were busy, and so many threads ran.

const MOST_BARS = 17;

// Levels in at most so many groups: { from, to, busy, running }.
function levelGroups(selection) {
	const { levels, effective } = selection, n = Math.max(levels.length, effective.length);
	const size = Math.ceil((n - 1) / (MOST_BARS - 1)) || 1;
	const groups = [{ from: 0, to: 0, busy: effective[0] ?? 0, running: levels[0] ?? 0 }];
	for (let from = 1; from < n; from += size) {
		const group = { from, to: Math.min(n - 1, from + size - 1), busy: 0, running: 0 };
		for (let k = group.from; k <= group.to; k++) {
			group.busy += effective[k] ?? 0;
			group.running += levels[k] ?? 0;
		}
		groups.push(group);
	}
	return groups;
}

function levelBar(className, ns, elapsed, color) {
	return element("div", { class: "bar-line" },
		element("div", { class: "bar-room" }, styled(element("div", { class: className }), {
			width: `${(100 * ns) / (elapsed || 1)}%`, "background-color": color })),
		element("span", { class: "figure" }, `${formatTime(ns)}  ${formatPercent(ns, elapsed)}`));
}

function drawLevels() {
	const { selection, model } = state, spins = sumOf(selection.self.spin) > 0;
	replace("levels", levelGroups(selection).map((group) => element("div", { class: "level" },
		element("span", { class: "level-name" }, group.from === group.to ? String(group.from) : `${group.from}–${group.to}`),
		element("div", {},
			levelBar("bar", group.busy, selection.elapsed, levelColor((group.from + group.to) / 2, model.processors)),
			spins ? levelBar("bar thin", group.running, selection.elapsed, theme.muted) : null))));
	byId("levels-note").hidden = !spins;
}

listen("data theme", drawLevels);
