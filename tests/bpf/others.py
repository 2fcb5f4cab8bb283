# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What others do to the target while it is measured: the program loads and unloads libraries, and
another tracer probes the same functions.
"""
import os
import platform
import subprocess
import sys

from exact import Measured, Seen, check_balance, check_exact
from live import WORK, Hbprof, Workload, done, skip, test, tmp

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
    wrong = check_exact(m.report, m.lines, may_be_unknown=True)
    for fn in ("codec", "codec_compare"):
        f = Seen(m.report, fn).f
        if f["exit_mode"] != "ret" or f["unknown_return_site"] > f["entries"] // 2:
            wrong.append(f"{fn}: {f['unknown_return_site']} of {f['entries']} calls are unknown")
        if not any(fn in x and "another tracer" in x for x in m.report["warnings"]):
            wrong.append(f"nothing is said of the tracer of {fn}")
    return m.judge(wrong)


def entry_probes():
    m = traced("p")
    return m.judge(check_exact(m.report, m.lines, may_be_unknown=True))


def main():
    test("a library where another one was: its calls are found", reloaded)
    test("a library that is loaded while recording, with a codec in it, is told", loaded_late)
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
