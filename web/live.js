// SPDX-License-Identifier: GPL-2.0-only
// The page of a quartzd that runs: quartz-exporter sends what each second added, the page keeps the last two minutes.

const LIVE_SLOTS = 120, LIVE_RETRY_MS = 2000;

const live = { merger: new Merger(), parts: [], paused: false, scope: new URLSearchParams(location.search).get("scope") ?? "" };

// Documents of a stream, each behind its length and a newline.
async function* readDocuments(stream) {
	const reader = stream.getReader(), decoder = new TextDecoder();
	let bytes = new Uint8Array(0);
	for (;;) {
		const newline = bytes.indexOf(10), length = newline < 0 ? Infinity : Number(decoder.decode(bytes.subarray(0, newline)));
		if (bytes.length > newline + length) {
			yield JSON.parse(decoder.decode(bytes.subarray(newline + 1, newline + 1 + length)));
			bytes = bytes.slice(newline + 1 + length);
			continue;
		}
		const { done, value } = await reader.read();
		if (done) return;
		const joined = new Uint8Array(bytes.length + value.length);
		joined.set(bytes);
		joined.set(value, bytes.length);
		bytes = joined;
	}
}

function showLive() {
	const model = new Model(live.merger.merge(live.parts)), { scope } = state;
	const same = model.scopes.findIndex((s) => scope && s.summary.pid === scope.summary.pid && s.summary.kind === scope.summary.kind);
	state.model = model;
	state.scope = model.scopes[Math.max(0, same)];
	state.selection = model.select(state.scope);
	if (!scope) beginToShow();
	else announce("data", "subject");
	listPrograms();
}

// Programs and units that ran, to go into.
function listPrograms() {
	const { scope, selection } = state, { pid, program, unit } = scope.threads, times = new Map();
	for (let t = 0; t < scope.threadCount; t++)
		for (const [value, label] of [[`pid=${pid[t]}`, `${program[t]} (${pid[t]})`], [`unit=${unit[t]}`, unit[t]]]) {
			if (!label || !selection.threads.cpu[t]) continue;
			const row = times.get(value) ?? { value, label, cpu: 0 };
			row.cpu += selection.threads.cpu[t];
			times.set(value, row);
		}
	const rows = [...times.values()].sort((a, b) => b.cpu - a.cpu).slice(0, 40), select = byId("live-scope");
	if (document.activeElement === select) return;
	if (live.scope && !times.has(live.scope)) rows.unshift({ value: live.scope, label: live.scope });
	select.replaceChildren(element("option", { value: "" }, "machine"),
		...rows.map((row) => element("option", { value: row.value, selected: row.value === live.scope }, shortenName(row.label, 50))));
}

function sayLive() {
	const seconds = live.parts.length;
	byId("live-said").textContent = live.problem ?? (live.paused ? `paused, ${seconds} s` : `live, last ${seconds} s`);
}

// While an interval is marked, or with "pause", the page stands still; it goes on listening.
function takeDocument(json) {
	live.problem = null;
	if (live.paused || state.interval) return;
	if (live.merger.isFull()) {
		live.merger.beginNodes();
		live.parts = [];
	}
	live.parts.push(live.merger.read(json));
	live.parts.splice(0, live.parts.length - LIVE_SLOTS);
	showLive();
	sayLive();
}

async function listenToServer() {
	const address = new URL("page/deltas", location.href);
	if (live.scope) address.searchParams.set("scope", live.scope);
	for (;;) {
		try {
			const response = await fetch(address);
			if (!response.ok) throw new Error((await response.text()).trim());
			for await (const json of readDocuments(response.body)) takeDocument(json);
			live.problem = "the server ended the connection";
		} catch (error) {
			live.problem = error.message;
		}
		byId("loading").textContent = live.problem;
		sayLive();
		await new Promise((resolve) => setTimeout(resolve, LIVE_RETRY_MS));
	}
}

function startLive() {
	byId("live").hidden = false;
	byId("live-pause").addEventListener("click", (event) => {
		live.paused = !live.paused;
		event.currentTarget.textContent = live.paused ? "go on" : "pause";
		sayLive();
	});
	byId("live-scope").addEventListener("change", (event) => {
		location.search = event.target.value ? `?scope=${encodeURIComponent(event.target.value)}` : "";
	});
	byId("loading").textContent = "Waiting for what the next second adds …";
	listenToServer();
}
