// SPDX-License-Identifier: GPL-2.0-only
// Colours, by the style of the page, so that light and dark are in one place.

const theme = {};

function readTheme() {
	const style = getComputedStyle(document.documentElement);
	for (const name of ["ink", "muted", "line", "card", "accent", "serial", "middle", "parallel", "idle", "busy", "spin",
		"ready", "blocked", "other", "frame-ink", "mark", "more", "less", "same"])
		theme[name] = style.getPropertyValue("--" + name).trim();
	theme.stops = [theme.serial, theme.middle, theme.parallel].map(parseColor);
}

function parseColor(hex) {
	return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function mix(a, b, share) {
	return a.map((channel, i) => Math.round(channel + (b[i] - channel) * share));
}

// One processor is red, all of them are green; on a machine with one, that one is all.
function parallelismColor(parallelism, processors) {
	if (!parallelism) return theme.other;
	const share = processors > 1 ? Math.min(1, Math.max(0, (parallelism - 1) / (processors - 1))) : 1;
	const [low, middle, high] = theme.stops;
	const color = share < 0.5 ? mix(low, middle, 2 * share) : mix(middle, high, 2 * share - 1);
	return `rgb(${color.join()})`;
}

// Of a change in time: red is more, blue is less, as strong as the root of its share of the largest one, so that
// small ones are seen, too.
function changeColor(change, largest) {
	const share = largest ? Math.min(1, Math.sqrt(Math.abs(change) / largest)) : 0;
	return `rgb(${mix(parseColor(theme.same), parseColor(change > 0 ? theme.more : theme.less), share).join()})`;
}

function levelColor(level, processors) {
	return level ? parallelismColor(level, processors) : theme.idle;
}
