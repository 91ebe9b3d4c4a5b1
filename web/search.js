// SPDX-License-Identifier: GPL-2.0-only
// Search: procedures whose names have the text in them, whatever its case.

function searchFor(text) {
	const { model } = state, wanted = text.trim().toLowerCase();
	state.search = wanted;
	state.matches = null;
	if (wanted) {
		state.matches = new Uint8Array(model.procedures.name.length);
		model.procedures.name.forEach((name, p) => {
			if (name.toLowerCase().includes(wanted) || showName(name.slice(0, 4096)).toLowerCase().includes(wanted)) state.matches[p] = 1;
		});
	}
	describeMatches();
	announce("search");
}

// Time of the stacks that have a match on them; each counts once.
function sumOfMatches(metric) {
	const { model, selection, matches } = state;
	let sum = 0;
	for (let i = 1; i < model.nodeCount; i++)
		if (matches[model.procedureOf[i]]) {
			sum += selection.total[metric][i];
			i = model.end[i] - 1;
		}
	return sum;
}

function describeMatches() {
	const { selection, matches } = state, said = byId("search-said");
	if (!matches) {
		said.textContent = "";
		return;
	}
	let procedures = 0;
	for (const match of matches) procedures += match;
	said.textContent = procedures ? `${formatCount(procedures)} found, ${selection.describeFound(sumOfMatches)}`
		: "nothing found";
}

function startSearch() {
	const input = byId("search");
	let timer = 0;
	input.addEventListener("input", () => {
		clearTimeout(timer);
		timer = setTimeout(() => searchFor(input.value), 80);
	});
}

listen("data", describeMatches, "profile comparison");
