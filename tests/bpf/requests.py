# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Requests of the servers of tests/workload, against what these print of themselves: how many there
were, their bytes, and whose the codec calls are. Latencies and shares are compared with generous bounds
only: tests/bench/requests.py prints how far off they are.
"""
import os
import re
import subprocess
import time

from exact import Measured, check_exact
from live import WORK, Broken, Hbprof, Workload, done, ok, skip, test
from reqcheck import balance, rows, said

HERE = os.path.dirname(os.path.abspath(__file__))
ANSWERS = "--probe=sockets_answer=encode"
GRPC = "google.golang.org/grpc.(*Server).handleStream"


def stat(lines, kind, name, key):
    for line in lines:
        m = re.match(rf"^{kind} {name} .*\b{key}=([0-9.]+)", line)
        if m:
            return float(m[1])
    raise Broken(f"no {kind} {name} {key}")


def near(what, got, want, factor, wrong):
    if got is None or not want / factor <= got <= want * factor:
        wrong.append(f"{what}: {got}, the program itself says {want}")


def handlers(m, wrong, called="net/http.serverHandler.ServeHTTP"):
    """A handler's calls, where the server is one of Go's."""
    for line in m.lines:
        if line.startswith("REQUESTS rule=handler"):
            got = [r for r in rows(m.report, "handler") if r["function"] == called]
            want = said(m.lines, "handler")["count"]
            if [r["count"] for r in got] != [want]:
                wrong.append(f"calls of {called}: {got}, not {want}")


def served(name, *options, untied=0, timing=True):
    m = Measured(name, "--requests", "--no-children", *options)
    wrong = check_exact(m.report, m.lines)
    truth = said(m.lines, "connection")
    got = rows(m.report, "server")
    balance(m.report, wrong)
    if len(got) != 1:
        return m.judge(wrong + [f"{len(got)} rows of a server's port"])
    got = got[0]
    for key, want in (("count", truth["count"]), ("bytes_in", truth["bytes_in"]),
                      ("bytes_out", truth["bytes_out"]), ("unanswered", truth["unanswered"])):
        if got[key] != want:
            wrong.append(f"{key}: {got[key]}, not {want}")
    n = m.report["request_coverage"]
    if n["accepted"] != truth["connections"]:
        wrong.append(f"{n['accepted']} connections were accepted, not {truth['connections']}")
    calls = sum(n[k] for k in ("tied_calls", "apart_calls", "late_calls", "untied_calls"))
    if calls != 2 * truth["count"]:
        wrong.append(f"{calls} codec calls, not two for each request")
    if n["tied_calls"] != calls - untied:
        wrong.append(f"{n['tied_calls']} of {calls} codec calls are tied")
    handlers(m, wrong)
    if timing:
        # The program's own clock runs on in the probes, which cost a request of 40 us as much again.
        probes = m.report["cost"]["probe_ns"] / max(1, truth["count"])
        own = stat(m.lines, "LATENCY", "request", "p50")
        near("P50", got["latency"]["p50_ns"], max(own - probes, own / 4), 2, wrong)
        share = got["codec_share_pct"]
        if share is None or not 0 < share < 100:
            wrong.append(f"codec share {share} %")
    return m.judge(wrong)


def found_open():
    """Attached in the middle: what was open is apart until its first clean boundary."""
    wrong = []
    with Workload("goserver -mode json -g 4 -n 4000 -ns 20000 -rate 1000") as w:
        w.go()
        time.sleep(0.5)
        with Hbprof(w.pid, "--requests", "--no-children") as h:
            h.wait_measuring()
            w.lines.until("^DONE")
            report = h.report()
        truth = said(w.lines.seen, "connection")
        w.finish()
    n = report["request_coverage"]
    balance(report, wrong)
    seen = sum(r["count"] for r in rows(report, "server"))
    if n["found_open"] + n["accepted"] != truth["connections"]:
        wrong.append(f"connections: {n}, the program says {truth['connections']}")
    if not 0 < seen + n["apart"] <= truth["count"]:
        wrong.append(f"{seen} requests and {n['apart']} apart, of {truth['count']}")
    if n["apart"] > n["found_open"]:
        wrong.append(f"{n['apart']} requests are apart, of {n['found_open']} connections")
    return wrong


def nothing_seen(name, counter):
    m = Measured(name, "--requests", "--no-children")
    wrong = check_exact(m.report, m.lines)
    balance(m.report, wrong)
    if rows(m.report, "server") + rows(m.report, "client"):
        wrong.append(f"requests on connections: {m.report['requests']}")
    if counter and not m.report["request_coverage"][counter]:
        wrong.append(f"{counter} is 0")
    return m.judge(wrong)


def over_tls():
    m = Measured("goserver -mode tls -n 500 -g 8", "--requests", "--no-children")
    wrong = check_exact(m.report, m.lines)
    balance(m.report, wrong)
    want, n = said(m.lines, "handler")["count"], m.report["request_coverage"]
    got = sum(r["count"] for r in rows(m.report, "server"))
    if got != want:
        wrong.append(f"{got} requests, not {want}")
    if n["handshakes"] < n["accepted"]:
        wrong.append(f"{n['handshakes']} exchanges of handshakes on {n['accepted']} connections")
    return m.judge(wrong)


def stops_of_the_world():
    """As many as there are starts, and two in each cycle of the garbage collector."""
    begin, cycle = "runtime.startTheWorldWithSema", "runtime.gcMarkTermination"
    m = Measured("gojson_plain -mode marshal -gc -n 20000", f"--probe={begin}", f"--probe={cycle}",
                 "--requests", "--no-children")
    wrong = check_exact(m.report, m.lines)
    f = {x["function"]: x["entries"] for x in m.report["functions"]}
    stops, starts, cycles = (f.get(x) for x in ("runtime.stopTheWorldWithSema", begin, cycle))
    # A cycle may be under way at either end.
    if not stops or not cycles or abs(stops - starts) > 1 or stops < 2 * cycles - 2:
        wrong.append(f"{stops} stops, {starts} starts, {cycles} cycles")
    if not [r for r in m.report["rows"] if r["function"] == "runtime.stopTheWorldWithSema"]:
        wrong.append("stops have no row")
    return m.judge(wrong)


def without_the_option():
    m = Measured("goserver -mode json -g 2 -n 100 -ns 1000")
    return m.judge([] if m.report["requests"] is None else ["there are requests"])


def descriptors(name):
    """Server and client are one process: both sides have all requests, and all answers are tied."""
    m = Measured(name, ANSWERS, "--requests", "--no-children", probe=False)
    wrong = check_exact(m.report, m.lines)
    balance(m.report, wrong)
    truth, n = said(m.lines, "connection"), m.report["request_coverage"]
    for side in ("server", "client"):
        got = rows(m.report, side)
        if [(r["count"], r["bytes_in"], r["bytes_out"]) for r in got] != [
                (truth["count"], truth["bytes_in" if side == "server" else "bytes_out"],
                 truth["bytes_out" if side == "server" else "bytes_in"])]:
            wrong.append(f"{side}: {got}, not {truth}")
    for key, want in (("accepted", truth["connections"]), ("connected", truth["connections"]),
                      ("closed", 2 * truth["connections"]), ("tied_calls", truth["count"]),
                      ("found_open", 0), ("late_calls", 0), ("untied_calls", 0)):
        if n[key] != want:
            wrong.append(f"{key}: {n[key]}, not {want}")
    return m.judge(wrong)


def io_uring():
    m = Measured("sockets -mode uring -n 100", ANSWERS, "--requests", "--no-children", probe=False)
    wrong = check_exact(m.report, m.lines)
    balance(m.report, wrong)
    none = any(line.startswith("URING n/a") for line in m.lines)
    warned = [w for w in m.report["warnings"] if "io_uring" in w]
    if len(warned) != (0 if none else 1):
        wrong.append(f"warnings of io_uring: {warned}; the ring is {'not ' if none else ''}there")
    return m.judge(wrong)


def in_framework(name, untied):
    """untied: what the framework itself decodes and encodes before it serves."""
    m = Measured(name, "--requests", "--no-children", functions=False)
    wrong = []
    balance(m.report, wrong)
    truth, n = said(m.lines, "connection"), m.report["request_coverage"]
    got = [(r["count"], r["bytes_in"], r["bytes_out"]) for r in rows(m.report, "server")]
    if got != [(truth["count"], truth["bytes_in"], truth["bytes_out"])]:
        wrong.append(f"requests: {got}, not {truth}")
    if n["untied_calls"] > untied or n["late_calls"]:
        wrong.append(f"calls are not tied: {n}")
    handlers(m, wrong)
    return m.judge(wrong)


def over_http2(name):
    """Requests overlap on a connection: none by its rule, one for each call of the handler."""
    m = Measured(name, "--requests", "--no-children", functions=False)
    wrong = []
    balance(m.report, wrong)
    want, n = said(m.lines, "handler")["count"], m.report["request_coverage"]
    got = [r for r in rows(m.report, "handler") if r["function"] == GRPC]
    if [r["count"] for r in got] != [want]:
        wrong.append(f"calls of {GRPC}: {got}, not {want}")
    elif got[0]["codec_calls"] < 2 * want:
        wrong.append(f"{got[0]['codec_calls']} codec calls in {want} requests")
    if any(r["count"] for r in rows(m.report, "server")):
        wrong.append(f"requests by the rule of connections: {rows(m.report, 'server')}")
    if n["multiplexed"] != n["accepted"]:
        wrong.append(f"{n['multiplexed']} of {n['accepted']} connections are HTTP/2")
    return m.judge(wrong)


def frameworks():
    p = subprocess.run([f"{HERE}/../workload/codecs.sh", os.path.join(WORK, "codecs"), "servers"],
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       timeout=900)
    failed = p.stdout.decode() if p.returncode else ""
    if failed and os.environ.get("HB_CI") == "1":
        ok(False, "the servers in frameworks build", failed)
    for sentence, body, *args in (
            ("requests of gin are counted exactly and tied", in_framework,
             "codecs/goservers -mode gin -n 800 -g 8 -ns 2000", 8),
            ("requests of gRPC are calls of its handler", over_http2,
             "codecs/goservers -mode grpc -n 800 -g 8 -ns 2000")):
        if failed:
            skip(sentence, failed.splitlines()[-1])
        else:
            test(sentence, body, *args)


for mode in ("rw", "recv", "msg", "vec", "threads", "short"):
    test(f"requests of a server in C are counted exactly and tied, in mode {mode}", served,
         f"epoll_server -mode {mode} -n 1000 -g 8 -ns 20000")
test("requests of a server in Go are counted exactly and tied", served,
     "goserver -mode json -n 2000 -g 8 -ns 20000")
test("so are those of one that decodes from and encodes to its connections", served,
     "goserver -mode stream -n 1000 -g 8 -ns 20000", timing=False)
test("and those of connections for one request each", served,
     "goserver -mode json -short -n 1000 -g 8 -ns 20000")
test("codec calls in a goroutine that has not read are said to be untied", served,
     "goserver -mode handoff -n 500 -g 4 -ns 20000", untied=1000, timing=False)
test("many connections that stay open are all followed", served,
     "goserver -mode json -n 4000 -g 2000 -ns 1000", timing=False)
test("so are many for one request each", served,
     "goserver -mode json -short -n 5000 -g 16 -ns 1000", timing=False)
test("a connection is the same by each of its descriptors, and when one is closed", descriptors,
     "sockets -mode dup -n 300")
test("a descriptor that is used again is another connection", descriptors, "sockets -mode reuse -n 200")
test("a process with a ring of io_uring is warned of", io_uring)
frameworks()
test("a TLS handshake is no request", over_tls)
test("connections that are open when recording begins are apart at first", found_open)
test("unix sockets are counted and not taken for connections", nothing_seen,
     "goserver -mode json -unix -n 500 -g 4 -ns 2000", "unix")
test("a program without sockets has no requests", nothing_seen, "gojson -mode marshal -n 500", None)
test("the world's stops by the Go runtime are counted", stops_of_the_world)
test("without the option requests are not looked at", without_the_option)
done()
