# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""--follow-go: codec calls of goroutines that a request has started belong to it. Handlers of goserver hand
their work on in ways whose number of goroutines is known, and so does a server by each release of Go.
"""
import os
import platform
import re

from exact import Measured, check_exact
from followed import goroutines, started, tied
from goversions import VERSIONS, build
from live import WORK, done, ok, skip, test
from reqcheck import balance, rows, said

# net/http starts this one itself, for each request.
READ_AHEAD = "net/http.(*connReader).backgroundRead"


def entries(report, function):
    return sum(f["entries"] for f in report["functions"] if f["function"] == function)


def in_rows(m, calls, elsewhere, parallel, wrong):
    """By request: codec calls, those of other goroutines than the handler's, and requests with several at once."""
    server, handler = rows(m.report, "server"), rows(m.report, "handler")
    count = said(m.lines, "connection")["count"]
    got = [(r["count"], r["codec_calls"], r["parallel"]) for r in server]
    if got != [(count, calls * count, parallel * count)]:
        wrong.append(f"of {count} requests: {got}")
    got = [(r["count"], r["codec_calls"], r["followed_calls"]) for r in handler]
    if got != [(count, calls * count, elsewhere * count)]:
        wrong.append(f"of {count} calls of the handler: {got}")
    if parallel and not server[0]["codec_share_min_pct"] < server[0]["codec_share_pct"]:
        wrong.append(f"calls at the same time: {server}")


def handled(mode, untied, **by_request):
    m = Measured(f"goserver -mode {mode} -n 500 -g 4 -ns 5000", "--requests", "--follow-go",
                 "--no-children", f"--probe={READ_AHEAD}")
    wrong = check_exact(m.report, m.lines)
    balance(m.report, wrong)
    if m.report["request_coverage"]["follow_go"] != "on":
        wrong.append(f"follow_go: {m.report['request_coverage']['follow_go']}")
    tied(m.report, m.lines, untied, wrong)
    in_rows(m, wrong=wrong, **by_request)
    goroutines(m.report, started(m.lines) + entries(m.report, READ_AHEAD), wrong)
    return m.judge(wrong)


def by_perf_events(*args, **by_request):
    os.environ["HBPROF_ATTACH"] = "perf"
    try:
        return handled(*args, **by_request)
    finally:
        del os.environ["HBPROF_ATTACH"]


def without_it():
    m = Measured("goserver -mode relay -n 200 -g 4 -ns 1000", "--requests", "--no-children")
    wrong = check_exact(m.report, m.lines)
    n = m.report["request_coverage"]
    tied(m.report, m.lines, 400, wrong)
    if n["goroutines_started"] or n["follow_go"] is not None:
        wrong.append(f"goroutines are followed: {n}")
    return m.judge(wrong)


def no_go():
    """Nothing to follow is said, and nothing else is different."""
    m = Measured("epoll_server -mode rw -n 200 -g 4 -ns 1000", "--requests", "--follow-go", "--no-children")
    wrong = check_exact(m.report, m.lines)
    balance(m.report, wrong)
    n = m.report["request_coverage"]
    if not (n["follow_go"] or "").startswith("n/a (") or n["goroutines_started"]:
        wrong.append(f"goroutines of a program in C: {n}")
    return m.judge(wrong)


def proxied(*options):
    """Each call is of the side that made it: three of the proxy's request, two of the upstream server's."""
    m = Measured("goserver -mode proxy -n 400 -g 4 -ns 2000", "--requests", "--no-children", *options)
    wrong = check_exact(m.report, m.lines)
    balance(m.report, wrong)
    tied(m.report, m.lines, 0, wrong)
    at = [re.match(r"^LISTEN (upstream )?\S+:(\d+)$", line) for line in m.lines]
    port = {"upstream" if x[1] else "front": int(x[2]) for x in at if x}
    got = {(r["side"], r["port"]): (r["count"], r["codec_calls"]) for r in m.report["requests"]
           if r["side"] != "handler"}
    want = {("server", port["front"]): (400, 1200), ("server", port["upstream"]): (400, 800),
            ("client", port["upstream"]): (400, 0)}
    if got != want:
        wrong.append(f"requests and their codec calls: {got}, not {want}")
    return m.judge(wrong)


def with_c():
    """A codec in C, and one in Go that C calls back, of goroutines on any thread and on one of their own."""
    m = Measured("gocgo -mode serve -n 200 -g 4", "--requests", "--no-children")
    wrong = check_exact(m.report, m.lines)
    balance(m.report, wrong)
    count, n = said(m.lines, "connection")["count"], m.report["request_coverage"]
    got = [(r["count"], r["codec_calls"]) for r in rows(m.report, "server")]
    if got != [(count, 2 * count)]:
        wrong.append(f"requests and their codec calls: {got}, not {count} with 2 each")
    if n["untied_calls"] or n["late_calls"]:
        wrong.append(f"calls are not tied: {n}")
    return m.judge(wrong)


def by_release(version, stripped):
    name = f"codecs/goversions_{version}" + ("_stripped" if stripped else "")
    m = Measured(f"{name} -serve -n 250 -g 4 -procs 4", "--requests", "--follow-go", "--no-children")
    wrong = check_exact(m.report, m.lines)
    balance(m.report, wrong)
    truth = said(m.lines, "connection")
    if [r["count"] for r in rows(m.report, "server")] != [truth["count"]]:
        wrong.append(f"requests: {rows(m.report, 'server')}, not {truth}")
    tied(m.report, m.lines, 0, wrong)
    goroutines(m.report, started(m.lines), wrong)
    return m.judge(wrong)


def releases():
    failed = build()
    if failed and os.environ.get("HB_CI") == "1":
        ok(False, "the program builds with each release of Go", failed)
    for version in VERSIONS:
        for stripped in (False, True):
            sentence = f"goroutines of a {'stripped ' if stripped else ''}program by Go {version} are followed"
            if os.path.exists(f"{WORK}/codecs/goversions_{version}"):
                test(sentence, by_release, version, stripped)
            else:
                skip(sentence, failed.splitlines()[-1])


test("calls in a goroutine that the handler has started are of the request", handled, "handoff", 0,
     calls=2, elsewhere=2, parallel=0)
test("so are those of one that such a goroutine has started", handled, "relay", 0, calls=2, elsewhere=2,
     parallel=0)
test("and those of several at the same time", handled, "fan", 0, calls=3, elsewhere=2, parallel=1)
test("those of goroutines that were there before are said to be untied", handled, "pool", 1000, calls=0,
     elsewhere=0, parallel=0)
test("goroutines are followed by probes that are perf events, too", by_perf_events, "relay", 0, calls=2,
     elsewhere=2, parallel=0)
test("without the option none of them is followed", without_it)
test("a program in C has no goroutines to follow, which is said", no_go)
test("a proxy's calls are of its own requests, those behind it of the other server's", proxied)
test("so they are where goroutines are followed", proxied, "--follow-go")
if platform.machine() == "x86_64":
    test("C code that goroutines call is of their requests, and so is Go that it calls", with_c)
releases()
done()
