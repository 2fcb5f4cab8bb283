# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the Go runtime and the scheduler do to processes whose requests are recorded, against what the
programs of tests/workload count of themselves.
"""
import os
import sys
import time

from exact import Measured, check_exact
from live import Broken, Hbprof, Workload, done, end, test, wait_text_original


def rows(report, side):
    return [r for r in report["requests"] if r["side"] == side]


def told(lines, word):
    """A line of the program's own counts."""
    for line in lines:
        if line.startswith(f"{word} "):
            return {k: int(v) for k, v in (x.split("=") for x in line.split()[1:])}
    raise Broken(f"no {word}:\n" + "\n".join(lines))


def check_pauses(m, wrong):
    """As many as the runtime has counted, and none shorter than it says it took until goroutines stood still.
    Its own total goes on, after every other stop, while it wakes threads, which takes their time; how much
    that is, and what is longer here, is the scheduler's affair: the bound there is a wide one."""
    truth, stop = told(m.lines, "STOPS"), "runtime.stopTheWorldWithSema"
    (p,) = m.report["request_processes"]
    got, row = p["pauses"], [r for r in m.report["rows"] if r["function"] == stop]
    n = truth["count"]
    if not n or (got["count"], [r["calls"] for r in row]) != (n, [truth["stopping"]]):
        wrong.append(f"{got['count']} pauses, stops {row}, the program says {truth}")
        return
    stops_ns, slack_ns = row[0]["latency"]["sum_ns"], 5000 * n  # what probes cost is a mean
    for what, ns in ("pauses", got["sum_ns"]), ("stops", stops_ns):
        if not truth["stopping_lo_ns"] - slack_ns <= ns <= 3 * truth["hi_ns"] + 20 * slack_ns:
            wrong.append(f"{what} take {ns} ns, the program says {truth}")
    if stops_ns > got["sum_ns"] + slack_ns:
        wrong.append(f"the stops take {stops_ns} ns, the pauses {got['sum_ns']}")
    if any(p[k] for k in ("pauses_without_begin", "pauses_without_end", "pauses_without_row")):
        wrong.append(f"pauses without a time: {p}")


def pauses():
    m = Measured("gojson_plain -mode marshal -gc -n 100000", "--requests", "--no-children")
    wrong = check_exact(m.report, m.lines)
    check_pauses(m, wrong)
    return m.judge(wrong)


def requests_that_met_a_stop():
    """Each fifth handler collects garbage, and nothing else stops the world: with one connection these are
    the requests that meet a stop."""
    m = Measured("goserver -mode json -g 1 -n 500 -collect 5", "--requests", "--no-children")
    wrong = check_exact(m.report, m.lines)
    check_pauses(m, wrong)
    for side in ("server", "handler"):
        got = [r["stopped"] for r in rows(m.report, side)]
        if got != [100]:
            wrong.append(f"{side}: {got} requests met a stop of the world, not 100")
    return m.judge(wrong)


def no_stops_to_be_seen():
    """A server in C: not 0, but not known."""
    m = Measured("epoll_server -mode rw -g 2 -n 200 -ns 1000", "--requests", "--no-children")
    (p,), (r,) = m.report["request_processes"], rows(m.report, "server")
    wrong = []
    if p["pauses"] is not None or r["stopped"] is not None or r["stopped_pct"] is not None:
        wrong.append(f"{p} {r}")
    return m.judge(wrong)


