// SPDX-License-Identifier: GPL-2.0-only
// Tables that are sorted by a click on a column's name, and show as many rows as fit the eye at first.

const FIRST_ROWS = 25;

/*
 * columns: { key, label, title, value(row) for sorting, cell(row), text: true for names }.
 * rows(): all rows; subject(row): [kind, index] or null.
 */
class Table {
	constructor(id, columns, rows, subject) {
		Object.assign(this, { id, columns, rows, subject, sort: columns.find((c) => c.first) ?? columns[1], up: false, all: false });
	}

	draw() {
		const { sort, up } = this, sign = up ? 1 : -1;
		const rows = this.rows().map((row) => [sort.value(row), row]);
		rows.sort(([a], [b]) => sign * (typeof a === "string" ? a.localeCompare(b) : a - b));
		const shown = this.all ? rows : rows.slice(0, FIRST_ROWS);
		for (const [, row] of rows.slice(shown.length))
			if (this.isSelected(row)) shown.push([null, row]);
		const more = rows.length - shown.length;
		replace(this.id,
			element("table", {}, element("thead", {}, element("tr", {}, this.columns.map((c) => this.head(c)))),
				element("tbody", {}, shown.map(([, row]) => this.line(row)))),
			more > 0 ? element("button", { class: "link", onclick: () => this.showAll(true) }, `show ${formatCount(more)} more`)
				: this.all && rows.length > FIRST_ROWS
					? element("button", { class: "link", onclick: () => this.showAll(false) }, "show less") : null);
	}

	showAll(all) {
		this.all = all;
		this.draw();
	}

	head(column) {
		const order = column === this.sort ? (this.up ? "ascending" : "descending") : false;
		return element("th", { "aria-sort": order, scope: "col", class: column.text ? "text" : "", title: column.title },
			element("button", { onclick: () => this.sortBy(column) }, column.label));
	}

	sortBy(column) {
		this.up = column === this.sort ? !this.up : Boolean(column.text);
		this.sort = column;
		this.draw();
	}

	isSelected(row) {
		const subject = this.subject(row);
		return subject !== null && isSubject(...subject);
	}

	line(row) {
		return element("tr", { class: this.isSelected(row) ? "selected" : "" }, this.columns.map((column) =>
			element("td", { class: column.text ? "text" : "" }, column.cell(row))));
	}
}

// A cell of a time, with its share of the elapsed time as a bar.
function timeCell(ns) {
	if (!ns) return element("span", { class: "muted" }, "0");
	const share = Math.min(100, (100 * ns) / (state.selection.elapsed || 1));
	return [styled(element("span", { class: "cell-bar", "aria-hidden": "true" }), { width: share + "%" }),
		element("span", { class: "cell-text", title: formatPercent(ns, state.selection.elapsed) + " of the elapsed time" },
			formatSeconds(ns))];
}

// ---- procedures ----

function figureColumn(key, label, title, of, metric, first) {
	const value = (p) => state.selection[of][metric][p];
	return { key, label, title, first, value, cell: (p) => timeCell(value(p)) };
}

const procedureTable = new Table("procedures", [
	{ key: "name", label: "procedure", text: true, value: (p) => state.model.procedureName(p),
		cell: (p) => [nameLink("procedure", p), " ", element("span", { class: "muted module" }, shortenName(moduleOf(p), 30))] },
	figureColumn("total", "total s", "normalized time of it and of what it calls", "totalOf", "norm", true),
	figureColumn("self", "self s", "normalized time of its own code", "ownOf", "norm"),
	{ key: "par", label: "CPUs", title: "processors busy while it ran, on average", value: (p) => state.selection.totalOf.parallelism(p),
		cell: (p) => levelCell(state.selection.totalOf.parallelism(p)) },
	{ key: "ci", label: "± s", title: "half the width of the 95 % interval of the total; not known for an interval",
		value: (p) => state.selection.uncertainty(p) ?? 0,
		cell: (p) => { const ci = state.selection.uncertainty(p); return ci === null ? "" : formatSeconds(ci); } },
	figureColumn("blocked", "blocked s", "threads blocked in it or on its behalf, without idle ones", "totalOf", "blocked"),
	figureColumn("spin", "spin s", "processor time in loops that wait for another thread", "totalOf", "spin"),
	figureColumn("cpu", "CPU s", "processor time of it and of what it calls", "totalOf", "cpu"),
], () => {
	const { selection, model, matches } = state, { totalOf } = selection, rows = [];
	for (let p = 0; p < totalOf.n; p++)
		if (model.isProcedure(p) && (!matches || matches[p]) && METRICS.some((metric) => totalOf[metric][p])) rows.push(p);
	return rows;
}, (p) => ["procedure", p]);

function levelCell(level) {
	return styled(element("span", { class: "level-chip" }, formatLevel(level)), {
		"background-color": level ? parallelismColor(level, state.model.processors) : "transparent" });
}

// By total where a "main" has half of the time, else by self, as reports do.
function chooseOrder() {
	const { selection, model } = state, { totalOf } = selection;
	let main = 0;
	for (let p = 0; p < totalOf.n; p++)
		if (model.procedureName(p) === "main") main = Math.max(main, totalOf.norm[p]);
	procedureTable.sort = procedureTable.columns[2 * main >= selection.busy ? 1 : 2];
	procedureTable.up = false;
}

listen("data search subject", () => procedureTable.draw());
