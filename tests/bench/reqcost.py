# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Requests: how near hbprof's latencies and shares are to what servers know of themselves, with and
without it; what its tracepoints cost, beside those of bpftrace with a filter by process; and how much
memory many connections take.
"""
import os
import re
import shutil
import time

from live import WORK, Broken, Hbprof, Lines, Workload, end, run as command, start
from measure import OWN, ROUNDS, Sample, Watched, field, pairs, pct, ratios, say, table

SERVERS = ("goserver -mode json -procs 1 -ns 20000", "epoll_server -mode rw -ns 20000")
REQUESTS = 5000
KEEP, SHORT = 10000, 50000
# The same calls as hbprof's of both kinds that the program makes; 1 is no process that reads.
BPFTRACE = ("tracepoint:syscalls:sys_enter_read,tracepoint:syscalls:sys_enter_write "
            "/pid == 1/ { @t[tid] = nsecs; } "
            "tracepoint:syscalls:sys_exit_read,tracepoint:syscalls:sys_exit_write "
            "/pid == 1/ { delete(@t[tid]); } BEGIN { printf(\"attached\\n\"); }")


# ---- how true -------------------------------------------------------------------------------
#
# Server and load have a CPU each: the load, woken by an answer, would else run in the place of the server
# before that is back from its write. The server's own time has that in it, hbprof's, which ends inside of
# the system call, has not.

def own(lines):
    """What a server says of its requests: ns, %."""
    m = field(lines, r"LATENCY request (.*)$")
    d = {k: float(v) for k, v in (x.split("=") for x in m[1].split())}
    m = field(lines, r"SHARE request .*p50_pct=([\d.]+) p99_pct=([\d.]+)")
    return {"p50": d["p50"], "p99": d["p99"], "share50": float(m[1]), "share99": float(m[2])}


def pinned(cpu, argv):
    return ["taskset", "-c", str(cpu), *argv] if os.cpu_count() > 1 else argv


def serve(name):
    program, *flags = name.split()
    return Workload(name, pinned(0, [f"{WORK}/{program}", *flags, "-g", "0"]))


def ask(w):
    """From READY to DONE, with the load on a CPU of its own."""
    addr = field(w.lines.seen, r"LISTEN (\S+)$")[1]
    w.go()
    n = str(REQUESTS)
    load = command(pinned(1, [f"{WORK}/goload", "-addr", addr, "-n", n, "-g", "4", "-procs", "1"]))
    if load.returncode:
        raise Broken(f"goload: exit status {load.returncode}: {load.stderr}")
    w.newline()
    w.lines.until("^DONE$")


def unmeasured(name):
    with serve(name) as w:
        ask(w)
        w.finish()
        return own(w.lines.seen)


def measured(name):
    """The server's own numbers, and hbprof's of the same run."""
    with serve(name) as w, Hbprof(w.pid, "--requests", "--no-children") as h:
        h.wait_measuring()
        ask(w)
        r = h.report()
        w.finish()
        truth = own(w.lines.seen)
    got = next(x for x in r["requests"] if x["side"] == "server")
    if got["count"] != REQUESTS:
        raise Broken(f"{name}: {got['count']} requests, not {REQUESTS}")
    return truth, {"p50": got["latency"]["p50_ns"], "p99": got["latency"]["p99_ns"],
                   "share50": got["codec_share_p50_pct"], "share99": got["codec_share_p99_pct"],
                   "tied": r["request_coverage"]["tied_pct"]}


def true_rows(name):
    bare, probed = pairs(lambda: unmeasured(name), lambda: measured(name))
    for key, what, unit, form in (("p50", "P50, us", 1e3, "{:.1f}"), ("p99", "P99, us", 1e3, "{:.1f}"),
                                  ("share50", "codecs at P50, %", 1, "{:.2f}"),
                                  ("share99", "codecs at P99, %", 1, "{:.2f}")):
        a = [b[key] / unit for b in bare]
        b = [t[key] / unit for t, _ in probed]
        c = [g[key] / unit for _, g in probed]
        yield [f"{name.split()[0]}, {what}", *(Sample(x).text(form) for x in (a, b, c)),
               pct(ratios(c, a).median)]
    tied = Sample([g["tied"] for _, g in probed])
    yield [f"{name.split()[0]}, calls tied, %", "", "", tied.text("{:.2f}"), ""]


def true_all():
    say("### How true\n")
    say(f"`{'`, `'.join(SERVERS)}`, {REQUESTS:,} requests on 4 connections; {ROUNDS} pairs of runs, in turns. "
        "Counts are equal in each run.")
    table(["", "the server, not measured", "the server, measured", "hbprof", "hbprof to the first, %"],
          (row for name in SERVERS for row in true_rows(name)))


# ---- what it costs --------------------------------------------------------------------------

OTHERS_S = 15  # how long others on the same tracepoints are waited for


def others():
    """How many have a program on the entry of read: somebody who traces adds to the loops of all."""
    try:
        return len(re.findall(r"\bsys_enter_read\b", command(["bpftool", "perf", "show"]).stdout))
    except OSError:
        return 0


def alone():
    """Waits for others to go; how many have stayed."""
    deadline = time.monotonic() + OTHERS_S
    while others() and time.monotonic() < deadline:
        time.sleep(0.2)
    return others()


def loops(tracer):
    """ns of each system call, while a tracer is at work: a context manager made with the pid."""
    Others.seen.append(alone())
    with Workload("syscalls", [f"{OWN}/syscalls"]) as w:
        with tracer(w.pid):
            w.run()
        w.finish()
        return {m[1]: float(m[2]) for m in (re.match(r"SYSCALL (\S+) ([\d.]+)", x) for x in w.lines.seen) if m}


class Others:
    """How many others were on the tracepoints before each run."""
    seen = []


class Nobody:
    def __init__(self, pid):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *a):
        pass


class Bpftrace(Nobody):
    """bpftrace on read and write, with a filter that lets nobody through."""

    def __enter__(self):
        self.p = start(["bpftrace", "-e", BPFTRACE], stdout=-1, stderr=-1)
        Lines(self.p.stdout, "bpftrace").until("attached")
        return self

    def __exit__(self, *a):
        end(self.p)


class This(Nobody):
    """hbprof, measuring the program itself."""
    options = ("--requests",)

    def __init__(self, pid):
        self.h = Hbprof(pid, "--probe=measured_call", "--no-stacks", *self.options)

    def __enter__(self):
        self.h.wait_measuring()
        return self

    def __exit__(self, *a):
        self.h.stop()
        self.h.__exit__()


class Other(Nobody):
    """hbprof, measuring another process that stands still."""

    def __enter__(self):
        self.w = Workload("syscalls", [f"{OWN}/syscalls"])
        self.t = This(self.w.pid)
        return self.t.__enter__()

    def __exit__(self, *a):
        self.t.__exit__()
        self.w.__exit__()


def cost_all():
    states = {"nobody": Nobody, "hbprof on another process": Other, "hbprof on this process": This}
    if shutil.which("bpftrace"):
        states["bpftrace, filter by pid"] = Bpftrace
    got = {s: [] for s in states}
    for i in range(ROUNDS):
        for s in list(states)[::1 if i % 2 else -1]:
            got[s].append(loops(states[s]))
    say("### What the tracepoints cost\n")
    say(f"ns a call of tests/bench/syscalls.c, the quickest of its loops; {ROUNDS} runs of each, in turns. "
        "tcp is a write and a read of one byte, both ends in the program.")
    table(["call", *states],
          ([call, *(Sample([r[call] for r in got[s]]).text("{:,.0f}") for s in states)]
           for call in ("read", "getppid", "tcp")))
    busy = sum(n > 0 for n in Others.seen)
    say(f"Others had programs on the tracepoints before {busy} of {len(Others.seen)} runs.\n")


# ---- goroutines -----------------------------------------------------------------------------

def goroutines(*options):
    """ns to start one and to wait for its end, without a request and with one."""
    with Workload("goroutines", [f"{OWN}/goroutines"]) as w:
        if not options:
            w.run()
        else:
            with Hbprof(w.pid, "--no-stacks", "--no-children", *options) as h:
                h.wait_measuring()
                w.run()
                h.stop()
        w.finish()
        return {m[1]: float(m[2]) for m in (re.match(r"GOROUTINE (\S+) ([\d.]+)", x) for x in w.lines.seen) if m}


def goroutines_all():
    if not os.path.exists(f"{OWN}/goroutines"):
        say("Starts of goroutines are not measured: no Go.\n")
        return
    states = {"nobody": (), "hbprof --requests": ("--requests",),
              "hbprof --requests --follow-go": ("--requests", "--follow-go")}
    got = {s: [] for s in states}
    for i in range(ROUNDS):
        for s in list(states)[::1 if i % 2 else -1]:
            got[s].append(goroutines(*states[s]))
    say("### What the start of a goroutine costs\n")
    say(f"ns to start one and to wait for its end, the quickest of 40 loops of 2,000; {ROUNDS} runs of each, in turns.")
    table(["the starter", *states],
          ([f"{key} a request", *(Sample([r[key] for r in got[s]]).text("{:,.0f}") for s in states)]
           for key in ("without", "with")))


# ---- many connections -----------------------------------------------------------------------

def many(name):
    with Workload(name) as w, Watched(w.pid, "--requests", "--no-children", "--no-stacks") as watched:
        w.run()
        watched.stop()
        w.finish()
        m = field(w.lines.seen, r"REQUESTS rule=connection count=(\d+) .*connections=(\d+)")
    r = watched.report
    n = r["request_coverage"]
    losses = sum(n[k] for k in ("conns_full", "calls_full", "tasks_full", "rows_full", "unreadable"))
    count = sum(x["count"] for x in r["requests"] if x["side"] == "server")
    return [f"`{name}`", f"{int(m[2]):,}", f"{n['accepted']:,}", f"{int(m[1]):,}", f"{count:,}", losses,
            f"{n['tied_pct']:.2f}", f"{watched.peak_kb / 1024:.1f}"]


def many_rows():
    yield many("goserver -mode json -g 2 -n 200 -ns 1000")
    yield many(f"goserver -mode json -g {KEEP} -n {3 * KEEP} -ns 1000")
    yield many(f"goserver -mode json -short -g 16 -n {SHORT} -ns 1000")


def many_all():
    say("### Many connections\n")
    table(["program", "connections", "hbprof's", "requests", "hbprof's", "lost", "tied, %", "peak RSS, MB"],
          many_rows())


def run():
    say("## Requests\n")
    parts = {"true": true_all, "cost": cost_all, "goroutines": goroutines_all, "many": many_all}
    for name in os.environ.get("HB_BENCH_REQUESTS", " ".join(parts)).split():
        parts[name]()
