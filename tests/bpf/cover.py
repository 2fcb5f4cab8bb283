# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Probes that are taken off while it measures: of functions that are always inside of others, and of
return sites that a loop passes in vain. Whatever is taken off or put back, what was counted is exact,
and what was not counted is said.
"""
import json
import os
import re

from exact import Measured, Seen, check_balance, differ, exact, parse_truth
from live import HBPROF, Hbprof, Workload, done, run, test

CODECS = "--codecs=" + os.path.join(os.path.dirname(os.path.abspath(__file__)), "layers.json")
TURNS = 1000  # of the hot loop, for each call: tests/workload/c/layers.c
INNER = ("layers_inner", "layers_part")


def layers(mode, n):
    m = Measured(f"layers -mode {mode} -n {n} -rate 1000", CODECS, functions=False)
    return m, parse_truth(m.lines), check_balance(m.report)


def check_whole(m, truth, name):
    """Of a function that was probed all the time."""
    s, t = Seen(m.report, name), truth[name]
    return differ(name, "entries", s.f["entries"], t["entries"]) + \
        differ(name, "calls", s.calls, t["calls"]) + \
        differ(name, "abandoned", s.f["abandoned"], 0) + \
        differ(name, "off_ns", s.f["off_ns"], 0)


def check_left_out(m, truth, name):
    """Counted until then, as nested; and never a call of its own."""
    s, wrong = Seen(m.report, name), []
    if not s.f["off_ns"]:
        wrong.append(f"{name}: its probes were not taken off")
    if not 0 < s.f["entries"] < truth[name]["entries"]:
        wrong.append(f"{name}: {s.f['entries']} entries of {truth[name]['entries']}")
    return wrong + differ(name, "nested", s.f["nested"], s.f["entries"]) + \
        differ(name, "state", s.f["state"], "left out") + \
        differ(name, "calls", s.calls, 0)


def nested():
    m, truth, wrong = layers("nested", 5000)
    wrong += check_whole(m, truth, "layers_outer")
    wrong += differ("layers_outer", "state", Seen(m.report, "layers_outer").f["state"], "hit")
    for name in INNER:
        wrong += check_left_out(m, truth, name)
    return m.judge(wrong + [f"warning: {w}" for w in m.report["warnings"]])


def not_counted(report, name):
    """What a warning says may be missing of a function's calls; None: no warning."""
    for w in report["warnings"]:
        found = re.match(rf"{name} was not probed .* then up to ([\d,]+) were not: ", w)
        if found:
            return int(found[1].replace(",", ""))
    return None


def later():
    """What a guard has seen is counted, and from then on all is."""
    m, truth, wrong = layers("later", 8000)
    wrong += check_whole(m, truth, "layers_outer")
    s, want = Seen(m.report, "layers_inner"), truth["layers_inner"]["calls"]
    missing = not_counted(m.report, "layers_inner")
    if missing is None:
        wrong.append("nothing is said of calls that were not measured")
    elif not (0 < s.calls <= want <= s.calls + missing) or missing > want:
        wrong.append(f"{s.calls} calls and up to {missing} missing, truth {want}")
    return m.judge(wrong)


def pointer():
    """A call through a pointer has no guard: it is found when the function is looked at again."""
    m, truth, wrong = layers("pointer", 26000)
    wrong += check_whole(m, truth, "layers_outer")
    s = Seen(m.report, "layers_inner")
    said = [w for w in m.report["warnings"]
            if w.startswith("layers_inner was not probed") and "it was called on its own" in w]
    if not said:
        wrong.append("nothing is said of calls that may be missing")
    if not 0 < s.calls <= truth["layers_inner"]["calls"]:
        wrong.append(f"{s.calls} calls, truth {truth['layers_inner']['calls']}")
    return m.judge(wrong)


def hot():
    """The loop is passed some hundred million times; the site is hit for a second or two of that."""
    m = Measured("layers -mode hot -n 3000")
    s, t = Seen(m.report, "rare"), parse_truth(m.lines)["rare"]
    hits = m.report["coverage"]["unmatched"]
    wrong = check_balance(m.report)
    wrong += differ("rare", "entries", s.f["entries"], t["entries"])
    wrong += differ("rare", "calls", s.calls, t["calls"])
    wrong += differ("rare", "exits", s.f["exit_mode"], "ret")
    if hits > t["calls"] * TURNS // 20:
        wrong.append(f"{hits} hits in vain of {t['calls'] * TURNS} turns")
    if not [w for w in m.report["warnings"] if w.startswith("rare is called from a hot path")]:
        wrong.append("nothing is said of it")
    return m.judge(wrong)


def listed():
    """The files are looked at, and not the code with its breakpoints."""
    with Workload("layers -mode nested") as w:
        argv = [HBPROF, "list", "--pid", str(w.pid), CODECS, "--format=json"]
        before = run(argv)
        with Hbprof(w.pid, CODECS) as h:
            h.wait_measuring()
            during = run(argv)
            h.report()
    wrong = [] if before.returncode == 0 else [before.stderr]
    a, b = (json.loads(r.stdout)["functions"] for r in (before, during))
    for f in a + b:
        f.pop("cost_ns")  # the recording has just measured it
    return wrong + differ("list", "functions", b, a)


def main():
    test("functions that are always inside of others lose their probes, and nothing else changes",
         nested)
    test("a function that is called on its own later is probed again, and what was missed is counted",
         later)
    test("one that is called through a pointer later is found to be, and that is said", pointer)
    test("--functions probes all of them, always", exact,
         "layers -mode later -n 4000 -rate 1000", CODECS)
    test("list shows a process that is measured as one that is not", listed)
    test("a return site that a hot loop passes is taken off, and all calls are counted", hot)
    done()


if __name__ == "__main__":
    main()
