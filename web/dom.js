// SPDX-License-Identifier: GPL-2.0-only
// Elements. Nothing here, nor elsewhere, makes elements of text: names are text wherever they stand.

// element("a", { class: "x", onclick: f }, "text", other)
function element(tag, attributes, ...children) {
	return fill(document.createElement(tag), attributes, children);
}

function svgElement(tag, attributes, ...children) {
	return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(node, attributes, children) {
	for (const [name, value] of Object.entries(attributes ?? {})) {
		if (value === false || value === undefined || value === null) continue;
		if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
		else node.setAttribute(name, value === true ? "" : value);
	}
	node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
	return node;
}

// A style as a property, which the policy of the page allows, unlike an attribute.
function styled(node, properties) {
	for (const [name, value] of Object.entries(properties)) node.style.setProperty(name, value);
	return node;
}

function byId(id) {
	return document.getElementById(id);
}

function replace(id, ...children) {
	byId(id).replaceChildren(...children.flat(Infinity).filter(Boolean));
}

// A canvas for this many pixels of the page, at the resolution of the screen. Gives its context.
function prepareCanvas(canvas, width, height) {
	const ratio = window.devicePixelRatio || 1;
	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(height * ratio);
	styled(canvas, { height: height + "px" });
	const context = canvas.getContext("2d");
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.clearRect(0, 0, width, height);
	return context;
}

function showTip(event, lines) {
	const tip = byId("tip");
	tip.replaceChildren(...lines.map((line, i) => element("div", { class: i ? "" : "tip-title" }, line)));
	tip.hidden = false;
	const width = tip.offsetWidth, height = tip.offsetHeight;
	styled(tip, {
		left: Math.max(4, Math.min(event.clientX + 14, window.innerWidth - width - 8)) + "px",
		top: (event.clientY + 18 + height > window.innerHeight ? event.clientY - height - 10
			: event.clientY + 18) + "px",
	});
}

function hideTip() {
	byId("tip").hidden = true;
}
