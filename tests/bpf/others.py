# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What others do to the target while it is measured: the program loads and unloads libraries, and
another tracer probes the same functions.
"""
import os
import platform
import re
import subprocess
import sys

from exact import Measured, Seen, check_balance, check_exact
from live import WORK, Hbprof, Lines, Workload, done, end, skip, start, test, tmp

INTERVAL_CALLS = 1000  # of a workload with -rate 1000, between two looks at what is mapped
TRACEFS = "/sys/kernel/tracing"


# ---- libraries ------------------------------------------------------------------------------

def reloaded():
    """The second library has its return address where the first one had it, and is found out within
    an interval: until then calls from it are left for dead, and none is a wrong sample."""
    m = Measured("hostile -mode reload -n 6000 -rate 1000")
    wrong = check_balance(m.report)
    s = Seen(m.report, "testcodec_block")
    lost = s.f["abandoned"] + s.f["unknown_return_site"] + s.f["in_flight_end"]
    if s.f["entries"] != 6000 or s.calls != 6000 - lost:
        wrong.append(f"{s.f['entries']} entries, {s.calls} calls, {lost} lost")
    if lost > 2 * INTERVAL_CALLS:
        wrong.append(f"{lost} calls lost")
    return m.judge(wrong)


# Calls cJSON, and loads a copy of it once it is measured. The functions called have nothing to do
# with those of this file; ctypes needs the path of the library, which the loader knows.
LATE = """
import ctypes, os, shutil, sys, time
first = ctypes.CDLL("libcjson.so.1")
first.cJSON_Parse.restype = ctypes.c_void_p
print("PID", os.getpid(), flush=True)
print("READY", flush=True)
sys.stdin.readline()
path = [line.split()[5] for line in open("/proc/self/maps") if "libcjson" in line][0]
shutil.copy(path, sys.argv[1])
second = ctypes.CDLL(sys.argv[1])
for _ in range(25):
    first.cJSON_Delete(ctypes.c_void_p(first.cJSON_Parse(b"[1]")))
    time.sleep(0.1)
print("DONE", flush=True)
sys.stdin.readline()
"""


def loaded_late():
    copy = f"{tmp}/libcopy.so"
    argv = [sys.executable, "-c", LATE, copy]
    with Workload("a program with a plugin", argv) as w, Hbprof(w.pid) as h:
        h.wait_measuring()
        w.run()
        report = h.report()
    wrong = check_balance(report)
    told = [x for x in report["warnings"] if copy in x and "cJSON" in x]
    if len(told) != 1:
        wrong.append(f"of {copy} is said: {report['warnings']}")
    return wrong


# ---- another tracer -------------------------------------------------------------------------

def write(path, text, flags=0):
    fd = os.open(f"{TRACEFS}/{path}", os.O_WRONLY | flags)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


class Probes:
    """Probes of the kernel's own tracer on functions of a file, in every process. kind: p or r."""

    def __init__(self, kind, path, functions):
        self.group, self.made = f"hbprof_test_{os.getpid()}", []
        nm = subprocess.run(["nm", path], stdout=subprocess.PIPE, text=True, check=True).stdout
        at = {f[2]: int(f[0], 16) for f in map(str.split, nm.splitlines()) if len(f) == 3}
        self.add = [f"{kind}:{self.group}/{fn} {path}:{at[fn]:#x}\n" for fn in functions]

    def __enter__(self):
        for line in self.add:
            write("uprobe_events", line, os.O_APPEND)
            self.made.append(line.split()[0][2:])
        write(f"events/{self.group}/enable", "1")
        return self

    def __exit__(self, *_):
        if self.made:
            write(f"events/{self.group}/enable", "0")
        for name in self.made:
            write("uprobe_events", f"-:{name}\n", os.O_APPEND)


def traced(kind):
    """codec and codec_compare return to another tracer's code, both to the same address."""
    with Probes(kind, f"{WORK}/hostile_cet", ["codec", "codec_compare"]):
        m = Measured("hostile_cet -mode funcptr -n 1000 -rate 1000")
    # The other tracer's breakpoints stay longer than hbprof's.
    m.changed = [c for c in m.changed if ": cc is not " not in c]
    return m


def return_probes():
    m = traced("r")
    wrong = check_exact(m.report, m.lines, may_be_unknown=True) + event_is_told(m.report)
    for fn in ("codec", "codec_compare"):
        f = Seen(m.report, fn).f
        if f["exit_mode"] != "ret" or f["unknown_return_site"] > f["entries"] // 2:
            wrong.append(f"{fn}: {f['unknown_return_site']} of {f['entries']} calls are unknown")
        if not any(fn in x and "another tracer" in x for x in m.report["warnings"]):
            wrong.append(f"nothing is said of the tracer of {fn}")
    return m.judge(wrong)


