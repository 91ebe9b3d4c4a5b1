// SPDX-License-Identifier: GPL-2.0-only
// What is selected, and who wants to know.

const state = {
	page: "profile", // or "comparison", "scaling", "tries": which views there are
	model: null,
	scope: null,
	interval: null, // of slots, or null
	selection: null, // Selection of both
	metric: "norm", // of frames: the measure, or of a comparison its side and the measure
	measure: "norm",
	side: "",
	inverted: false,
	search: "",
	matches: null, // Uint8Array by procedure, or null
	subject: null, // { kind, index }
};

const listeners = { data: [], search: [], subject: [], theme: [], view: [] };

// pages: the kinds of page that the view is of.
function listen(events, listener, pages = "profile") {
	for (const event of events.split(" ")) listeners[event].push({ listener, pages });
}

function announce(...events) {
	const wanted = events.flatMap((event) => listeners[event]).filter(({ pages }) => pages.split(" ").includes(state.page));
	for (const listener of new Set(wanted.map((view) => view.listener))) listener();
}

function selectScope(index) {
	state.scope = state.model.scopes[index];
	state.interval = null;
	state.subject = null;
	state.selection = state.model.select(state.scope);
	announce("data", "subject");
}

// All slots are the whole run, of which more is known.
function selectInterval(interval) {
	if (interval && interval.from === 0 && interval.to === state.scope.timeline.n) interval = null;
	state.interval = interval;
	state.selection = new Selection(state.scope, interval);
	announce("data", "subject");
}

function selectSubject(kind, index) {
	state.subject = kind ? { kind, index } : null;
	announce("subject");
}

function isSubject(kind, index) {
	return state.subject !== null && state.subject.kind === kind && state.subject.index === index;
}
