#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""page.py BUILD: tests of the page of quartzctl html, each a function test_...; see page.sh."""
import base64
import gzip
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import traceback
import urllib.error
import urllib.request

from browser import Browser

BUILD = pathlib.Path(sys.argv[1])
HERE = pathlib.Path(__file__).resolve().parent
PROFILES = HERE / "profiles"
WORK = tempfile.TemporaryDirectory(prefix="quartz-page-")
STACKS = 20_000 if os.environ.get("QUICK") else 100_000
MOST_BYTES = 3_000_000
SLOTS = 20
NO_SAMPLES = 7


def quartzctl(*arguments):
    """What it prints; profiles without samples have a status of their own."""
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "QUARTZ_RUNTIME_DIR": WORK.name, "QUARTZ_STATE_DIR": WORK.name}
    done = subprocess.run([BUILD / "quartzctl", *arguments], env=env, capture_output=True, check=False)
    if done.returncode not in (0, NO_SAMPLES):
        raise AssertionError(f"quartzctl {arguments}: {done.stderr.decode()}")
    return done.stdout


def page_of(profile, *options):
    page = pathlib.Path(WORK.name) / (profile.name + ".html")
    quartzctl("html", "-i", profile, "-o", page, *options)
    return page


def document_of(profile, *options):
    return json.loads(quartzctl("report", "--json", "--all", "-i", profile, *options))


def report_of(profile, *options):
    return json.loads(quartzctl("report", "--json", "--kind", "procedure,object", "-i", profile, *options))


def page_of_document(page, document):
    """The same page with another document in it."""
    packed = base64.b64encode(gzip.compress(json.dumps(document).encode())).decode()
    text = re.sub(r'(<script id="data"[^>]*>)[^<]*', lambda m: m[1] + packed, page.read_text(), count=1)
    made = page.with_suffix(".made.html")
    made.write_text(text)
    return made


def same(what, got, want):
    if got != want:
        raise AssertionError(f"{what}: {got!r}, not {want!r}")


def check(what, condition):
    if not condition:
        raise AssertionError(what)


def open_page(browser, page):
    """Whatever a test opens must be quiet, and ask for nothing but the page itself."""
    took = int(browser.open(str(page)))
    same("complaints", browser.complaints(), [])
    same("requests", browser.requests(), [page.resolve().as_uri()])
    return took


SAMPLE_COLUMNS = ["slot_step", "node", "thread", "level", "busy", "spinning", "norm_ns", "cpu_ns"]
WAIT_COLUMNS = ["slot_step", "node", "thread", "cause", "object", "blocked_ns", "ready_ns"]


def columns_of(rows, names):
    """Rows that begin with a slot, as columns whose first one has steps."""
    rows = sorted(rows)
    table = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    table["slot_step"] = [slot - (rows[i - 1][0] if i else 0) for i, slot in enumerate(table["slot_step"])]
    return table


