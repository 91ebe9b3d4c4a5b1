// SPDX-License-Identifier: GPL-2.0-only
// Figures and names as text.

const SUBJECTS = { procedure: "procedures", thread: "threads", object: "objects", cause: "causes" };

// Three digits of a time in nanoseconds, with its unit.
function formatTime(ns) {
	const units = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]];
	for (const [size, unit] of units)
		if (Math.abs(ns) >= 0.9995 * size) return formatDigits(ns / size) + "\u202f" + unit;
	return ns ? Math.round(ns) + "\u202fns" : "0";
}

function formatDigits(value) {
	const whole = Math.max(1, Math.floor(Math.log10(Math.abs(value) || 1)) + 1);
	return value.toFixed(Math.max(0, Math.min(2, 3 - whole)));
}

function formatSeconds(ns) {
	return ns ? (ns / 1e9).toFixed(ns < 1e8 ? 4 : 3) : "0";
}

// With its sign.
function formatChange(ns) {
	return (ns > 0 ? "+" : ns < 0 ? "−" : "") + formatTime(Math.abs(ns));
}

function signed(value, digits) {
	const text = Math.abs(value).toFixed(digits);
	return (Number(text) === 0 ? "" : value > 0 ? "+" : "−") + text;
}

function formatPercent(part, whole) {
	if (!whole || !part) return "0\u202f%";
	const percent = (100 * part) / whole;
	if (percent < 0.05) return "<0.1\u202f%";
	return (percent < 9.95 ? percent.toFixed(1) : percent.toFixed(0)) + "\u202f%";
}

function formatCount(n) {
	return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

function formatLevel(value) {
	return value ? value.toFixed(value < 99.95 ? 1 : 0) : "–";
}

// Characters that do not show, or that change how others do: control characters, line and paragraph
// separators, marks of direction and of width 0. They stand as what a C string would have.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;

function showName(name) {
	return name.replace(UNSEEN, (c) => {
		const code = c.codePointAt(0);
		return code < 0x100 ? "\\x" + code.toString(16).padStart(2, "0")
			: "\\u" + code.toString(16).padStart(4, "0");
	});
}

// The middle of long names is left out: their ends tell more.
function shortenName(name, most) {
	const shown = showName(name.length > 8 * most ? name.slice(0, 4 * most) + name.slice(-4 * most) : name);
	if (shown.length <= most) return shown;
	if (most < 4) return shown.slice(0, most);
	const half = Math.floor((most - 1) / 2);
	return shown.slice(0, most - 1 - half) + "…" + shown.slice(-half);
}

// The last part of a path.
function baseName(path) {
	return path.slice(path.lastIndexOf("/") + 1);
}