def entry_probes():
    m = traced("p")
    return m.judge(check_exact(m.report, m.lines, may_be_unknown=True) + event_is_told(m.report))


def told(report):
    """What is said of others."""
    return [x for x in report["warnings"]
            if re.search("another tracer \\(|breakpoints of|a debugger \\(|records the", x)]


def event_is_told(report):
    """One sentence for each event, with its name and the function."""
    wrong = []
    for fn in ("codec", "codec_compare"):
        event = f"uprobe event hbprof_test_{os.getpid()}/{fn})"
        if sum(event in x and f": {fn};" in x for x in told(report)) != 1:
            wrong.append(f"of {event} is said: {told(report)}")
    return wrong


def alone():
    m = Measured("hostile -mode funcptr -n 100")
    return [f"is said of nobody: {x}" for x in told(m.report)]


# ---- another hbprof -------------------------------------------------------------------------

WORK_FOR_TWO = "gojson -mode marshal -n 1000"


def two(stay, go):
    """Two measure the same calls; the second one says who the first is. What the first says depends
    on who ends first: only who is there at the end can be seen."""
    with Workload(WORK_FOR_TWO) as w, Hbprof(w.pid) as first:
        first.wait_measuring()
        with Hbprof(w.pid) as second:
            second.wait_measuring()
            w.run()
            h = {"first": first, "second": second}
            report = {go: h[go].report()}
            report[stay] = h[stay].report()
        status = w.finish()
        lines = w.lines.seen
    wrong = [f"exit status {status}"] if status else []
    for name, r in report.items():
        wrong += [f"{name}: {x}" for x in check_exact(r, lines)]
    said = {name: told(r) for name, r in report.items()}
    begin = f"another tracer (hbprof, process {first.p.pid}) probes the measured code too"
    if len(said["second"]) != 1 or not said["second"][0].startswith(begin):
        wrong.append(f"the second says: {said['second']}")
    elif ("(not until the end)" in said["second"][0]) != (go == "first"):
        wrong.append(f"the second says of the end: {said['second']}")
    late = f"another tracer (hbprof, process {second.p.pid}) probes the measured code too (not from"
    if go == "first" and (len(said["first"]) != 1 or not said["first"][0].startswith(late)):
        wrong.append(f"the first says: {said['first']}")
    if go == "second" and said["first"]:
        wrong.append(f"the first says of one that has gone: {said['first']}")
    return wrong


# ---- a debugger -----------------------------------------------------------------------------

# PTRACE_SEIZE: attached, without a stop; signals, such as Go preempts with, are passed on.
SEIZE = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
if libc.ptrace(0x4206, int(sys.argv[1]), None, None):
    sys.exit("ptrace: errno %d" % ctypes.get_errno())
print("SEIZED", flush=True)
while True:
    pid, status = os.waitpid(int(sys.argv[1]), 0x40000000)
    if not os.WIFSTOPPED(status):
        break
    libc.ptrace(7, pid, None, os.WSTOPSIG(status))
"""


def debugged():
    with Workload(WORK_FOR_TWO) as w:
        p = start([sys.executable, "-c", SEIZE, str(w.pid)], stdout=subprocess.PIPE)
        try:
            Lines(p.stdout, "the debugger").until("SEIZED")
            with Hbprof(w.pid) as h:
                h.wait_measuring()
                w.run()
                report = h.report()
        finally:
            end(p)
        w.finish()
        lines = w.lines.seen
    wrong = check_exact(report, lines)
    said = told(report)
    if len(said) != 1 or f", process {p.pid}) is attached" not in said[0]:
        wrong.append(f"is said: {said}")
    return wrong


def main():
    test("a library where another one was: its calls are found", reloaded)
    test("a library that is loaded while recording, with a codec in it, is told", loaded_late)
    test("where nobody else looks nothing is said", alone)
    test("another hbprof is named, and both count exactly", two, "first", "second")
    test("another hbprof that came later and stays is told at the end", two, "second", "first")
    test("a debugger is named", debugged)
    names = ["return probes of another tracer: returns are probed, and it is told",
             "entry probes of another tracer are not taken for the code"]
    if platform.machine() == "x86_64" and os.access(f"{TRACEFS}/uprobe_events", os.W_OK):
        test(names[0], return_probes)
        test(names[1], entry_probes)
    else:
        for name in names:
            skip(name, "needs x86-64 and tracefs")
    done()


if __name__ == "__main__":
    main()
