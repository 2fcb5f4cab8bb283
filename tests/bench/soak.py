# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A server under load for a long time, with everything on that hbprof can measure in it: does hbprof
grow, does what it counts drift from the truth? Prints a line each minute, and the counts at the end.

    HBPROF=build/hbprof HB_WORK=build/workload python3 tests/bench/soak.py

HB_SOAK_S: how long, s (3600); HB_SOAK_RATE: requests a second (400).

The server listens, and goload asks it an exact number of times; hbprof is attached before the first
connection and stopped after the last one is closed.
"""
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bpf"))
from live import WORK, Broken, Hbprof, Workload, cpu_ticks, end, start  # noqa: E402

SECONDS = int(os.environ.get("HB_SOAK_S", "3600"))
RATE = int(os.environ.get("HB_SOAK_RATE", "400"))
CONNECTIONS = 16
# --requests, and what there is of these.
OPTIONS = os.environ.get("HB_SOAK_OPTIONS", "--requests").split()


def rss_kib(pid):
    with open(f"/proc/{pid}/status") as f:
        return int(re.search(r"VmRSS:\s+(\d+)", f.read())[1])


def nr_fds(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def watch(load, server, hbprof, began):
    """A line each minute until the load has ended."""
    print("| min | hbprof RSS KiB | its files | its CPU s | server RSS KiB |")
    print("| --- | --- | --- | --- | --- |", flush=True)
    while True:
        print(f"| {(time.monotonic() - began) / 60:.0f} | {rss_kib(hbprof):,} | {nr_fds(hbprof)} | "
              f"{cpu_ticks(hbprof) / os.sysconf('SC_CLK_TCK'):.1f} | {rss_kib(server):,} |", flush=True)
        try:
            return load.wait(60)
        except subprocess.TimeoutExpired:
            continue


def compare(lines, report, n):
    """Rows of (what, truth, hbprof)."""
    truths = (re.match(r"TRUTH .* (\S+) calls=\d+ entries=(\d+)", x) for x in lines)
    said = {m[1]: int(m[2]) for m in truths if m}
    row = next(r for r in report["requests"] if r["side"] == "server")
    served = next(m for m in (re.match(r"REQUESTS rule=connection count=(\d+) .*bytes_in=(\d+) "
                                       r"bytes_out=(\d+)", x) for x in lines) if m)
    yield "requests asked for", n, row["count"]
    yield "requests served", int(served[1]), row["count"]
    yield "bytes in", int(served[2]), row["bytes_in"]
    yield "bytes out", int(served[3]), row["bytes_out"]
    for f in report["functions"]:
        if f["function"] in said:
            yield f["function"], said[f["function"]], f["entries"]


def main():
    n = SECONDS * RATE
    with Workload(f"goserver -mode json -g 0 -n {n} -ns 200000") as w:
        addr = next(m[1] for m in (re.match(r"LISTEN (\S+)$", x) for x in w.lines.seen) if m)
        with Hbprof(w.pid, *OPTIONS) as h:
            h.wait_measuring()
            w.go()
            load = start([f"{WORK}/goload", "-addr", addr, "-n", str(n), "-g", str(CONNECTIONS), "-rate",
                          str(RATE)], stdout=subprocess.DEVNULL)
            began = time.monotonic()
            try:
                status = watch(load, w.pid, h.p.pid, began)
            finally:
                end(load)
            if status:
                raise Broken(f"goload: exit status {status}")
            w.newline()
            w.lines.until("^DONE$")
            report = h.report()
        w.finish()
        lines = w.lines.seen
    print("\n| | the program | hbprof |\n| --- | --- | --- |")
    for what, truth, got in compare(lines, report, n):
        print(f"| {what} | {truth:,} | {got:,} |{'' if truth == got else ' DIFFERENT'}")
    c, r = report["coverage"], report["request_coverage"]
    print(f"\nLost: {c['lost']} calls, balanced: {c['balanced']}; requests: {r}")


main()