def add_timeline(document):
    """A time axis for the first scope: its sums divided among slots, the first half to those of the first thread."""
    scope = document["scopes"][0]
    summary, samples, waits = scope["summary"], scope["samples"], scope["waits"]
    slots = [{"elapsed_ns": 0, "levels_ns": [0] * len(summary["level_ns"]), "busy_ns": [0] * len(summary["effective_ns"]),
              "running_ns": 0, "spin_ns": 0, "ready_ns": 0, "blocked_ns": 0} for _ in range(SLOTS)]
    parts = lambda value: [value // SLOTS + (i < value % SLOTS) for i in range(SLOTS)]
    for level, ns in enumerate(summary["level_ns"]):
        for slot, part in zip(slots, parts(ns)):
            slot["levels_ns"][level] += part
            slot["elapsed_ns"] += part
            slot["running_ns"] += level * part
    for level, ns in enumerate(summary["effective_ns"]):
        for slot, part in zip(slots, parts(ns)):
            slot["busy_ns"][level] += part
    rows = {"samples": [], "waits": []}
    node = 0
    for i, step in enumerate(samples["node_step"]):
        node += step
        first = 0 if samples["thread"][i] == 0 else SLOTS // 2
        rows["samples"].append([first + i % (SLOTS // 2), node] + [samples[name][i] for name in SAMPLE_COLUMNS[2:]])
    node = 0
    for i, step in enumerate(waits["node_step"]):
        node += step
        rows["waits"].append([SLOTS - 1, node] + [waits[name][i] for name in WAIT_COLUMNS[2:]])
    timeline = {"slot_ns": max(slot["elapsed_ns"] for slot in slots), "begin_ns": 0,
                "slots": {name: [slot[name] for slot in slots] for name in slots[0]},
                "samples": columns_of(rows["samples"], SAMPLE_COLUMNS), "waits": columns_of(rows["waits"], WAIT_COLUMNS)}
    scope["timeline"] = timeline
    return slots, sorted(rows["samples"])


def box_of(browser, name):
    """The middle of the widest frame of a procedure, in pixels of the window, scrolled to where it is seen."""
    return browser.run(f"""(() => {{
        const canvas = document.getElementById("flame-canvas");
        const box = flame.boxes.filter((b) => frameName(b.frame) === {json.dumps(name)}).sort((a, b) => b.width - a.width)[0];
        window.scrollBy(0, canvas.getBoundingClientRect().top - 100);
        const area = canvas.getBoundingClientRect();
        return [area.left + box.x + box.width / 2, area.top + (box.row + 0.5) * ROW];
    }})()""")


# ---- what is shown ----


def test_every_profile_is_shown_without_complaints(browser):
    for profile in sorted(PROFILES.glob("*.pb.gz")) + sorted((HERE / "profiles-0.1.0").glob("*.pb.gz")):
        open_page(browser, page_of(profile))
        same(f"{profile.name}: loading", browser.run("document.getElementById('loading').hidden"), True)
        for view in ("verdict", "stats", "findings", "bottle", "levels", "quality"):
            check(f"{profile.name}: {view} is empty", browser.run(f"document.getElementById('{view}').innerHTML !== ''"))
        painted = browser.run("""(() => { const c = document.getElementById("flame-canvas");
            return flame.root.norm === 0 || c.getContext("2d").getImageData(9, 9, 1, 1).data[3] > 0; })()""")
        check(f"{profile.name}: no frame is painted", painted)


def test_verdict_and_findings_are_those_of_advise(browser):
    for name in ("locked", "spinning", "verify"):
        profile = PROFILES / f"{name}.pb.gz"
        advice = json.loads(quartzctl("advise", "--json", "-i", profile))
        open_page(browser, page_of(profile))
        shown = browser.run("document.getElementById('verdict').textContent")
        same(f"{name}: verdict", shown, advice["scopes"][0]["verdict"].replace(":", "", 1))
        what = browser.run("[...document.querySelectorAll('.what bdi')].map((e) => e.textContent)")
        same(f"{name}: findings", what, [f["what"] for f in advice["findings"]])
        check(f"{name}: a finding is below the first screen", browser.run(
            "[...document.querySelectorAll('.what')].slice(0, 1).every((e) => e.getBoundingClientRect().bottom < 700)"))


def test_sums_are_those_of_the_report(browser):
    for profile in sorted(PROFILES.glob("*.pb.gz")):
        open_page(browser, page_of(profile))
        for i, scope in enumerate(report_of(profile)["scopes"]):
            browser.run(f"selectScope({i})")
            got = browser.run("""(() => { const s = state.selection, names = state.model.procedures;
                return { elapsed: s.elapsed, busy: s.total.norm[0], spin: s.total.spin[0], blocked: s.total.blocked[0],
                    ready: s.total.ready[0], idle: s.idleBlocked, levels: s.levels, effective: s.effective,
                    threads: [...s.threads.norm], rows: state.scope.procedures.procedure.map((p) => [names.name[p], names.module[p],
                    names.file[p], s.totalOf.norm[p], s.ownOf.norm[p], s.totalOf.cpu[p], s.totalOf.spin[p], s.totalOf.blocked[p],
                    s.uncertainty(p)]) }; })()""")
            what = f"{profile.name}, scope {i}: "
            same(what + "elapsed", got["elapsed"], scope["elapsed_ns"])
            same(what + "busy", got["busy"], scope["busy_ns"])
            same(what + "spin", got["spin"], scope["spin_ns"])
            same(what + "blocked", got["blocked"], scope["blocked_ns"] - scope["blocked_idle_ns"])
            same(what + "idle threads", got["idle"], scope["blocked_idle_ns"])
            same(what + "ready", got["ready"], scope["ready_ns"])
            same(what + "levels", got["levels"], scope["level_ns"])
            same(what + "effective levels", got["effective"], scope["effective_ns"])
            same(what + "threads", got["threads"], [t["norm_ns"] for t in scope["threads"]])
            want = [[r["name"], r["module"], r["file"], r["total"]["norm_ns"], r["self"]["norm_ns"], r["total"]["cpu_ns"],
                     r["total"]["spin_ns"], r["total"]["blocked_ns"] - r["total"]["blocked_idle_ns"], r["total"]["ci_ns"]]
                    for r in scope["rows"] if r["kind"] == "procedure"]
            same(what + "procedures", sorted(got["rows"]), sorted(want))
            tree = browser.run("METRICS.map((m) => flame.root[m])")
            same(what + "flame graph", tree, browser.run("METRICS.map((m) => state.selection.total[m][0])"))
            browser.run("state.inverted = true, growFlame()")
            same(what + "upside down", browser.run("METRICS.map((m) => flame.root[m])"), tree)
            browser.run("state.inverted = false, growFlame()")


def test_a_lowered_rate_is_told(browser):
    profile = PROFILES / "lowered.pb.gz"
    rate = report_of(profile)["rate_in_force_hz"]
    open_page(browser, page_of(profile))
    shown = browser.run("document.getElementById('stats').innerText")
    check(shown, f"{rate:.1f}\u202fHz" in shown or f"{rate:.2f}\u202fHz" in shown)
    open_page(browser, page_of(PROFILES / "locked.pb.gz"))
    check("a rate that was not lowered is told", "Hz" not in browser.run("document.getElementById('stats').innerText"))


def test_cells_show_the_figures_of_the_report(browser):
    profile = PROFILES / "verify.pb.gz"
    row = next(r for r in report_of(profile)["scopes"][0]["rows"] if r["name"] == "main")
    open_page(browser, page_of(profile))
    cells = browser.run("[...document.querySelectorAll('#procedures tr')].map((r) => [...r.cells].map((c) => c.innerText.trim()))"
                        ".find((r) => r[0].startsWith('main'))")
    same("main", cells[1:4], [f"{row['total']['norm_ns'] / 1e9:.3f}", f"{row['self']['norm_ns'] / 1e9:.3f}",
                              f"{(row['total']['cpu_ns'] - row['total']['spin_ns']) / row['total']['norm_ns']:.1f}"])


def test_width_is_time_and_colour_is_parallelism(browser):
    open_page(browser, page_of(PROFILES / "verify.pb.gz"))
    wide = browser.run("flame.boxes.map((b) => [frameName(b.frame), b.width / flame.boxes[0].width, b.frame.norm / flame.root.norm, "
                       "b.row, frameColor(b.frame), b.frame.norm ? (b.frame.cpu - b.frame.spin) / b.frame.norm : 0])")
    check("no frames", len(wide) > 5)
    for name, width, share, *_ in wide:
        check(f"{name}: width {width}, share {share}", abs(width - share) < 1e-6)
    serial = [color for _, _, _, _, color, level in wide if level == 1]
    same("colours of serial frames", {c for c in serial}, {browser.run("parallelismColor(1, 18)")})
    check("parallel frames have that colour too", any(color != serial[0] for *_, color, level in wide if level > 9))


# ---- what is done with it ----


def test_search_marks_and_filters(browser):
    open_page(browser, page_of(PROFILES / "verify.pb.gz"))
    before = browser.run("document.querySelectorAll('#procedures tbody tr').length")
    browser.key("/")
    same("focus", browser.run("document.activeElement.id"), "search")
    for letter in "COMP":
        browser.key(letter)
    browser.until("document.getElementById('search-said').textContent")
    rows = browser.run("[...document.querySelectorAll('#procedures tbody tr td:first-child a')].map((a) => a.textContent)")
    same("rows", rows, ["compare"])
    check("rows before", before > 1)
    said = browser.run("document.getElementById('search-said').textContent")
    check(said, said.startswith("1 found, "))
    dimmed = browser.run("flame.boxes.filter((b) => !isDimmed(b.frame)).map((b) => frameName(b.frame))")
    same("frames that are not dimmed", set(dimmed), {"compare"})
    browser.run("searchFor('')")
    same("rows after", browser.run("document.querySelectorAll('#procedures tbody tr').length"), before)


def test_click_zooms_and_back(browser):
    open_page(browser, page_of(PROFILES / "verify.pb.gz"))
    whole = browser.run("flame.boxes.length")
    browser.click(*box_of(browser, "create_cone"))
    same("zoomed", browser.run("frameName(flame.zoom)"), "create_cone")
    check("as many frames as before", browser.run("flame.boxes.length") < whole)
    wide = browser.run("flame.boxes.filter((b) => frameName(b.frame) === 'log_cone')[0].width / flame.boxes[0].width")
    check(f"log_cone has {wide} of the width", wide > 0.8)
    path = browser.run("document.getElementById('flame-path').innerText")
    check(path, path.endswith("create_cone") and "main" in path)
    browser.key("Escape")
    browser.key("Escape")
    browser.key("Escape")
    same("whole again", browser.run("flame.boxes.length"), whole)


def test_keys_go_from_frame_to_frame(browser):
    open_page(browser, page_of(PROFILES / "verify.pb.gz"))
    browser.run("document.getElementById('flame-canvas').focus()")
    for key in ("ArrowDown", "ArrowDown", "ArrowDown"):
        browser.key(key)
    name = browser.run("frameName(flame.current)")
    check(f"went to {name}", browser.run("flame.current.parent.parent.parent === flame.root"))
    check("nothing is said", name in browser.run("document.getElementById('flame-said').textContent"))
    browser.key("Enter")
    same("zoomed", browser.run("frameName(flame.zoom)"), name)
    browser.key(" ")
    check("no details", name in browser.run("document.getElementById('detail').innerText"))


def test_metrics_and_order_change_the_flame_graph(browser):
    open_page(browser, page_of(PROFILES / "locked.pb.gz"))
    shown = "JSON.stringify(flame.boxes.map((b) => [frameName(b.frame), Math.round(b.width)]))"
    normalized = browser.run(shown)
    for metric in ("cpu", "blocked"):
        browser.run(f"document.querySelector('[data-metric={metric}]').click()")
        check(f"{metric}: the same frames", browser.run(shown) != normalized)
        same("pressed", browser.run("[...document.querySelectorAll('[data-metric][aria-pressed=true]')].map((b) => b.dataset.metric)"),
             [metric])
    browser.run("document.querySelector('[data-metric=norm]').click()")
    same("back", browser.run(shown), normalized)
    browser.key("i")
    check("upside down: the same frames", browser.run(shown) != normalized)
    own = browser.run("Math.max(...flame.boxes.filter((b) => b.row === 1).map((b) => b.frame.norm))")
    same("the largest frame is of the largest own time", own,
         browser.run("Math.max(...state.selection.ownOf.norm)"))


def close(what, got, want):
    """Figures of 64 bits, divided in floating point."""
    check(f"{what}: {got}, not {want}", abs(got - want) <= 1 + 1e-6 * abs(want))


def test_interval_shows_what_time_says(browser):
    profile = HERE / "recorded" / "indexer.pb.gz"
    open_page(browser, page_of(profile))
    for first, last in ((28, 47), (0, 12), (5, 6), (40, 41)):
        want = report_of(profile, "--time", f"{first}00ms-{last}00ms")["scopes"][0]
        browser.run(f"selectInterval({{ from: {first}, to: {last} }})")
        got = browser.run("""(() => { const s = state.selection, names = state.model.procedures;
            return { elapsed: s.elapsed, levels: s.levels, effective: s.effective, busy: s.total.norm[0],
                blocked: s.total.blocked[0] + s.idleBlocked, ready: s.total.ready[0],
                rows: Object.fromEntries(names.name.map((name, p) => [`${names.module[p]}:${name}`, [s.totalOf.norm[p], s.ownOf.norm[p]]])) }; })()""")
        what = f"slots {first} to {last}: "
        same(what + "elapsed", got["elapsed"], want["elapsed_ns"])
        same(what + "levels", got["levels"], want["level_ns"])
        for level, ns in enumerate(want["effective_ns"]):
            close(what + f"{level} busy", got["effective"][level], ns)
        for name in ("busy", "blocked", "ready"):
            close(what + name, got[name], want[name + "_ns"])
        procedures = [row for row in want["rows"] if row["kind"] == "procedure"]
        check(what + "no procedures", len(procedures) > 3)
        for row in procedures:
            total, self = got["rows"][f"{row['module']}:{row['name']}"]
            close(what + row["name"], total, row["total"]["norm_ns"])
            close(what + row["name"] + ", self", self, row["self"]["norm_ns"])


def test_interval_has_a_verdict_and_findings(browser):
    profile = HERE / "recorded" / "indexer.pb.gz"
    open_page(browser, page_of(profile))
    findings = browser.run("document.getElementById('findings').innerText")
    for first, last in ((28, 47), (0, 12)):
        want = json.loads(quartzctl("advise", "--json", "--time", f"{first}00ms-{last}00ms", "-i", profile))["scopes"][0]["verdict"]
        browser.run(f"selectInterval({{ from: {first}, to: {last} }})")
        got = browser.run("intervalVerdict(state.selection, state.model.processors)")
        # what others had is not known of an interval, nor is the word of a finding
        same(f"slots {first} to {last}: verdict", got.split(": ", 1)[1], want.split(": ", 1)[1].split(". ")[0])
        check("findings of the run", browser.run("document.getElementById('findings').innerText") != findings)
        check("no finding", browser.run("document.querySelectorAll('#findings li').length") > 0)
    browser.run("selectInterval(null)")
    same("findings again", browser.run("document.getElementById('findings').innerText"), findings)


def test_graph_stays_in_place(browser):
    open_page(browser, page_of(PROFILES / "verify.pb.gz"))
    top = "document.getElementById('flame-canvas').getBoundingClientRect().top + scrollY"
    before = browser.run(top)
    browser.click(*box_of(browser, "create_cone"))
    same("zoomed", browser.run("frameName(flame.zoom)"), "create_cone")
    same("top of the graph", browser.run(top), before)


def test_details_do_not_cover_what_was_clicked(browser):
    open_page(browser, page_of(PROFILES / "verify.pb.gz"))
    browser.run("(() => { const c = document.getElementById('flame-canvas'); "
                "window.scrollBy(0, c.getBoundingClientRect().top + 30 - innerHeight); c.focus(); flame.current = flame.boxes[1].frame; })()")
    browser.key(" ")
    browser.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    check("no details", browser.run("!document.getElementById('detail').hidden"))
    bottom = browser.run("document.getElementById('flame-canvas').getBoundingClientRect().top + 2 * ROW")
    check("the frame is below the details", bottom <= browser.run("document.getElementById('detail').getBoundingClientRect().top"))


def test_interval_filters_everything(browser):
    profile = PROFILES / "locked.pb.gz"
    document = document_of(profile)
    slots, samples = add_timeline(document)
    open_page(browser, page_of_document(page_of(profile), document))
    check("no time axis", browser.run("!document.getElementById('timeline-body').hidden"))
    whole = browser.run("document.getElementById('stats').innerText")
    verdict = browser.run("document.getElementById('verdict').innerText")
    x, y, width = browser.run("(() => { const c = document.getElementById('timeline-canvas'); c.scrollIntoView({block: 'center'}); "
                              "const a = c.getBoundingClientRect(); return [a.left, a.top + 60, chart.width]; })()")
    at = lambda slot: x + browser.run(f"timeX({slot})")
    check("the axis has no width", width > 500)
    browser.drag(at(0), y, at(SLOTS // 2), y)
    same("interval", browser.run("[state.interval.from, state.interval.to]"), [0, SLOTS // 2])
    threads = {thread for slot, _, thread, _, _, _, norm, _ in samples if slot < SLOTS // 2 and thread >= 0 and norm}
    same("threads", set(browser.run("[...state.selection.threads.norm.keys()].filter((t) => state.selection.threads.norm[t])")), threads)
    same("elapsed", browser.run("state.selection.elapsed"), sum(s["elapsed_ns"] for s in slots[:SLOTS // 2]))
    check("the head is as before", browser.run("document.getElementById('stats').innerText") != whole)
    close("flame graph", browser.run("flame.root.norm"), browser.run("state.selection.busy"))
    check("the verdict is that of the run", browser.run("document.getElementById('verdict').innerText") != verdict)
    same("what is marked has moved", browser.run("Math.round(document.getElementById('timeline-canvas').getBoundingClientRect().top)"), round(y - 60))
    same("waits", browser.run("state.selection.total.blocked[0]"), 0)
    browser.run("document.getElementById('timeline-canvas').focus()")
    browser.key("ArrowRight")
    same("moved", browser.run("[state.interval.from, state.interval.to]"), [1, SLOTS // 2 + 1])
    browser.key("Escape")
    same("whole", browser.run("[state.interval, document.getElementById('stats').innerText]"), [None, whole])
    same("its verdict", browser.run("document.getElementById('verdict').innerText"), verdict)
    browser.run(f"selectInterval({{ from: 0, to: {SLOTS} }})")
    same("all slots", browser.run("[state.interval, state.selection.busy]"), [None, document["scopes"][0]["summary"]["busy_ns"]])


def test_profiles_without_time_say_so(browser):
    open_page(browser, page_of(HERE / "profiles-0.1.0" / "pigz.pb.gz"))
    same("views", browser.run("[document.getElementById('timeline-body').hidden, document.getElementById('timeline-none').hidden]"),
         [True, False])


def test_names_lead_to_what_is_known(browser):
    open_page(browser, page_of(PROFILES / "locked.pb.gz"))
    for selector, kind in (("#procedures a", "procedure"), ("#threads td:first-child a", "thread"), ("#objects a", "object")):
        name = browser.run(f"(() => {{ const a = document.querySelector('{selector}'); a.click(); return a.textContent; }})()")
        same(f"{selector}: subject", browser.run("state.subject.kind"), kind)
        check(f"{selector}: {name} is not shown", name in browser.run("document.querySelector('#detail h3').innerText"))
        check(f"{selector}: no row is marked", browser.run(f"document.querySelectorAll('tr.selected').length") >= 1)
        check(f"{selector}: no list", browser.run("document.querySelectorAll('#detail .detail-list').length") >= 1)
    browser.key("Escape")
    same("closed", browser.run("document.getElementById('detail').hidden"), True)


def test_objects_have_queues_and_who_waits(browser):
    profile = PROFILES / "locked.pb.gz"
    objects = json.loads(quartzctl("objects", "--json", "-i", profile))["scopes"][0]["objects"]
    open_page(browser, page_of(profile))
    rows = browser.run("[...document.querySelectorAll('#objects tbody tr')].map((r) => [...r.cells].map((c) => c.innerText.trim()))")
    same("objects", len(rows), len(objects))
    top = rows[0]
    check(f"{top[0]}: no waits", int(top[3].replace("\u202f", "")) == next(o["waits"] for o in objects if o["name"] in top[0]))
    check(f"no thread waits for {top[0]}", top[5] != "")


def test_what_ran_together_is_that_of_the_report(browser):
    profile = PROFILES / "together.pb.gz"
    want = json.loads(quartzctl("report", "--snapshot", "--json", "-i", profile))["scopes"][0]
    open_page(browser, page_of(profile))
    name = lambda member: member["procedure"]["name"] + (" (spinning)" if member["spinning"] else "")
    sets = browser.run("""state.scope.together.sets.map(([n, busy, spinning]) => [n,
        [...busy.map((p) => state.model.procedureName(p)), ...spinning.map((p) => state.model.procedureName(p) + " (spinning)")].sort()])""")
    same("sets", sorted(sets), sorted([row["instants"], sorted(name(m) for m in row["members"])] for row in want["sets"]))
    rows = browser.run("[...document.querySelectorAll('#together tbody tr')].map((r) => [...r.cells].map((c) => c.innerText))")
    same("rows", [(row[0], row[1], row[3]) for row in rows],
         [("4 × compress", "480", "4"), ("read_input", "300", "1"), ("read_input, await_block (spinning)", "150", "1"),
          ("(no thread)", "50", "0"), ("read_input, 2 × compress, await_block (spinning)", "20", "3")])
    said = browser.run("document.getElementById('together-said').textContent")
    for part in ("1\u202f007 snapshots", "100 Hz", "2 incomplete", "1 without a place", "4 with no thread running"):
        check(said, part in said)
    for procedure in ("read_input", "compress"):
        pairs = json.loads(quartzctl("pairs", procedure, "--json", "-i", profile))["scopes"][0]
        got = browser.run(f"""(() => {{ const {{ instants, alone, others }} = pairsOf(state.model.procedures.name.indexOf("{procedure}"));
            return {{ instants, alone, others: others.map(([p, sum]) => [state.model.procedureName(p), sum.instants, sum.busy, sum.spinning]) }}; }})()""")
        same(procedure, got, {"instants": pairs["instants"], "alone": pairs["alone"],
                              "others": [[o["procedure"]["name"], o["instants"], o["busy"], o["spinning"]] for o in pairs["others"]]})
        browser.run(f"selectSubject('procedure', state.model.procedures.name.indexOf('{procedure}'))")
        shown = browser.run("document.getElementById('detail').innerText")
        check(shown, "OTHER PROCESSORS MEANWHILE" in shown.upper() and "await_block" in shown and "spinning" in shown)
    open_page(browser, page_of(PROFILES / "locked.pb.gz"))
    same("shown without sets", browser.run("document.getElementById('together-section').offsetParent"), None)


def test_tables_sort(browser):
    open_page(browser, page_of(PROFILES / "verify.pb.gz"))
    for column in range(browser.run("procedureTable.columns.length")):
        browser.run(f"document.querySelectorAll('#procedures th button')[{column}].click()")
        values = browser.run("(() => { const t = procedureTable; return [t.up, [...document.querySelectorAll('#procedures tbody a')]"
                             ".map((a) => t.sort.value(Number(a.getAttribute('href').split('-')[1])))]; })()")
        up, values = values
        if values and isinstance(values[0], str):
            values = [v.lower() for v in values]
        same(f"column {column}", values, sorted(values, reverse=not up))


def test_scopes_can_be_chosen(browser):
    profile = PROFILES / "two.pb.gz"
    report = report_of(profile)
    open_page(browser, page_of(profile))
    same("scopes", browser.run("document.getElementById('scope').options.length"), len(report["scopes"]))
    browser.run("(() => { const s = document.getElementById('scope'); s.value = 1; s.dispatchEvent(new Event('change')); })()")
    same("elapsed", browser.run("state.selection.elapsed"), report["scopes"][1]["elapsed_ns"])


def test_a_machine_begins_with_its_programs(browser):
    profile = PROFILES / "system.pb.gz"
    open_page(browser, page_of(profile))
    names = browser.run("childrenOf(flame.root, 'norm').map(frameName)")
    programs = browser.run("[...new Set(state.scope.threads.program)]")
    check(f"{names} are not programs", set(names) <= set(programs) | {"no program"})


# ---- comparisons ----

COMPARED = (("verify", "locked"), ("system", "system-later"), ("lowered", "lowered-later"), ("two", "two"), ("hostile", "names"),
            ("spinning", "together"), ("called", "idle"), ("locked", "developed"))
ADDING = ("procedure", "kernel", "no_samples", "instrumentation")


def compared(*profiles):
    """The page of diff, and what diff --json says."""
    files = [p if p == "--" else PROFILES / f"{p}.pb.gz" if isinstance(p, str) else p for p in profiles]
    page = pathlib.Path(WORK.name) / "compared.html"
    quartzctl("diff", *files, "--html", page)
    return page, json.loads(quartzctl("diff", "--json", *files))


def near(what, got, want, most):
    check(f"{what}: {got}, not {want}", abs(got - want) <= most)


def check_compared(browser, profiles):
    page, diff = compared(*profiles)
    open_page(browser, page)
    same("scopes", browser.run("state.model.scopes.length"), len(diff["scopes"]))
    for i, scope in enumerate(diff["scopes"]):
        browser.run(f"beginScope({i})")
        what = f"{profiles}, scope {i}: "
        runs = max(len(scope["before"]), len(scope["after"]))
        rounding = 0 if runs == 1 else runs
        same(what + "rows", browser.run("state.scope.rows.map((r) => [r.kind, r.name, r.module, r.self, r.total, r.cpu, r.blocked])"),
             [[r[k] for k in ("kind", "name", "module", "self", "total", "cpu", "blocked")] for r in scope["rows"]])
        sums = browser.run("""state.scope.rows.map((row) => { const { model, selection } = state, total = {};
            for (const side of SIDES) { total[side] = 0;
                for (let i = 1; i < model.nodeCount; i++)
                    if (model.outermost[i] && model.procedureOf[i] === row.procedure) total[side] += selection.total[side + "_norm"][i]; }
            return SIDES.map((side) => [selection.ownOf[side + "_norm"][row.procedure], total[side]]); })""")
        for row, sides in zip(scope["rows"], sums):
            if row["kind"] not in ADDING:
                continue
            for side, (own, total) in zip(("before", "after"), sides):
                near(f"{what}{row['name']}: self {side}", own, row["self"][side + "_ns"], rounding)
                near(f"{what}{row['name']}: total {side}", total, row["total"][side + "_ns"], rounding)
        change = browser.run("changeOf(flame.root, 'norm')")
        near(what + "frames and idle time", change + scope["idle"]["change_ns"], scope["elapsed"]["change_ns"], 1 + len(sums) * rounding)
        near(what + "rows and idle time", browser.run("sumOfSelf(state.scope.rows)") + scope["idle"]["change_ns"],
             scope["elapsed"]["change_ns"], 1 + len(sums))
        tree = browser.run("CHANGE_METRICS.map((m) => flame.root[m])")
        browser.run("state.inverted = true, growFlame()")
        for metric, down, up in zip(browser.run("CHANGE_METRICS"), tree, browser.run("CHANGE_METRICS.map((m) => flame.root[m])")):
            near(f"{what}{metric} upside down", up, down, 1)
        browser.run("state.inverted = false, growFlame()")
    same(f"{profiles}: complaints", browser.complaints(), [])


def test_sums_of_a_comparison_are_those_of_diff(browser):
    for profiles in COMPARED:
        check_compared(browser, profiles)


def test_repeated_runs_of_a_comparison_are_means(browser):
    check_compared(browser, ("verify", "verify", "spinning", "--", "locked", "developed"))
    check("no interval of the runs", "±" in browser.run("document.querySelector('#runs thead').innerText"))


def test_a_comparison_begins_as_diff_does(browser):
    for profiles in COMPARED:
        page, diff = compared(*profiles)
        text = quartzctl("diff", *[PROFILES / f"{p}.pb.gz" for p in profiles]).decode().splitlines()
        open_page(browser, page)
        same("headline", browser.run("document.getElementById('verdict').textContent"), text[0].replace(":", "", 1))
        shown = browser.run("document.getElementById('runs').textContent")
        scope = diff["scopes"][0]
        for side in ("before", "after"):
            check(f"{profiles}: no verdict {side}", scope[side][0]["verdict"] in shown)
        cells = browser.run("[...document.querySelectorAll('#runs tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))")
        figures = lambda c: [0 if v == "0" else float(v.replace("−", "-")) for v in c]
        for row, key in ((0, "elapsed"), (1, "cpu"), (3, "serial"), (4, "idle")):
            for got, name in zip(figures(cells[row][1:4]), ("before_ns", "after_ns", "change_ns")):
                near(f"{profiles}: {key} {name}", got, scope[key][name] / 1e9, 0.00051)
        for got, side in zip(figures(cells[2][1:3]), ("before", "after")):
            run = scope[side][0]
            near(f"{profiles}: parallelism", got, run["busy_cpu_ns"] / run["busy_ns"] if run["busy_ns"] else 0, 0.0051)


def test_frames_have_the_width_of_a_side_and_the_colour_of_a_change(browser):
    open_page(browser, compared("system", "system-later")[0])
    boxes = ("flame.boxes.map((b) => [frameName(b.frame), b.width / flame.boxes[0].width, b.frame[state.metric] / flame.root[state.metric], "
             "changeOf(b.frame), flame.look.color(b.frame).match(/[0-9]+/g).map(Number)])")
    for side in ("before", "after"):
        browser.run(f"document.querySelector('[data-side={side}]').click()")
        same("side", browser.run("state.metric"), side + "_norm")
        shown = browser.run(boxes)
        check("few frames", len(shown) >= 4)
        for name, width, share, change, (red, _, blue) in shown:
            check(f"{name}: width {width}, share {share}", abs(width - share) < 1e-6)
            check(f"{name}: {change} ns is red {red}, blue {blue}", red > blue if change > 0 else red <= blue)
    same("same is the colour of none", browser.run("changeColor(0, 9)"), browser.run("`rgb(${parseColor(theme.same).join()})`"))
    check("more is not stronger", browser.run("changeColor(9, 9) !== changeColor(1, 9)"))


def test_what_is_gone_is_shown_before(browser):
    open_page(browser, compared("verify", "locked")[0])
    names = "flame.boxes.map((b) => frameName(b.frame))"
    check("the largest change has no frame", "compare" in browser.run(names))
    same("the largest change is named", browser.run("document.querySelector('#largest-change a').textContent"), "compare")
    browser.run("document.querySelector('[data-side=after]').click()")
    check("a new one is missing", "push" in browser.run(names))
    check("one that is gone is shown", "compare" not in browser.run(names))
    said = browser.run("document.getElementById('flame-gone').innerText")
    check(said, said.endswith("show before"))
    browser.run("document.querySelector('#flame-gone button').click()")
    check("one that is gone is missing", "compare" in browser.run(names) and "push" not in browser.run(names))
    same("the largest change, which is gone, is all blue", browser.run(
        "changeFrameColor(flame.boxes.filter((b) => b.row === 1).sort((a, b) => b.width - a.width)[0].frame)"),
         browser.run("`rgb(${parseColor(theme.less).join()})`"))
    browser.key("b")
    check("back", "push" in browser.run(names))


def test_a_comparison_is_searched_zoomed_and_folded(browser):
    page, diff = compared("verify", "verify")
    open_page(browser, page)
    rows = "document.querySelectorAll('#changes tbody tr').length"
    same("rows beyond chance", browser.run(rows), 0)
    browser.run("document.querySelector('#changes-folded button').click()")
    same("rows", browser.run(rows), len(diff["scopes"][0]["rows"]))
    browser.run("document.querySelector('#changes-folded button').click()")
    browser.run("searchFor('COMP')")
    same("found", browser.run("[...document.querySelectorAll('#changes tbody a')].map((a) => a.textContent)"), ["compare"])
    said = browser.run("document.getElementById('search-said').textContent")
    check(said, said.startswith("1 found, ") and " before, " in said)
    same("frames that are not dimmed", set(browser.run("flame.boxes.filter((b) => !isDimmed(b.frame)).map((b) => frameName(b.frame))")),
         {"compare"})
    browser.run("searchFor('')")
    whole = browser.run("flame.boxes.length")
    x, y = box_of(browser, "create_cone")
    browser.mouse("mouseMoved", x, y)
    tip = browser.run("document.getElementById('tip').innerText")
    check(tip, all(word in tip for word in ("create_cone", " before, ", " after, change 0", "in all places", "±", "within chance")))
    browser.click(x, y)
    same("zoomed", browser.run("frameName(flame.zoom)"), "create_cone")
    check("as many frames as before", browser.run("flame.boxes.length") < whole)
    browser.key(" ")
    browser.run("selectSubject('procedure', flame.zoom.procedure)")
    check("no detail", "create_cone" in browser.run("document.querySelector('#detail h3').innerText"))
    same("figures of the detail", browser.run("document.querySelectorAll('#detail tbody tr').length"), 4)


def test_changes_are_sorted_by_their_size(browser):
    open_page(browser, compared("verify", "locked")[0])
    cell = ("[...document.querySelectorAll('#changes tbody tr')].map((r) => r.cells[%d].textContent).filter((text) => text)"
            ".map((text) => Math.abs(Number(text.replace('−', '-'))))")
    values = browser.run(cell % 1)
    check("few rows", len(values) > 5)
    same("self", values, sorted(values, reverse=True))
    browser.run("document.querySelectorAll('#changes th button')[7].click()")
    values = browser.run(cell % 7)
    same("total", values, sorted(values, reverse=True))


def test_hostile_names_of_a_comparison_are_text(browser):
    page, _ = compared(large_profile(300), "hostile")
    open_page(browser, page)
    same("requests", browser.requests(), [page.resolve().as_uri()])
    browser.run("folded.shown = true, changeTable.showAll(true)")
    shown = browser.run("document.getElementById('changes').innerText")
    for name in ("</script><script>document.title='owned'</script>", "\"><svg onload=alert(1)>'", "<!--<script>", "&lt;b&gt;&amp;",
                 "javascript:document.title='owned'", "right\\u202eleft\\u200b", "line\\x0afeed\\x1b[31m\\x7f", "__proto__", "constructor"):
        check(f"{name} is not shown", name in shown)
    check("a name of a megabyte is shown in full", len(shown) < 400_000)
    check("it is not shown", "<b>longaaa" in shown)
    same("elements of names", browser.run("[...document.querySelectorAll('img, iframe, object, embed, link, base, i, u, form')].length"), 0)
    same("scripts", browser.run("document.scripts.length"), 2)
    for p in browser.run("state.scope.rows.slice(0, 14).map((r) => r.procedure)"):
        browser.run(f"selectSubject('procedure', {p})")
    browser.run("selectSubject(null)")
    for x in range(20, 1200, 40):
        browser.mouse("mouseMoved", x, browser.run("(() => { const c = document.getElementById('flame-canvas'); "
                                                   "return c.getBoundingClientRect().top + 3.5 * ROW; })()"))
    same("complaints", browser.complaints(), [])


def test_many_stacks_are_compared(browser):
    page, diff = compared(large_profile(STACKS), large_profile(STACKS // 2))
    size = page.stat().st_size
    took = open_page(browser, page)
    print(f"page.py: {STACKS} and {STACKS // 2} stacks: {size} bytes, shown after {took} ms")
    check(f"{size} bytes", size <= MOST_BYTES)
    near("elapsed", browser.run("changeOf(flame.root, 'norm')") + diff["scopes"][0]["idle"]["change_ns"],
         diff["scopes"][0]["elapsed"]["change_ns"], 1)
    check("few frames", browser.run("flame.boxes.length") > 1000)


def test_a_comparison_is_not_wider_than_a_telephone(browser):
    browser.size(390, 840)
    for profiles in (("verify", "locked"), ("hostile", "names"), ("wide", "wide")):
        open_page(browser, compared(*profiles)[0])
        same(f"{profiles}: width", browser.run("document.documentElement.scrollWidth"), 390)
        check(f"{profiles}: the headline is not in sight", browser.run(
            "document.getElementById('verdict').getBoundingClientRect().bottom < 400"))


# ---- live ----


class Exporter:
    """A quartz-exporter before a quartzd of two snapshots, the second one as soon as `later` is called."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(dir=WORK.name)
        env = dict(os.environ, QUARTZ_RUNTIME_DIR=self.directory)
        first, later = PROFILES / "system.pb.gz", PROFILES / "system-later.pb.gz"
        self.quartzd = int(subprocess.run([HERE / "quartzd.py", first, later], env=env, check=True, capture_output=True).stdout)
        self.process = subprocess.Popen([BUILD / "quartz-exporter", "--listen", "127.0.0.1:0", "--profiles"], env=env,
                                        stderr=subprocess.PIPE, text=True)
        self.url = "http://127.0.0.1:" + self.process.stderr.readline().split()[-1]

    def later(self):
        pathlib.Path(self.directory, "later").touch()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.quartzd, signal.SIGTERM)
        self.process.terminate()
        self.process.communicate()


def test_live_page_adds_up_what_each_second_added(browser):
    reports = [report_of(PROFILES / f"{name}.pb.gz", "--scope", "all") for name in ("system", "system-later")]
    for query, kind, pid in (("", "machine", None), ("?scope=pid=500", None, 500)):
        scopes = [next(s for s in r["scopes"] if s["kind"] == kind or s["pid"] == pid) for r in reports]
        want = [later - first for first, later in zip(scopes[0]["level_ns"], scopes[1]["level_ns"])]
        with Exporter() as exporter:
            browser.events = []
            browser.call("Page.navigate", url=exporter.url + "/page" + query)
            browser.until("document.documentElement?.dataset.ready")
            same("before", browser.run("state.selection.levels"), [0] * len(want))
            exporter.later()
            browser.until("state.selection.elapsed > 0")
            same("levels", browser.run("state.selection.levels"), want)
            same("scope", browser.run("state.scope.summary.pid"), scopes[0]["pid"])
            seconds = browser.run("live.parts.length")
            browser.until(f"live.parts.length > {seconds + 1}")
            same("levels after two more", browser.run("state.selection.levels"), want)
            check("nothing is painted", browser.run("flame.root.norm > 0"))
            same("complaints", browser.complaints(), [])
            check("asked elsewhere", all(r.startswith(exporter.url) for r in browser.requests()))
            browser.run("document.getElementById('live-pause').click()")
            same("paused", browser.run("live.paused"), True)
            browser.call("Page.navigate", url="about:blank")


def test_live_page_says_why_there_is_nothing(browser):
    with Exporter() as exporter:
        browser.call("Page.navigate", url=exporter.url + "/page?scope=nonsense")
        browser.until("document.getElementById('loading')?.innerText.includes('none of machine, pid=N, unit=NAME')")
        browser.call("Page.navigate", url="about:blank")


def test_few_look_at_the_live_page_at_a_time(browser):
    with Exporter() as exporter:
        streams = [urllib.request.urlopen(exporter.url + "/page/deltas") for _ in range(2)]
        try:
            urllib.request.urlopen(exporter.url + "/page/deltas")
            raise AssertionError("a third one is served")
        except urllib.error.HTTPError as error:
            same("the third", error.code, 503)
        length = int(streams[0].readline())
        same("a document", json.loads(streams[0].read(length))["schema"], "quartz.page/v1")
        with urllib.request.urlopen(exporter.url + "/debug/pprof/all") as profile:
            same("a profile beside them", profile.status, 200)
        for stream in streams:
            stream.close()


# ---- how it looks ----


def test_light_and_dark(browser):
    page = page_of(PROFILES / "locked.pb.gz")
    ground = "getComputedStyle(document.body).backgroundColor"
    open_page(browser, page)
    light = browser.run(ground)
    browser.size(1280, 900, "dark")
    dark = browser.run(ground)
    check("dark is as light", dark != light)
    browser.run("document.getElementById('theme').click()")
    same("switched to light", browser.run(ground), light)
    browser.run("document.getElementById('theme').click()")
    same("switched to dark", browser.run(ground), dark)


def test_nothing_is_wider_than_a_telephone(browser):
    browser.size(390, 840)
    for name in ("locked", "hostile", "wide", "system"):
        open_page(browser, page_of(PROFILES / f"{name}.pb.gz"))
        same(f"{name}: width", browser.run("document.documentElement.scrollWidth"), 390)
        check(f"{name}: the verdict is not in sight", browser.run(
            "document.getElementById('verdict').getBoundingClientRect().bottom < 400"))


def test_print_has_no_controls(browser):
    open_page(browser, page_of(PROFILES / "locked.pb.gz"))
    browser.call("Emulation.setEmulatedMedia", media="print")
    shown = browser.run("['theme', 'search', 'flame-inverted', 'keys'].filter((id) => getComputedStyle(document.getElementById(id)).display !== 'none')")
    browser.call("Emulation.setEmulatedMedia", media="")
    same("controls", shown, [])


# ---- scaling ----


def scaled(*options):
    return [option for f in sorted(PROFILES.glob("solver-*.pb.gz")) for option in ("--from", f)] + list(options)


def test_speed_ups_are_those_of_scale(browser):
    page = pathlib.Path(WORK.name) / "scale.html"
    printed = json.loads(quartzctl("scale", *scaled("--json", "--html", page)))
    open_page(browser, page)
    same("loading", browser.run("document.getElementById('loading').hidden"), True)
    curves = browser.run("[...document.querySelectorAll('#speedups .speedup')].map((g) => [g.dataset.key, "
                         "[...g.querySelectorAll('circle')].map((c) => [Number(c.getAttribute('cx')), Number(c.getAttribute('cy'))])])")
    same("curves", [key for key, _ in curves], ["linear", "maximal", "idle_time_specific", "inflation_specific", "actual"])
    points = printed["processors"]
    check("there are points", len(points) == 3)
    # All by one scale: that of the linear speed-up, which is the number of processors.
    (x1, y1), (x2, y2) = curves[0][1][0], curves[0][1][-1]
    first, last = points[0]["processors"], points[-1]["processors"]
    for key, places in curves:
        same(f"{key}: points", len(places), len(points))
        for (x, y), point in zip(places, points):
            check(f"{key}: x", abs(x - x1 - (x2 - x1) * (point["processors"] - first) / (last - first)) < 0.01)
            check(f"{key}: y", abs(y - y1 - (y2 - y1) * (point["speedup"][key] - first) / (last - first)) < 0.01)
    rows = browser.run("[...document.querySelectorAll('#speedups-table tbody tr')].map((r) => [...r.cells].map((c) => c.innerText))")
    for row, point in zip(rows, points):
        same("a row", row[:7], [str(point["processors"]), str(point["runs"])] + [f"{point['speedup'][key]:.2f}" for key, _ in curves])
    same("sentences", browser.run("[...document.querySelectorAll('#gaps li')].map((e) => e.textContent)"), printed["gaps"])
    terms = browser.run("[...document.querySelectorAll('#terms tbody tr')].map((r) => [...r.cells].map((c) => c.innerText))")
    for row, point in zip(terms, points):
        whole, one, idle, more = (float(row[i]) for i in (3, 4, 5, 7))
        check(f"terms add up: {row}", abs(whole - one - idle - more) < 0.003)
        same("elapsed", row[1], f"{point['elapsed_ns'] / 1e9:.3f}")
    text = browser.run("document.getElementById('idle-causes').innerText + document.getElementById('inflation').innerText")
    for name in ("waits for mutex merge_lock", "no further thread to run", "solve", "read_input"):
        check(f"{name} is not shown", name in text)
    same("other views", browser.run("[...document.querySelectorAll('section')].filter((s) => s.offsetParent).map((s) => s.id)"),
         ["speedups-section", "gaps-section", "terms-section", "idle-section", "inflation-section"])
    for key in ("/", "i", "b", "1", "?", "Escape"):
        browser.key(key)
    browser.run("chooseTheme('dark')")
    same("complaints", browser.complaints(), [])


def test_one_number_of_processors_is_shown(browser):
    page = pathlib.Path(WORK.name) / "scale-one.html"
    quartzctl("scale", "--from", PROFILES / "solver-on1-run1.pb.gz", "--html", page)
    open_page(browser, page)
    same("points", browser.run("document.querySelectorAll('#speedups circle').length"), 5)
    shown = browser.run("document.body.innerText")
    check(shown, "NaN" not in shown and "undefined" not in shown and "null" not in shown)


def test_names_of_a_scaling_page_are_text(browser):
    page = pathlib.Path(WORK.name) / "scale-names.html"
    document = json.loads(quartzctl("scale", *scaled("--json", "--html", page)))
    document["command"] = document["gaps"][0] = "</script><img src=x onerror=alert(1)>"
    for row in document["procedures"] + document["idle"]:
        row["name"] = "<b>\u202e</b>" if row["name"] is not None else None
    open_page(browser, page_of_document(page, document))
    shown = browser.run("document.body.innerText")
    check(shown, "</script><img" in shown and "<b>\\u202e</b>" in shown)
    same("elements of names", browser.run("document.querySelectorAll('img, main b b, i').length"), 0)


# ---- tries ----


def try_of(name, verdict, without, with_, gain, rule=None):
    return {"rule": rule, "remedies": [{"name": name, "change": name, "how": "environment", "risk": ""}], "command": f"{name} ./app <x>",
            "predicted_low_ppm": 90000 if rule else None, "predicted_high_ppm": 300000 if rule else None, "gain_ppm": gain,
            "gain_ci_ppm": 12000, "cpu_change_ppm": -50000, "memory_change_ppm": None, "with_ns": with_, "without_ns": without,
            "pairs": len(with_), "verdict": verdict, "failure": ""}


def document_of_tries(**others):
    return {"schema": "quartz.try/v1", "time": 1800000000, "command": ["./app", "<b>"], "pid": None, "by": "time", "rate_before": None,
            "rate_after": None, "processors": 2, "compared": "output", "elapsed_ns": 10**9,
            "trials": [try_of("A=1", "does nothing", [10**9, 11 * 10**8], [10**9, 11 * 10**8], 0),
                       try_of("</script><i>", "helps", [10**9, 12 * 10**8, 10**9], [5 * 10**8, 6 * 10**8, 4 * 10**8], 500000, "allocator"),
                       {**try_of("B=2", "harms", [10**9], [153 * 10**8], -14320000), "gain_ci_ppm": 1240000, "cpu_change_ppm": 3100000}],
            "not_tried": [{"change": "C=3", "why": "no time"}], "source_must_change": ["serial"], "keep": "A=1 ./app '<b>'",
            "complete": True, **others}


def test_tries_are_shown_side_by_side(browser):
    page = pathlib.Path(WORK.name) / "try.html"
    env = {**os.environ, "XDG_DATA_HOME": WORK.name}
    advised = [BUILD / "quartzctl", "advise", "--try", "--for", "10min", "--json", "--html", page, "-i",
               HERE.parent / "unit/core/advise/recorded/allocator.pb.gz", "--", "sh", "-c", "exit ${MALLOC_ARENA_MAX:-0}"]
    done = subprocess.run(advised, check=True, capture_output=True, text=True, env=env)
    printed = json.loads(done.stdout)
    open_page(browser, page)
    same("loading", browser.run("document.getElementById('loading').hidden"), True)
    same("complaints", browser.complaints(), [])
    rows = browser.run("[...document.querySelectorAll('#tries-table tbody tr')].map((r) => [...r.cells].map((c) => c.innerText))")
    same("verdicts", [row[1] for row in rows], [trial["verdict"] for trial in printed["trials"]])
    open_page(browser, page_of_document(page, document_of_tries()))
    groups = browser.run("[...document.querySelectorAll('#tries .try')].map((g) => ['without', 'with'].map((side) => "
                         "[Number(g.querySelector(`rect.${side}`).getAttribute('width')), g.querySelectorAll(`circle.${side}`).length]))")
    same("runs, the best first", [[n for _, n in group] for group in groups], [[3, 3], [2, 2], [1, 1]])
    check("medians are bars", abs(groups[0][1][0] / groups[0][0][0] - 0.5) < 0.01 and abs(groups[1][1][0] - groups[1][0][0]) < 0.01)
    rows = browser.run("[...document.querySelectorAll('#tries-table tbody tr')].map((r) => [...r.cells].map((c) => c.innerText))")
    same("of many times as slow", rows[2][3:6], ["15.3 times as slow", "1.2", "4.1 times"])
    same("sections", browser.run("[...document.querySelectorAll('section')].filter((s) => s.offsetParent).map((s) => s.id)"),
         ["tries-section", "tries-table-section", "tries-left-section"])
    shown = browser.run("document.body.innerText")
    for text in ("Keep:", "A=1 ./app '<b>'", "</script><i>", "9% to 30%", "50.0%", "C=3: no time", "serial: no remedy from outside"):
        check(f"{text} is not shown", text in shown)
    same("elements of names", browser.run("document.querySelectorAll('i').length"), 0)
    open_page(browser, page_of_document(page, document_of_tries(pid=12, command=[], by="sends", rate_before=5000.5, rate_after=4000.0,
                                                                trials=[], keep=None)))
    shown = browser.run("document.body.innerText")
    check(shown, "process 12" in shown and "Keep it as it is" in shown and "undefined" not in shown and "NaN" not in shown)
    same("complaints", browser.complaints(), [])


# ---- what it must not do ----


def large_profile(stacks):
    profile = pathlib.Path(WORK.name) / f"large-{stacks}.pb.gz"
    if not profile.exists():
        subprocess.run([BUILD / "tests/cli/make_large", profile, str(stacks)], check=True)
    return profile


def test_hostile_names_are_text(browser):
    page = page_of(large_profile(300))
    open_page(browser, page)
    browser.run("procedureTable.showAll(true), threadTable.showAll(true)")
    shown = browser.run("document.getElementById('procedures').innerText")
    beside = browser.run("document.getElementById('together').innerText")
    for name in ("</script><script>document.title='owned'</script>", "\"><svg onload=alert(1)>'", "<!--<script>", "&lt;b&gt;&amp;",
                 "javascript:document.title='owned'", "right\\u202eleft\\u200b", "line\\x0afeed\\x1b[31m\\x7f", "__proto__", "constructor"):
        check(f"{name} is not shown", name in shown)
        check(f"{name} is not shown beside others", name in beside)
    check("a name of a megabyte is shown in full", len(shown) < 400_000 and len(beside) < 10_000)
    check("it is not shown", "<b>longaaa" in shown and "<b>longaaa" in beside)
    same("title", browser.run("document.title"), "Quartz: large </title><b>")
    same("elements of names", browser.run("[...document.querySelectorAll('img, iframe, object, embed, link, base, i, u, form')].length"), 0)
    same("scripts", browser.run("document.scripts.length"), 2)
    browser.run("searchFor('</script>')")
    check("it is not found", browser.run("document.querySelectorAll('#procedures tbody tr').length") >= 1)
    for p in browser.run("state.model.procedures.name.map((n, p) => p).filter((p) => state.model.isProcedure(p)).slice(0, 14)"):
        browser.run(f"selectSubject('procedure', {p})")
    same("complaints", browser.complaints(), [])


def test_the_policy_forbids_requests_and_other_scripts(browser):
    open_page(browser, page_of(PROFILES / "locked.pb.gz"))
    for attempt in ("fetch('http://127.0.0.1:9/')", "fetch('data:text/plain,x')", "import('data:text/javascript,1')"):
        same(attempt, browser.run(f"{attempt}.then(() => 'done', () => 'refused')"), "refused")
    same("image", browser.run("new Promise((done) => { const i = new Image(); i.onload = () => done('done'); "
                              "i.onerror = () => done('refused'); i.src = 'data:image/gif;base64,R0lGODlhAQABAAAAACw='; })"), "refused")
    browser.run("(() => { const s = document.createElement('script'); s.textContent = 'window.owned = true'; document.body.append(s); })()")
    same("another script", browser.run("window.owned === undefined"), True)
    same("requests", [r for r in browser.requests() if r.startswith("http")], [])


def test_many_stacks_are_shown(browser):
    profile = large_profile(STACKS)
    page = page_of(profile)
    size = page.stat().st_size
    took = open_page(browser, page)
    print(f"page.py: {STACKS} stacks: {size} bytes, shown after {took} ms")
    check(f"{size} bytes", size <= MOST_BYTES)
    document = document_of(profile)
    same("busy", browser.run("state.selection.total.norm[0]"), document["scopes"][0]["summary"]["busy_ns"])
    check("few frames", browser.run("flame.boxes.length") > 1000)


def main():
    failed = False
    wanted = sys.argv[2:]
    with Browser() as browser:
        for name, test in list(globals().items()):
            if not name.startswith("test_") or (wanted and not any(w in name for w in wanted)):
                continue
            browser.size(1280, 900)
            try:
                test(browser)
            except Exception:
                failed = True
                print(f"page.py: {name} failed")
                traceback.print_exc(limit=-1)
    return failed


if __name__ == "__main__":
    sys.exit(main())