def switches(mode):
    """The kernel's own count of the process, which it reads from READY to DONE; hbprof begins a little earlier
    and ends a little later, while the process waits."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ways.py")
    with Workload(f"ways.py {mode}", [sys.executable, script, mode]) as w, \
         Hbprof(w.pid, "--requests", "--no-children") as h:
        h.wait_measuring()
        w.run()
        report = h.report()
        w.finish()
    truth, (p,), wrong = told(w.lines.seen, "SWITCHES"), report["request_processes"], []
    for kind, n in truth.items():
        got = p[f"{kind}_switches"]
        if got is None or not n <= got <= n + 50:
            wrong.append(f"{kind}: {got}, the program says {n}")
        elif abs(p[f"{kind}_per_request"] - got / 200) > 0.001:
            wrong.append(f"{kind}: {p[f'{kind}_per_request']} for each of 200 requests: {got}")
    if p["requests"] != 200 or truth["voluntary"] < 5:
        wrong.append(f"{p} {truth}")
    return wrong


def switches_after_the_end():
    """Until its parent has looked, its numbers are there."""
    wrong = []
    with Workload("goserver -mode json -g 1 -n 50") as w, \
         Hbprof(w.pid, "--requests", "--no-children") as h:
        h.wait_measuring()
        w.run()
        w.newline()  # it ends, and is not waited for
        (p,) = h.report(sig=0)["request_processes"]
        if not p["voluntary_switches"]:
            wrong.append(f"not read: {p}")
    return wrong


def counted_in_windows(parks, wrong):
    """Nothing is lost beside what overlaps the windows. The rates of the process, as measured."""
    m = Measured(f"goserver -mode json -g 4 -n 8000 -rate 2000 -park {parks}", "--requests",
                 "--sched-rates", "--no-children")
    n, drops = m.report["request_coverage"], m.report["coverage"]["drops"]
    (p,), (r,) = m.report["request_processes"], rows(m.report, "server")
    for f in m.report["functions"]:
        calls = sum(x["calls"] for x in m.report["rows"] if x["function"] == f["function"])
        if calls + f["dropped"] + f["nested"] != f["entries"]:
            wrong.append(f"{f['function']}: {calls} calls, {f}")
    dropped = m.report["coverage"]["dropped"]
    if not drops["window"] or dropped != drops["window"]:
        wrong.append(f"{dropped} calls dropped: {drops}")
    if r["count"] + n["in_window"] != 8000 or not n["in_window"]:
        wrong.append(f"{r['count']} requests, {n['in_window']} in windows, not 8000")
    if r["codec_share_pct"] is None:
        wrong.append("no share: what overlaps windows is in neither part of it")
    wrong += m.harm()
    rates = p["rates"]
    if not rates or not rates["requests"] or not 0 < rates["window_pct"] < 50 or \
            rates["mcall"] + 20 < rates["gopark"]:
        raise Broken(f"rates: {rates}")
    return rates


def rates():
    """Each exchange of a handler with another goroutine parks two; and each park is an mcall. What else a
    request does parks as well, so two runs are compared."""
    wrong = []
    none, some = (counted_in_windows(parks, wrong) for parks in (0, 20))
    more = some["gopark_per_request"] - none["gopark_per_request"]
    # What is under way at both ends of the window, and other waits of the server.
    slack = 8 + 2 * 4 * some["gopark_per_request"] / some["requests"]
    if not 40 - slack <= more <= 40 + slack:
        wrong.append(f"{more} gopark more for each request, not 40: {none} {some}")
    return wrong


def killed_in_a_window():
    """The first window is a second after the start."""
    wrong = []
    with Workload("gojson_plain -mode marshal -n 1000000000 -rate 500") as w, \
         Hbprof(w.pid, "--requests", "--sched-rates", "--no-children") as h:
        h.wait_measuring()
        w.go()
        time.sleep(1.05)
        end(h.p)
        wrong += wait_text_original(w.pid, 20)
        if not w.alive():
            wrong.append("the program has ended")
    return wrong


test("pauses of the Go runtime are as many as it counts itself, and hold its stopping", pauses)
test("requests that met one are exactly those of which it is known", requests_that_met_a_stop)
test("a server in C has no such pauses, which is not 0", no_stops_to_be_seen)
for mode in ("threads", "expect"):
    test(f"context switches are those that the kernel counts, in mode {mode}", switches, mode)
test("they are read of a process that has just ended", switches_after_the_end)
test("gopark and mcall are counted in windows, and what overlaps these is in no latency", rates)
test("a SIGKILL in such a window leaves the program its own code", killed_in_a_window)
done()
