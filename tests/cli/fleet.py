#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""fleet.py check RULES DASHBOARD PAGE...: the rules of Prometheus and the dashboard of Grafana use metrics and labels that
are in one of these pages of the exporter, or that the rules record; each panel says what it shows.
fleet.py queries DASHBOARD: the dashboard's expressions, one in a line, encoded for an address."""
import json
import re
import sys
import urllib.parse

ADDED = {"instance", "job"}  # by Prometheus, to all that it gets
bad = 0


def wrong(words):
    global bad
    print("fleet.py:", words)
    bad = 1


def read_pages(paths):
    """The names on the pages, and the labels of each."""
    exported = {}
    for path in paths:
        for line in open(path, encoding="utf-8"):
            match = re.match(r"([a-z_]+)(?:\{(.*)\})? \S+$", line)
            if match:
                labels = re.findall(r'([a-z_]+)="(?:[^"\\]|\\.)*"', match[2] or "")
                exported.setdefault(match[1], set()).update(labels)
    return exported


def check(where, text, exported, recorded):
    """Gives how many names of metrics there are in a text."""
    names = re.findall(r"(?<![\w:])quartz_\w+(?!\w*:)", text)
    labels = set(ADDED)
    for name in names:
        if name not in exported:
            wrong(f"{where}: {name} is not exported")
        labels |= exported.get(name, set())
    for name in re.findall(r"\w+:quartz_\w+:\w+", text):
        if name not in recorded:
            wrong(f"{where}: {name} is not recorded")
        labels |= recorded.get(name, set())
    used = []
    for name, inside in re.findall(r"(quartz_\w+)\{([^}]*)\}", text):
        for label in re.findall(r"(\w+)\s*[=!]~?", re.sub(r'"[^"]*"', '""', inside)):
            if label not in exported.get(name, set()) | ADDED:
                wrong(f"{where}: {name} has no label {label}")
    for inside in re.findall(r"\b(?:by|without|on|ignoring|group_left|group_right) \(([^)]*)\)", text):
        used += re.findall(r"\w+", inside)
    used += re.findall(r"\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}", text)
    for label in used:
        if label not in labels:
            wrong(f"{where}: no metric of it has the label {label}")
    return len(names)


def check_rules(path, exported):
    """Gives the names that are recorded, and their labels."""
    text = "".join(line for line in open(path, encoding="utf-8") if not line.lstrip().startswith("#"))
    rules = re.split(r"^ +- (?=record:|alert:)", text, flags=re.M)[1:]
    recorded, used = {}, 0
    for rule in rules:
        name = rule.split(":", 1)[1].splitlines()[0].strip()
        used += check(name, rule.split("\n", 1)[1], exported, recorded)
        if rule.startswith("record:"):
            of = re.findall(r"(?<![\w:])quartz_\w+", rule.split("\n", 1)[1])
            recorded[name] = set().union(*(exported.get(n, set()) for n in of))
    if not recorded or len(recorded) == len(rules) or not used:
        wrong(f"{path}: no rules are found in it")
    return recorded


def targets(dashboard):
    return [(panel, target) for panel in dashboard["panels"] for target in panel["targets"]]


def main():
    if sys.argv[1] == "queries":
        for _, target in targets(json.load(open(sys.argv[2], encoding="utf-8"))):
            expr = target["expr"].replace("$__rate_interval", "1m").replace("$instance", ".*")
            print(urllib.parse.quote(expr, safe=""))
        return
    exported = read_pages(sys.argv[4:])
    check_rules(sys.argv[2], exported)
    dashboard = json.load(open(sys.argv[3], encoding="utf-8"))
    for panel, target in targets(dashboard):
        if not panel["title"] or not panel["description"]:
            wrong(f"panel {panel['id']} does not say what it shows")
        if panel["datasource"]["uid"] != "${datasource}" or target["datasource"] != panel["datasource"]:
            wrong(f"{panel['title']}: another data source than the variable")
        if not check(panel["title"], target["expr"] + target["legendFormat"], exported, {}):
            wrong(f"{panel['title']}: no metric")
    for variable in dashboard["templating"]["list"]:
        check(variable["name"], json.dumps(variable["query"]), exported, {})


main()
sys.exit(bad)
