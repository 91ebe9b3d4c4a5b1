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

function beginScope(index) {
	selectScope(index);
	if (state.page !== "profile") return;
	chooseOrder();
	procedureTable.draw();
}

function startScopes() {
	const select = byId("scope"), { scopes } = state.model;
	byId("scopes").hidden = scopes.length < 2;
	scopes.forEach((scope, i) => select.append(element("option", { value: i }, scope.label)));
	select.addEventListener("change", () => beginScope(Number(select.value)));
}

// "/" searches, digits go to sections, "?" lists the keys, Escape closes what is open.
function steer(event) {
	if (!state.model) return;
	if (event.target.matches("input, select, textarea") || event.ctrlKey || event.altKey || event.metaKey) {
		if (event.key === "Escape") event.target.blur();
		return;
	}
	const sections = [...document.querySelectorAll("main > section[id], main > .columns > section[id]")].filter((s) => s.offsetParent);
	const digit = Number(event.key);
	if (event.key === "/" && state.selection) byId("search").focus();
	else if (event.key === "?") byId("keys").open = !byId("keys").open;
	else if (event.key === "Escape" && state.subject) selectSubject(null);
	else if (digit >= 1 && digit <= sections.length) sections[digit - 1].scrollIntoView();
	else if (event.key === "i" && state.selection) byId("flame-inverted").click();
	else if (event.key === "b" && state.side) chooseMetric(state.measure, state.side === "after" ? "before" : "after");
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
	document.title = `Quartz: ${shortenName(state.model.scopes[0].title, 80)}`;
	startScopes();
	byId("loading").hidden = true;
	byId("page").hidden = false;
	beginScope(0);
	watchWidth();
	document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

// By the schema of the document.
const PAGES = { [COMPARISON_SCHEMA]: ["comparison", ComparisonModel], [SCALING_SCHEMA]: ["scaling", ScalingModel],
	[TRIES_SCHEMA]: ["tries", TriesModel] };

// Of what kind the page is: other views stay hidden.
function choosePage(page) {
	state.page = page;
	for (const part of document.querySelectorAll("[data-page]")) part.hidden = !part.dataset.page.split(" ").includes(page);
	if (page === "comparison") startComparison();
}

async function start() {
	const data = byId("data").textContent.trim();
	startTheme();
	startTimeline();
	startFlame();
	startDetail();
	startSearch();
	document.addEventListener("keydown", steer);
	choosePage("profile");
	if (!data) {
		startLive();
		return;
	}
	const json = await unpack(data), [page, kind] = PAGES[json.schema] ?? ["profile", Model];
	choosePage(page);
	state.model = new kind(json);
	beginToShow();
}

start().catch(showError);
