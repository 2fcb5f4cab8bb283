# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the sections of the benchmark share: one run of a program without and with hbprof, medians with
their spread, and the printing. How programs and hbprof are driven is in tests/bpf/live.py.
"""
import fcntl
import os
import re
import signal
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bpf"))
from live import Broken, Hbprof, Workload, parse_report  # noqa: E402

ROUNDS = int(os.environ.get("HB_BENCH_ROUNDS", "9"))
OWN = os.environ["HB_BENCH_DIR"]
PIPE_BYTES = 1 << 20
UNITS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}


# ---- numbers --------------------------------------------------------------------------------

class Sample:
    """One number, measured several times."""

    def __init__(self, values):
        self.v = sorted(values)
        self.median = statistics.median(self.v)

    def text(self, form="{:,.0f}"):
        """Median, and the least and the largest."""
        return f"{form.format(self.median)} ({form.format(self.v[0])}..{form.format(self.v[-1])})"


def ratios(a, b):
    return Sample([x / y for x, y in zip(a, b) if y > 0])


def pct(ratio):
    return f"{100 * (ratio - 1):+.1f}"


def ms(text):
    """'1.23ms', as hbprof's messages have it, in ms."""
    m = re.fullmatch(r"([\d.]+)(ns|us|ms|s)", text)
    if not m:
        raise Broken(f"'{text}' is no time")
    return float(m[1]) * UNITS[m[2]]


# ---- printing -------------------------------------------------------------------------------

def say(text=""):
    print(text, flush=True)


def table(head, rows):
    """rows may be a generator: a row is printed when it is there."""
    say()
    say("| " + " | ".join(head) + " |")
    say("|" + " --- |" * len(head))
    for r in rows:
        say("| " + " | ".join(str(c) for c in r) + " |")
    say()


# ---- runs -----------------------------------------------------------------------------------

def field(lines, pattern):
    for line in lines:
        m = re.match(pattern, line)
        if m:
            return m
    raise Broken(f"no line like {pattern} in:\n" + "\n".join(lines))


class Bare:
    """One run of a program of HB_WORK, or of another folder, nobody looking."""

    def __init__(self, name, folder=None):
        program, *flags = name.split()
        with Workload(name, folder and [f"{folder}/{program}", *flags]) as w:
            w.run()
            w.finish()
            self.lines = w.lines.seen

    def latency(self, function):
        """Of the histogram in the process: a dict of mean, p50, p99 and others."""
        m = field(self.lines, rf"LATENCY {re.escape(function)} (.*)$")
        return {k: float(v) for k, v in (x.split("=") for x in m[1].split())}

    def cost(self, function):
        """Median of the batches, ns a call."""
        return float(field(self.lines, rf"COST {re.escape(function)} .*median=([\d.]+)")[1])


class Probed(Bare):
    """The same run, with hbprof."""

    def __init__(self, name, *options):
        with Workload(name) as w, Hbprof(w.pid, *options) as h:
            h.wait_measuring()
            w.run()
            self.report = h.report()
            w.finish()
            self.lines = w.lines.seen
        c = self.report["coverage"]
        # Calls into a library return through sites that are found by the first of them.
        if not c["balanced"] or c["lost"] > c["unknown_return_site"] or c["lost"] > c["entries"] / 5:
            raise Broken(f"{name}: calls were lost: {c}")

    def row(self, function):
        rows = [r for r in self.report["rows"] if r["function"] == function]
        if not rows:
            raise Broken(f"hbprof has no row of {function}")
        return max(rows, key=lambda r: r["calls"])

    def bias(self, function):
        """What was subtracted from a call, ns: of the class with the most calls."""
        lang = next(f["language"] for f in self.report["functions"] if f["function"] == function)
        c = max((c for c in self.report["probe"]["classes"] if c["language"] == lang),
                key=lambda c: c["calls"])
        return c["bias_ns"]


def pairs(bare, probed, rounds=ROUNDS):
    """Lists of both kinds of run, made in turn; every second round begins with the other one."""
    a, b = [], []
    for i in range(rounds):
        for first in ((0, 1) if i % 2 == 0 else (1, 0)):
            if first == 0:
                a.append(bare())
            else:
                b.append(probed())
    return a, b


# ---- hbprof as a process --------------------------------------------------------------------

def status_kb(pid, key):
    """A number of /proc/PID/status, None once it has gone."""
    try:
        with open(f"/proc/{pid}/status") as f:
            m = re.search(rf"^{key}:\s+(\d+) kB$", f.read(), re.M)
    except OSError:
        return None
    return int(m[1]) if m else None


def run_ns(pid):
    """CPU time of a process with one thread, ns."""
    with open(f"/proc/{pid}/schedstat") as f:
        return int(f.read().split()[0])


class Watched:
    """hbprof on a process, its memory looked at until it has ended. Not by getrusage: after a fork from
    here its maximum is that of this interpreter.
    """

    def __init__(self, pid, *options):
        self.begin_ns = time.time_ns()
        self.h = Hbprof(pid, *options)
        # Its report is to fit into the pipe, as nobody reads that before hbprof has ended.
        fcntl.fcntl(self.h.p.stdout, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self.h.wait_measuring()
        self.started_ms = (time.time_ns() - self.begin_ns) / 1e6

    def __enter__(self):
        return self

    def __exit__(self, *a):
        self.h.__exit__(*a)

    def stop(self):
        """Ends it; sets report, messages and peak_kb."""
        self.peak_kb = 0
        self.h.p.send_signal(signal.SIGINT)
        while True:
            kb = status_kb(self.h.p.pid, "VmHWM")
            if kb is None:
                break
            self.peak_kb = max(self.peak_kb, kb)
            time.sleep(0.0005)
        code, out, err = self.h.wait()
        self.report, self.messages = parse_report(code, out, err), err

    def said(self, pattern):
        m = re.search(pattern, self.messages, re.M)
        if not m:
            raise Broken(f"hbprof did not say {pattern}:\n{self.messages}")
        return m
