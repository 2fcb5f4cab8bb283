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


test("how long connections waited to be accepted is known", queue)
done()
