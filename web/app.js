// SPDX-License-Identifier: GPL-2.0-only
// The start: reads the document, shows it, and joins what views share: scopes, themes, keys.

async function unpack(text) {
	const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
	return JSON.parse(await new Response(stream).text());
}

function chooseTheme(name) {
	if (name === "auto") delete document.documentElement.dataset.theme;
	else document.documentElement.dataset.theme = name;
	readTheme();
	announce("theme");
}

function startTheme() {
	const names = ["auto", "light", "dark"], button = byId("theme");
	let at = 0;
	button.addEventListener("click", () => {
		at = (at + 1) % names.length;
		button.textContent = `theme: ${names[at]}`;
		chooseTheme(names[at]);
	});
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => chooseTheme(names[at]));
	readTheme();
}

function startScopes() {
	const select = byId("scope"), { scopes } = state.model;
	byId("scopes").hidden = scopes.length < 2;
	scopes.forEach((scope, i) => select.append(element("option", { value: i },
		`${shortenName(programName(scope.summary), 60)} (${scope.summary.pid})`)));
	select.addEventListener("change", () => {
		selectScope(Number(select.value));
		chooseOrder();
		procedureTable.draw();
	});
}

// "/" searches, digits go to sections, "?" lists the keys, Escape closes what is open.
function steer(event) {
	if (!state.model) return;
	if (event.target.matches("input, select, textarea") || event.ctrlKey || event.altKey || event.metaKey) {
		if (event.key === "Escape") event.target.blur();
		return;
	}
	const sections = [...document.querySelectorAll("main > section[id], main > .columns > section[id]")].filter((s) => !s.hidden);
	const digit = Number(event.key);
	if (event.key === "/") byId("search").focus();
	else if (event.key === "?") byId("keys").open = !byId("keys").open;
	else if (event.key === "Escape" && state.subject) selectSubject(null);
	else if (digit >= 1 && digit <= sections.length) sections[digit - 1].scrollIntoView();
	else if (event.key === "i") byId("flame-inverted").click();
	else return;
	event.preventDefault();
}

function showError(error) {
	byId("loading").hidden = false;
	byId("loading").textContent = "This page cannot show its profile: " + error.message;
}

function watchWidth() {
	let width = document.body.clientWidth;
	new ResizeObserver(() => {
		if (document.body.clientWidth === width) return;
		width = document.body.clientWidth;
		announce("view");
	}).observe(document.body);
}

// Once there is something to show.
function beginToShow() {
	document.title = `Quartz: ${shortenName(programName(state.model.scopes[0].summary), 80)}`;
	startScopes();
	byId("loading").hidden = true;
	byId("page").hidden = false;
	selectScope(0);
	chooseOrder();
	procedureTable.draw();
	watchWidth();
	document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

async function start() {
	const data = byId("data").textContent.trim();
	startTheme();
	startTimeline();
	startFlame();
	startDetail();
	startSearch();
	document.addEventListener("keydown", steer);
	if (!data) {
		startLive();
		return;
	}
	state.model = new Model(await unpack(data));
	beginToShow();
}

start().catch(showError);
