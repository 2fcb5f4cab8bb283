# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Counters of calls against calls that do a known amount of each thing. Amounts that a busy machine can
change are compared one-sided, or with what the kernel says of the same threads.
"""
import json
import os
import subprocess

from exact import Seen, check_exact, probe_options
from live import HBPROF, Hbprof, Workload, done, run, start, end, test, tmp, unprobed

NAP_NS = 2000000
BUSY_NS = 300000


def measured(name, *options):
    """The report, and the lines of the program."""
    with Workload(name) as w, Hbprof(w.pid, *probe_options(unprobed(name)), *options) as h:
        h.wait_measuring()
        w.run()
        return h.report(), w.lines.seen


def row_of(report, function):
    rows = Seen(report, function).rows
    return rows[0] if len(rows) == 1 else {"counters": {}}


def counters(report, function):
    return row_of(report, function)["counters"]


def list_of(report):
    return {c["name"]: c for c in report["counters"]["list"]}


def faults():
    """Each call writes to 16 pages that nobody has touched; another page may come now and then."""
    r, lines = measured("counted -mode touch -n 200")
    wrong = check_exact(r, lines)
    c = counters(r, "counted_touch")["page-faults"]
    if c["calls"] != 200 or c["min"] < 16 or not 3200 <= c["sum"] <= 3210:
        wrong.append(f"16 faults in each of 200 calls: {c}")
    return wrong


def naps():
    r, lines = measured(f"counted -mode nap -n 100 -ns {NAP_NS}", "--sched")
    wrong = check_exact(r, lines)
    row = row_of(r, "counted_nap")
    c = row["counters"]
    for name in ("blocked", "waiting", "on-cpu", "context-switches"):
        if c[name]["calls"] != 100:
            wrong.append(f"{name} is known of {c[name]['calls']} calls of 100")
    if c["context-switches"]["min"] < 1:
        wrong.append(f"a call slept without a context switch: {c['context-switches']}")
    # Less than all of it: the timer begins a little after the call.
    if not 0.99 * NAP_NS <= c["blocked"]["min"] or c["blocked"]["mean"] > row["latency"]["mean_ns"]:
        wrong.append(f"blocked for {NAP_NS} ns and not longer than the call: {c['blocked']}")
    if c["on-cpu"]["mean"] > 0.5 * NAP_NS:
        wrong.append(f"on the CPU while it slept: {c['on-cpu']}")
    parts = sum(c[name]["sum"] for name in ("blocked", "waiting", "on-cpu"))
    whole = row["latency"]["sum_ns"]
    if abs(parts - whole) > 0.02 * whole:
        wrong.append(f"the parts are {parts} ns of {whole}")
    if r["counters"]["without"]["context_switch"] and "cycles" not in c:
        wrong.append("calls without counters of the CPU, and there are none")
    return wrong


def neighbour():
    """A spinning neighbour on the same CPU: half of the time, the call waits."""
    cpu = min(os.sched_getaffinity(0))
    other = start(["taskset", "-c", str(cpu), "sh", "-c", "while :; do :; done"],
                  stdout=subprocess.DEVNULL)
    try:
        name = f"counted -mode busy -n 1000 -ns {BUSY_NS}"
        with Workload(name) as w:
            os.sched_setaffinity(w.pid, {cpu})
            with Hbprof(w.pid, "--probe", "counted_busy", "--sched") as h:
                h.wait_measuring()
                w.run()
                r = h.report()
    finally:
        end(other)
    wrong = []
    row = row_of(r, "counted_busy")
    c = row["counters"]
    if c["on-cpu"]["calls"] != 1000:
        wrong.append(f"1000 calls: {c['on-cpu']}")
    if c["waiting"]["sum"] < 0.25 * row["latency"]["sum_ns"]:
        wrong.append(f"waiting beside a spinning neighbour: {c['waiting']}, {row['latency']}")
    if c["blocked"]["mean"] > 0.05 * BUSY_NS:
        wrong.append(f"blocked, though it never sleeps: {c['blocked']}")
    if not 0.9 * BUSY_NS < c["on-cpu"]["mean"] < 1.6 * BUSY_NS:
        wrong.append(f"on the CPU for {BUSY_NS} ns by its own clock: {c['on-cpu']}")
    return wrong


def named():
    """What is not counted here is null with a reason; what was not asked for is not there."""
    r, _ = measured("counted -mode touch -n 50", "--counters", "cycles,page-faults,r9999")
    wrong = []
    names = list_of(r)
    if list(names) != ["cycles", "page-faults", "r9999"]:
        wrong.append(f"the list: {list(names)}")
    for name, c in names.items():
        value = counters(r, "counted_touch")[name]
        if c["counted"] != (value is not None) or c["counted"] == bool(c["reason"]):
            wrong.append(f"{name}: {c}, {value}")
    if not names["page-faults"]["counted"]:
        wrong.append("page faults are counted everywhere")
    r, _ = measured("counted -mode touch -n 50", "--counters", "none")
    if r["counters"] is not None or row_of(r, "counted_touch")["counters"] is not None:
        wrong.append(f"--counters none: {r['counters']}")
    return wrong


def refused():
    """Names that are none end before anything is measured, with the name and exit status 2."""
    wrong = []
    many = ",".join(f"r{i:x}" for i in range(1, 16))
    for names, word in (("cycles,cycels", "cycels"), ("cycles,cycles", "twice"), ("", "''"),
                        ("r10,r010", "'r10' is named twice, once as 'r010'"), ("r1A,r1a", "twice"),
                        (many, "more than")):
        r = run([HBPROF, "--pid", "1", "--counters", names])
        if r.returncode != 2 or word not in r.stderr:
            wrong.append(f"--counters {names}: {r.returncode}: {r.stderr}")
    return wrong


def compared():
    """Captures have the counters of each interval: twice the pages are twice the faults."""
    files = []
    for pages, n in ((1, 2400), (2, 2400)):
        path = f"{tmp}/pages{pages}.hbp"
        with Workload(f"counted -mode touch -n {n} -rate 200") as w:
            with Hbprof(w.pid, "--probe", "counted_touch", "-o", path) as h:
                h.wait_measuring()
                w.run()
                h.report()
        files.append(path)
    r = run([HBPROF, "compare", "--format", "json", "--metric", "page-faults", *files])
    metric = json.loads(r.stdout)["rows"][0]["metrics"][0]
    side = metric["sides"][1]
    if side["verdict"] != "no difference shown" or not 15.9 < side["value"] < 16.1:
        return [f"the same faults a call: {side}"]
    return []


test("each of 16 new pages in a call is a fault of it", faults)
test("a call that sleeps was blocked, and not on the CPU", naps)
test("a call beside a spinning neighbour on its CPU waited for it", neighbour)
test("counters that were not counted say why, and none is none", named)
test("names that are no counters are refused", refused)
test("page faults of two captures are compared", compared)
done()
