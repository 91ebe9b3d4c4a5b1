// SPDX-License-Identifier: GPL-2.0-only
// Names, each of which leads to what else is known of it.

function subjectName(kind, index) {
	switch (kind) {
	case "procedure": return state.model.procedureName(index);
	case "thread": return state.scope.threadName(index);
	case "object": return state.scope.objects[index].label;
	default: return state.model.causes[index];
	}
}

function nameLink(kind, index, most = 60) {
	const name = subjectName(kind, index);
	if (kind === "procedure" && !state.model.isProcedure(index))
		return element("span", { class: "marker" }, shortenName(name, most));
	return element("a", {
		href: `#${kind}-${index}`,
		class: "name",
		title: name.length > most || showName(name) !== name ? showName(name.slice(0, 2000)) : false,
		onclick: (event) => {
			event.preventDefault();
			selectSubject(kind, index);
		},
	}, element("bdi", {}, shortenName(name, most)));
}

function moduleOf(procedure) {
	return baseName(state.model.procedures.module[procedure]);
}

// Code that every program calls where it waits: who called it says more.
const LIBRARY = /^\[|^(libc|libpthread|libgomp|libomp|libiomp5|libstdc\+\+|libc\+\+|libm|librt)[-.]|^ld-linux/;

// Of a stack, the innermost procedure that is not such code, or the innermost one. -1: none is known.
function tellingProcedure(node) {
	const { model } = state;
	let first = -1;
	for (; node; node = model.parent[node]) {
		const procedure = model.procedureOf[node];
		if (!model.isProcedure(procedure)) continue;
		if (first < 0) first = procedure;
		if (!LIBRARY.test(moduleOf(procedure))) return procedure;
	}
	return first;
}
