# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the Go runtime and the scheduler do to processes whose requests are recorded, against what the
programs of tests/workload count of themselves.
"""
from exact import Measured, check_exact
from live import Broken, done, test


def rows(report, side):
    return [r for r in report["requests"] if r["side"] == side]


def told_stops(lines):
    """The program's line STOPS: what its own runtime has counted."""
    for line in lines:
        if line.startswith("STOPS "):
            return {k: int(v) for k, v in (x.split("=") for x in line.split()[1:])}
    raise Broken("no STOPS:\n" + "\n".join(lines))


def check_pauses(m, wrong):
    """As many as the runtime has counted, and none shorter than it says it took until goroutines stood still.
    Its own total goes on, after every other stop, while it wakes threads, which takes their time; how much
    that is, and what is longer here, is the scheduler's affair: the bound there is a wide one."""
    truth, stop = told_stops(m.lines), "runtime.stopTheWorldWithSema"
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


test("pauses of the Go runtime are as many as it counts itself, and hold its stopping", pauses)
test("requests that met one are exactly those of which it is known", requests_that_met_a_stop)
test("a server in C has no such pauses, which is not 0", no_stops_to_be_seen)
done()
