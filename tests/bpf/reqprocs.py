# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Requests of servers of several processes, and what happens to a connection before it is served: against
what procways.py and its processes print of themselves.
"""
import os
import re
import sys

from live import Broken, Hbprof, Workload, done, test
from reqcheck import balance, rows, said

HERE = os.path.dirname(os.path.abspath(__file__))


class Run:
    """procways.py from READY to DONE: what it says, and the report."""

    def __init__(self, mode, *options):
        argv = [sys.executable, os.path.join(HERE, "procways.py"), mode]
        with Workload(f"procways.py {mode}", argv) as w, Hbprof(w.pid, "--requests", *options) as h:
            h.wait_measuring()
            w.run()
            self.report = h.report()
            w.finish()
            self.pid, self.lines = w.pid, w.lines.seen
        self.coverage = self.report["request_coverage"]
        self.wrong = []
        balance(self.report, self.wrong)

    def said(self, what):
        for line in self.lines:
            m = re.match(rf"^{what} (.*)", line)
            if m:
                return {k: int(v) for k, v in (x.split("=") for x in m[1].split())}
        raise Broken(f"no {what}:\n" + "\n".join(self.lines))


def queue():
    """The kernel has a connection before connect() returns, and accept() returned before the clock was
    read: so the truth is not the whole of either end, by what a busy machine does there."""
    r = Run("queue", "--no-children")
    truth, got = r.said("QUEUED"), rows(r.report, "server")
    if [x["count"] for x in got] != [said(r.lines, "connection")["count"]]:
        return r.wrong + [f"requests: {got}"]
    got = got[0]
    if got["queued"] != truth["connections"]:
        r.wrong.append(f"of {got['queued']} connections the wait is known, not {truth['connections']}")
    for key, want in (("queued_sum_ns", truth["sum_ns"]), ("queued_max_ns", truth["max_ns"])):
        if not 0.7 * want <= got[key] <= 1.3 * want:
            r.wrong.append(f"{key}: {got[key]}, the program itself says {want}")
    return r.wrong


def served(mode):
    """Each request is in the row of the process that served it, or, before that was measured, in that of
    the children of the one that forked it: never in the parent's own."""
    r = Run(mode)
    truth = {}
    for line in r.lines:
        m = re.match(r"^SERVED pid=(\d+) count=(\d+) connections=(\d+)", line)
        if m:
            truth[int(m[1])] = (int(m[2]), int(m[3]))
    got = {}
    children = 0
    for row in rows(r.report, "server"):
        if row["children"]:
            children += row["count"]
            if row["pid"] != r.pid or row["codec_share_pct"] is not None:
                r.wrong.append(f"a row of children: {row}")
        elif row["count"]:
            got[row["pid"]] = row["count"]
    total = sum(count for count, _ in truth.values())
    if sum(got.values()) + children != total:
        r.wrong.append(f"{got} and {children} by children, of {total}")
    for pid, count in got.items():
        if pid not in truth or count > truth[pid][0]:
            r.wrong.append(f"process {pid} has {count} requests: {truth}")
    if mode in ("prefork", "reuseport", "passed") and not got:
        r.wrong.append(f"no process has its own requests: {truth}, {children} by children")
    made = sum(connections for _, connections in truth.values())
    want = r.said("UNANSWERED")["count"] if mode == "killed" else 0
    unanswered = sum(row["unanswered"] for row in rows(r.report, "server"))
    if unanswered != want:
        r.wrong.append(f"unanswered: {unanswered}, not {want}")
    for key, want in (("accepted", made), ("pushes", 0), ("found_open", 0)):
        if r.coverage[key] != want:
            r.wrong.append(f"{key}: {r.coverage[key]}, not {want}")
    return r.wrong + (r.lines if r.wrong else [])


def full():
    """What there is no room for is counted by its system calls: an accept, and two for each request."""
    wrong = []
    with Workload("goserver -mode json -g 40 -n 800 -ns 1000") as w, \
         Hbprof(w.pid, "--requests", "--no-children", "--max-conns=10") as h:
        h.wait_measuring()
        w.run()
        report = h.report()
        w.finish()
        truth = said(w.lines.seen, "connection")
    n = report["request_coverage"]
    count = sum(x["count"] for x in rows(report, "server"))
    # One that has come to a room later is one that was found open.
    lost = truth["count"] - count - n["apart"] - n["found_open"]
    if not 0 < count < truth["count"] or not 0 < 2 * lost <= n["conns_full"]:
        wrong.append(f"{count} requests of {truth}: {n}")
    if n["accepted"] + n["found_open"] > truth["connections"]:
        wrong.append(f"more connections than there were: {n}")
    return wrong


test("connections for which there is no room are a counted loss", full)
test("how long connections waited to be accepted is known", queue)
for way, sentence in (("fork", "a child for each connection has its requests"),
                      ("prefork", "children that accept have theirs"),
                      ("reuseport", "and those that listen on the same port"),
                      ("killed", "one that is killed leaves what it answered, and the next one has its own"),
                      ("passed", "and those that are passed connections that another has accepted")):
    test(sentence, served, way)
done()
