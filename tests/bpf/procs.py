# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Many processes in one recording: named, found, forked, turned into others by exec; commands that are
run. Each one's counts are compared with what it has printed itself.
"""
import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

from exact import check_balance, parse_truth
from live import (HBPROF, WORK, Broken, Hbprof, Lines, Workload, end, ok, parse_report, run, skip,
                  start, test, text_changes, tmp)
import live

C = "cjson_work -mode parse -n 300"
GO = "gojson_plain -mode marshal -n 200"

class Actor(Workload):
    """tests/workload/c/actor.c: makes calls, forks, becomes another program when it is told to."""

    def __init__(self, path=None):
        super().__init__("actor", path and [path])

    def tell(self, line):
        self.p.stdin.write(line.encode() + b"\n")
        self.p.stdin.flush()

    def calls(self, n):
        self.tell(f"calls {n}")
        self.lines.until(rf"^CALLED {self.pid} {n}$")

    @contextlib.contextmanager
    def forked(self):
        """(pid, function that has the child make calls); the child ends with the block."""
        path = os.path.join(tmp, f"fifo-{time.monotonic_ns()}")
        os.mkfifo(path)
        self.tell(f"fork {path}")
        pid = int(self.lines.until(r"^CHILD (\d+)$")[1])
        with open(path, "w") as f:
            def calls(n):
                f.write(f"calls {n}\n")
                f.flush()
                self.lines.until(rf"^CALLED {pid} {n}$")

            yield pid, calls
        os.unlink(path)


class Recorder(Hbprof):
    """hbprof with its own choice of processes."""

    def __init__(self, *options):
        self.capture = os.path.join(tmp, f"procs-{time.monotonic_ns()}.hbp")
        argv = [HBPROF, "-v", *options, "-o", self.capture, "--format", "json"]
        self.p = start(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE)
        self.err = Lines(self.p.stderr, "hbprof")

    def wait_for(self, pid):
        self.err.until(rf"measuring process {pid}, too")


def calls_by_pid(report, function):
    calls = {}
    for r in report["rows"]:
        if r["function"] == function:
            calls[r["pid"]] = calls.get(r["pid"], 0) + r["calls"]
    return calls


def check_calls(report, function, want):
    """want: {pid: calls}"""
    got = calls_by_pid(report, function)
    wrong = check_balance(report)
    if got != want:
        wrong.append(f"calls of {function}: {got}, truth {want}")
    told = {t["pid"]: 0 for t in report["targets"]}
    for t in report["targets"]:
        told[t["pid"]] += t["calls"]
    wrong += [f"the processes do not have {pid}" for pid in want if pid not in told]
    return wrong + [f"warning: {w}" for w in report["warnings"] if "not counted" in w]


# ---- named by their ids ---------------------------------------------------------------------

def one_of_two():
    """The other one runs the same file: nothing of it is touched."""
    with Workload(C) as a, Workload(C) as b:
        with Hbprof(a.pid) as h:
            h.wait_measuring()
            wrong = [f"in the other: {x}" for x in text_changes(b.pid)]
            a.run()
            b.run()
            with open(f"/proc/{b.pid}/maps") as f:
                if "[uprobes]" in f.read():
                    wrong.append("the other one has been in a probe")
            wrong += check_calls(h.report(), "cJSON_Parse", {a.pid: 300})
    return wrong


def several():
    with Workload(C) as a, Workload(C.replace("300", "200")) as b, Workload(GO) as g:
        with Hbprof(f"{a.pid},{b.pid}", "--pid", str(g.pid)) as h:
            h.wait_measuring()
            for w in (a, b, g):
                w.run()
            report = h.report()
        wrong = check_calls(report, "cJSON_Parse", {a.pid: 300, b.pid: 200})
        wrong += check_calls(report, "encoding/json.Marshal", {g.pid: 200})
        return wrong + [x for w in (a, b, g) for x in text_changes(w.pid)]


def summed():
    """The table has one row, by process it has two."""
    with Workload(C) as a, Workload(C) as b, Hbprof(f"{a.pid},{b.pid}") as h:
        h.wait_measuring()
        a.run()
        b.run()
        h.report()
        texts = [run([HBPROF, "report", "--wide", "--by", by, h.capture]).stdout
                 for by in ("codec", "process")]
    wrong = []
    rows = [[x for x in t.split("\npercentiles")[0].splitlines()
             if " cJSON_Parse " in x and x.startswith("cJSON")] for t in texts]
    if len(rows[0]) != 1 or " 600 " not in rows[0][0]:
        wrong.append(f"not one row of 600 calls:\n{texts[0]}")
    if len(rows[1]) != 2 or any(" 300 " not in x for x in rows[1]):
        wrong.append(f"not two rows of 300 calls:\n{texts[1]}")
    return wrong


def ends_while_attaching(seconds):
    with Workload(C) as a, Workload(C) as b:
        with Hbprof(f"{a.pid},{b.pid}") as h:
            time.sleep(seconds)
            b.p.kill()
            b.p.wait()
            try:
                h.wait_measuring()
            except Broken:
                # It had ended before it could be opened.
                status, _, err = h.wait()
                return [] if status == 3 and str(b.pid) in err else [f"{status}: {err}"]
            a.run()
            report = h.report()
    return check_calls(report, "cJSON_Parse", {a.pid: 300})


def many(nr):
    """100 processes of one binary."""
    with contextlib.ExitStack() as stack:
        all_of = [stack.enter_context(Workload(C.replace("300", str(20 + i)))) for i in range(nr)]
        pids = ",".join(str(w.pid) for w in all_of)
        h = stack.enter_context(Recorder("--no-stacks", "--pid", pids))
        h.wait_measuring()
        for w in all_of:
            w.run()
        report = h.report()
        wrong = check_calls(report, "cJSON_Parse", {w.pid: 20 + i for i, w in enumerate(all_of)})
        return wrong + [x for w in all_of[::10] for x in text_changes(w.pid)]


# ---- found ----------------------------------------------------------------------------------

@contextlib.contextmanager
def renamed(program):
    """A copy under a name that no other process has."""
    path = os.path.join(tmp, f"work{random.randrange(10**6)}")
    shutil.copy(f"{WORK}/{program}", path)
    yield path
    if os.path.exists(path):
        os.unlink(path)


def by_name():
    with renamed("cjson_work") as path:
        argv = [path, "-mode", "parse", "-n", "300"]
        with Workload("early", argv) as a, \
                Recorder("--name", os.path.basename(path)[:-1] + "?") as h:
            h.wait_measuring()
            with Workload("late", argv) as b:
                h.wait_for(b.pid)
                a.run()
                b.run()
                report = h.report()
    wrong = check_calls(report, "cJSON_Parse", {a.pid: 300, b.pid: 300})
    late = [t for t in report["targets"] if t["pid"] == b.pid][0]
    if not late["unmeasured_ns"]:
        wrong.append(f"it is not said how long the late one was not measured: {late}")
    if not any(f"process {b.pid} was not measured for its first" in w for w in report["warnings"]):
        wrong.append(f"no warning: {report['warnings']}")
    return wrong


def waited_for():
    with renamed("gojson_plain") as path:
        argv = [path, "-mode", "marshal", "-n", "200"]
        with Recorder("--wait", "--name", os.path.basename(path)) as h:
            h.wait_measuring()
            with Workload("late", argv) as w:
                h.wait_for(w.pid)
                w.run()
                report = h.report()
    return check_calls(report, "encoding/json.Marshal", {w.pid: 200})


def contained():
    """In a PID and mount namespace of its own, from a file that is deleted by then."""
    name = f"contained{random.randrange(10**6)}"
    inside = (f"mount -t tmpfs none /mnt && cp {WORK}/cjson_work /mnt/{name} && "
              f"(sleep 0.5; rm /mnt/{name}) & sleep 0.3; exec /mnt/{name} -mode parse -n 300")
    argv = ["unshare", "--pid", "--fork", "--kill-child", "--mount", "sh", "-c", inside]
    with Recorder("--wait", "--name", name) as h:
        h.wait_measuring()
        with Workload(name, argv) as w:
            with open(f"/proc/{w.p.pid}/task/{w.p.pid}/children") as f:
                pid = int(f.read().split()[0])
            h.wait_for(pid)
            time.sleep(0.5)
            w.run()
            report = h.report()
    return check_calls(report, "cJSON_Parse", {pid: 300})


def cgroup2():
    with open("/proc/self/mountinfo") as f:
        for line in f:
            if " - cgroup2 " in line:
                return line.split()[4]
    return None


def by_cgroup(root):
    group = os.path.join(root, f"hbprof-test-{os.getpid()}")
    below = os.path.join(group, "below")
    os.makedirs(below)
    try:
        with Workload(C) as a, Workload(C) as b, Workload(C) as c:
            for w, path in ((a, group), (b, below)):
                with open(f"{path}/cgroup.procs", "w") as f:
                    f.write(str(w.pid))
            with Recorder("--cgroup", os.path.basename(group)) as h:
                h.wait_measuring()
                with open(f"{below}/cgroup.procs", "w") as f:
                    f.write(str(c.pid))
                h.wait_for(c.pid)
                for w in (a, b, c):
                    w.run()
                report = h.report()
        return check_calls(report, "cJSON_Parse", {w.pid: 300 for w in (a, b, c)})
    finally:
        for path in (below, group):
            remove_group(path)


def remove_group(path):
    """Its processes have ended, but the kernel may still be taking them out."""
    for _ in range(100):
        try:
            os.rmdir(path)
            return
        except OSError:
            time.sleep(0.02)


# ---- that come from others ------------------------------------------------------------------

def forked():
    """Not counted before its own probes are there, exact from then on; nothing is left in it."""
    with Actor() as w, Recorder("--pid", str(w.pid)) as h:
        h.wait_measuring()
        w.calls(100)
        with w.forked() as (pid, calls):
            h.wait_for(pid)
            calls(70)
            w.calls(30)
            report = h.report()
            wrong = text_changes(w.pid) + text_changes(pid)
    wrong += check_calls(report, "cJSON_Parse", {w.pid: 130, pid: 70})
    if not any(f"process {pid} was not measured for its first" in x for x in report["warnings"]):
        wrong.append(f"no warning: {report['warnings']}")
    return wrong


def parent_ends():
    """The recording goes on while a child is measured."""
    with Actor() as w, Recorder("--pid", str(w.pid)) as h:
        h.wait_measuring()
        with w.forked() as (pid, calls):
            h.wait_for(pid)
            w.p.stdin.close()
            w.p.wait()
            time.sleep(1.2)
            calls(50)
        report = h.report(0)
    wrong = check_calls(report, "cJSON_Parse", {pid: 50})
    if report["stop_reason"] != "target exited":
        wrong.append(f"ended: {report['stop_reason']}")
    return wrong


def fork_server(nr):
    """Children that make their calls at once and end: no call too many, and each child is told of, with what
    was not measured of it; their parent is counted exactly."""
    with Actor() as w, Recorder("--pid", str(w.pid)) as h:
        h.wait_measuring()
        for _ in range(nr):
            path = os.path.join(tmp, f"fifo-{time.monotonic_ns()}")
            os.mkfifo(path)
            fd = os.open(path, os.O_RDWR)
            w.tell(f"fork {path}")
            child = int(w.lines.until(r"^CHILD (\d+)$")[1])
            os.write(fd, b"calls 5\n")
            w.lines.until(rf"^CALLED {child} 5$")
            os.close(fd)
            w.calls(2)
        report = h.report()
    calls = calls_by_pid(report, "cJSON_Parse")
    wrong = check_balance(report)
    if calls.pop(w.pid, 0) != 2 * nr or any(n > 5 for n in calls.values()):
        wrong.append(f"of the parent not {2 * nr} calls, or of a child more than 5: {calls}")
    if told_of(report) != nr + 1:
        wrong.append(f"{told_of(report)} of {nr + 1} are told of: {report['warnings']}")
    late = [t for t in report["targets"] if t["pid"] != w.pid]
    return wrong + [f"not said how late: {t}" for t in late if not t["unmeasured_ns"]]


def becomes(name, function, calls):
    """exec: of another program, and of the one that it was."""
    words = name.split()
    with Actor() as w, Recorder("--pid", str(w.pid)) as h:
        h.wait_measuring()
        w.calls(40)
        w.tell(f"exec {WORK}/{words[0]} {' '.join(words[1:])}")
        w.lines.until("^READY$")
        h.wait_for(w.pid)
        w.run()
        report = h.report()
        wrong = text_changes(w.pid)
    ends = [t["end"] for t in report["targets"]]
    if ends != ["exec", None]:
        wrong.append(f"the two programs of the process ended so: {ends}")
    want = {"cJSON_Parse": {w.pid: 40}}
    want.setdefault(function, {w.pid: 0})[w.pid] += calls
    for fn, by_pid in want.items():
        wrong += check_calls(report, fn, by_pid)
    return wrong


def becomes_at_once(nr):
    """Children that become another program while they are attached to: nothing else is said of them."""
    with Actor() as w, Recorder("--pid", str(w.pid)) as h:
        h.wait_measuring()
        for i in range(nr):
            path = os.path.join(tmp, f"fifo-{time.monotonic_ns()}")
            os.mkfifo(path)
            fd = os.open(path, os.O_RDWR)
            os.write(fd, b"exec /bin/sleep 2\n")
            w.tell(f"fork {path}")
            w.lines.until(r"^CHILD (\d+)$")
            time.sleep(0.1)
            os.close(fd)
        w.calls(40)
        report = h.report()
    wrong = [x for x in report["warnings"] if "in memory" in x]
    return wrong + check_calls(report, "cJSON_Parse", {w.pid: 40})


def becomes_itself():
    """Its old links must not count in the new program."""
    with Actor() as w, Recorder("--pid", str(w.pid)) as h:
        h.wait_measuring()
        w.calls(40)
        w.tell(f"exec {WORK}/actor")
        w.lines.until("^READY$")
        h.wait_for(w.pid)
        w.calls(30)
        report = h.report()
        return check_calls(report, "cJSON_Parse", {w.pid: 70}) + text_changes(w.pid)


def loaded_later():
    """A library that is loaded while it is waited for: its calls from then on, and the identity."""
    with Workload("hostile -mode dlopen -n 3000 -rate 1000") as w, \
            Hbprof(w.pid, "--wait", "--probe", "latecodec_encode") as h:
        h.wait_measuring()
        w.run()
        report = h.report()
        wrong = check_balance(report) + text_changes(w.pid)
        truth = parse_truth(w.lines.seen)["latecodec_encode"]
    seen = [f for f in report["functions"] if f["function"] == "latecodec_encode"]
    if not seen or not truth["entries"] // 4 <= seen[0]["entries"] <= truth["entries"]:
        wrong.append(f"entries: {[f['entries'] for f in seen]} of {truth['entries']}")
    told = [x for x in report["warnings"] if "has loaded a library while recording" in x]
    if len(told) != 1:
        wrong.append(f"that it was measured late is not said: {report['warnings']}")
    return wrong


PASSING = """
import _ctypes, ctypes, os, sys, time
print("PID", os.getpid(), flush=True)
print("READY", flush=True)
sys.stdin.readline()
for _ in range(60):
    lib = ctypes.CDLL(sys.argv[1])
    time.sleep(0.03)
    _ctypes.dlclose(lib._handle)
    time.sleep(0.03)
lib = ctypes.CDLL(sys.argv[1])
time.sleep(1.5)
for _ in range(5):
    lib.latecodec_encode(b"x", ctypes.c_size_t(1))
print("DONE", flush=True)
sys.stdin.readline()
"""


def come_again():
    """A library that is unloaded while it is looked at has not changed: when it has come again it is counted."""
    argv = [sys.executable, "-c", PASSING, f"{WORK}/liblatecodec.so"]
    with Workload("a library that comes and goes", argv) as w, \
            Hbprof(w.pid, "--wait", "--probe", "latecodec_encode") as h:
        h.wait_measuring()
        w.run()
        report = h.report()
    wrong = check_balance(report)
    seen = [f["entries"] for f in report["functions"] if f["function"] == "latecodec_encode"]
    if seen != [5]:
        wrong.append(f"entries: {seen} of 5")
    return wrong + [x for x in report["warnings"] if "differs" in x]


def at_once():
    """The dynamic linker says when a library comes. The breakpoints are in its file then. Its calls are made
    through a pointer, so the return site is to be found, too."""
    with Actor() as w, Recorder("--pid", str(w.pid), "--probe", "latecodec_encode", "--wait") as h:
        h.wait_measuring()
        for n in (7, 11):
            w.tell(f"load {WORK}/liblatecodec.so")
            w.lines.until("^LOADED$")
            if n == 7:
                h.err.until(rf"measuring \d+ functions of process {w.pid}, too")
            w.tell(f"late {n}")
            w.lines.until(rf"^CALLED {w.pid} {n}$")
            w.tell("unload")
            w.lines.until("^UNLOADED$")
        report = h.report()
    wrong = check_balance(report)
    f = [f for f in report["functions"] if f["function"] == "latecodec_encode"][0]
    calls = sum(calls_by_pid(report, "latecodec_encode").values())
    if f["entries"] != 18 or calls + f["unknown_return_site"] != 18:
        wrong.append(f"{f['entries']} entries, {calls} calls, truth 18")
    return wrong


def too_short():
    """Counted, or said not to be."""
    with Actor() as w, Recorder("--pid", str(w.pid), "--probe", "latecodec_encode", "--wait") as h:
        h.wait_measuring()
        for _ in range(10):
            w.tell(f"passing {WORK}/liblatecodec.so")
            w.lines.until("^PASSED$")
        w.calls(5)
        report = h.report()
    calls = sum(calls_by_pid(report, "latecodec_encode").values())
    said = [x for x in report["warnings"]
            if "a library was loaded and unloaded" in x or "was loaded while recording" in x]
    wrong = check_balance(report)
    if calls < 10 and not said:
        wrong.append(f"{calls} of 10 calls, and nothing is said: {report['warnings']}")
    if calls > 10 or calls_by_pid(report, "cJSON_Parse") != {w.pid: 5}:
        wrong.append(f"{calls} of 10 calls, cJSON_Parse {calls_by_pid(report, 'cJSON_Parse')} of 5")
    return wrong


# ---- commands -------------------------------------------------------------------------------

def run_command(argv, *options, **kw):
    """(report or None, exit status, stdout, stderr)"""
    path = os.path.join(tmp, f"run-{time.monotonic_ns()}.hbp")
    r = run([HBPROF, "run", "-q", "-o", path, *options, "--", *argv], **kw)
    report = None
    if os.path.exists(path):
        j = run([HBPROF, "report", "--format", "json", path])
        report = parse_report(j.returncode, j.stdout, j.stderr)
        os.unlink(path)
    return report, r.returncode, r.stdout, r.stderr


def in_a_container():
    """hbprof is process 1 of a PID namespace: its ids mean other processes to the kernel."""
    path = os.path.join(tmp, "contained.hbp")
    fifo = os.path.join(tmp, "contained.fifo")
    os.mkfifo(fifo)
    inside = f"cat {fifo} | {WORK}/cjson_work -mode parse -n 300; true"
    p = start(["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", HBPROF, "run", "-v", "-o",
               path, "--format", "json", "--", "sh", "-c", inside],
              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        pid = int(Lines(p.stderr, "hbprof").until(r"measuring process (\d+), too")[1])
        with open(fifo, "w") as f:
            f.write("\n")
        p.wait(live.DEADLINE_S)
    finally:
        end(p)
    r = run([HBPROF, "report", "--format", "json", path])
    report = parse_report(r.returncode, r.stdout, r.stderr)
    got = calls_by_pid(report, "cJSON_Parse")
    return check_balance(report) + ([] if got == {pid: 300} else [f"{got}, truth 300 of {pid}"])


def told_of(report):
    """How many processes the report knows of: measured ones, and those that had ended too soon."""
    gone = [re.match(r"(\d+) process(?:es)? had ended before", w) for w in report["warnings"]]
    return len(report["targets"]) + sum(int(m[1]) for m in gone if m)


def short_ones(nr):
    """Each is measured, or said not to be."""
    script = f"for i in $(seq {nr}); do {WORK}/cjson_work -mode parse -n 10 -nowait; done"
    report, status, _, err = run_command(["sh", "-c", script])
    if status or not report:
        return [f"exit status {status}: {err}"]
    told = told_of(report)
    return [] if told >= nr else [f"{told} of {nr} are told of: {report['warnings']}"]


def short_ones_by_name(nr):
    with renamed("cjson_work") as path:
        with Recorder("--wait", "--name", os.path.basename(path)) as h:
            h.wait_measuring()
            for _ in range(nr):
                run([path, "-mode", "parse", "-n", "10", "-nowait"])
            report = h.report()
    told = told_of(report)
    return [] if told == nr else [f"{told} of {nr} are told of: {report['warnings']}"]


def by_name_without_children():
    """What a process forks and runs is measured if it has the name itself."""
    with renamed("actor") as path:
        with Actor(path) as w, Recorder("--no-children", "--name", os.path.basename(path)) as h:
            h.wait_measuring()
            w.calls(10)
            with w.forked() as (child, calls):
                h.wait_for(child)
                calls(5)
            w.tell(f"exec {WORK}/{C} -nowait")
            w.lines.until("^DONE$")
            report = h.report()
    wrong = check_calls(report, "cJSON_Parse", {w.pid: 10, child: 5})
    names = [t["comm"] for t in report["targets"]]
    return wrong + ([f"measured: {names}"] if "cjson_work" in names else [])


def all_end_while_attaching():
    """Those that are there have ended before they have probes: others may come."""
    with renamed("cjson_work") as path:
        argv = [path, "-mode", "parse", "-n", "300"]
        early = Workload("early", argv)
        with Recorder("--name", os.path.basename(path)) as h:
            h.err.until("counter context-switches|probes are attached by")
            early.p.kill()
            early.p.wait()
            h.wait_measuring()
            with Workload("late", argv) as b:
                h.wait_for(b.pid)
                b.run()
                report = h.report()
    return check_calls(report, "cJSON_Parse", {b.pid: 300})


def ten_calls(program, mode, function, nr=10):
    argv = [f"{WORK}/{program}", "-mode", mode, "-n", str(nr), "-nowait"]
    report, status, out, err = run_command(argv)
    if status or not report:
        return [f"exit status {status}: {err}"]
    pid = report["targets"][0]["pid"]
    wrong = check_calls(report, function, {pid: nr})
    truth = parse_truth(out.splitlines())[function]
    entries = [f["entries"] for f in report["functions"] if f["function"] == function]
    if entries != [truth["entries"]]:
        wrong.append(f"entries {entries}, truth {truth['entries']}")
    return wrong


def ten_calls_of_a_script():
    """The interpreter is what is run."""
    path = os.path.join(tmp, "script")
    with open(path, "w") as f:
        f.write(f"#!{WORK}/actor\n")
    os.chmod(path, 0o755)
    report, status, out, err = run_command([path], stdin=stdin_of("calls 10\n"))
    if status or not report:
        return [f"exit status {status}: {err}"]
    return check_calls(report, "cJSON_Parse", {report["targets"][0]["pid"]: 10})


def stdin_of(text):
    r, w = os.pipe()
    os.write(w, text.encode())
    os.close(w)
    return r


def streams():
    """Its input, output and exit status are its own."""
    report, status, out, err = run_command(["sh", "-c", "cat; echo err >&2; exit 7"],
                                           stdin=stdin_of("in\n"))
    wrong = [] if out == "in\n" else [f"stdout: {out!r}"]
    wrong += [] if "err" in err.splitlines() else [f"stderr: {err!r}"]
    # Nothing to measure comes first: there is no report of nothing.
    return wrong + ([] if status == 3 else [f"exit status {status}"])


def statuses():
    wrong = []
    script = f"{WORK}/cjson_work -mode parse -n 1000 -rate 2000 -nowait >/dev/null; "
    for end_of, want in (("exit 7", 7), ("kill -TERM $$", 128 + signal.SIGTERM)):
        report, status, _, err = run_command(["sh", "-c", script + end_of])
        if status != want or not report:
            wrong.append(f"{end_of}: exit status {status}, not {want}: {err}")
        elif not report["rows"]:
            wrong.append(f"{end_of}: its child was not measured")
    for argv, want, text in ((["no-such-command"], 127, "command not found"),
                             (["/etc/passwd"], 126, "cannot run"),
                             (["/no/such/file"], 127, "cannot run")):
        _, status, _, err = run_command(argv)
        if status != want or text not in err:
            wrong.append(f"{argv}: exit status {status}, not {want}: {err}")
    return wrong


def storm():
    """Children that end while they are read are no reason to end the recording."""
    script = (f"i=0; while [ $i -lt 150 ]; do /bin/true & sh -c 'exec sh -c \"exec /bin/true\"' & "
              f"i=$((i + 1)); done; wait; {WORK}/cjson_work -mode parse -n 1000 -rate 2000 -nowait")
    report, status, _, err = run_command(["sh", "-c", script])
    if status or not report:
        return [f"exit status {status}: {err}"]
    return (["cut short: " + err] if "cut short" in err else []) + \
        ([] if report["rows"] else ["the last child was not measured"])


def as_user():
    """Who has called sudo is told by it."""
    env = dict(os.environ, SUDO_UID=str(live.NOBODY))
    _, _, out, err = run_command(["sh", "-c", "id -u; id -g; id -u -r"], "--as-user", env=env)
    wrong = [] if out.split()[0::2] == [str(live.NOBODY)] * 2 else [f"ids {out.split()}: {err}"]
    env.pop("SUDO_UID")
    _, status, _, err = run_command(["true"], "--as-user", env=env)
    return wrong + ([] if status == 2 and "sudo" in err else [f"exit status {status}: {err}"])


def interrupted():
    """A signal for hbprof is one for the command, once; the report comes when that has ended."""
    script = ("import signal, sys, time\n"
              "got = []\n"
              "signal.signal(signal.SIGINT, lambda *a: got.append(1))\n"
              "print('READY', flush=True)\n"
              "end = time.time() + 30\n"
              "while not got and time.time() < end: time.sleep(0.01)\n"
              "time.sleep(0.3)\n"
              "print('GOT', len(got), flush=True)\n")
    path = os.path.join(tmp, "interrupted.hbp")
    p = start([HBPROF, "run", "-q", "-o", path, "--", sys.executable, "-c", script],
              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        lines = Lines(p.stdout, "the command")
        lines.until("^READY$")
        p.send_signal(signal.SIGINT)
        got = lines.until(r"^GOT (\d+)$")[1]
        p.wait(live.DEADLINE_S)
    finally:
        end(p)
    wrong = [] if got == "1" else [f"the command has got {got} signals"]
    return wrong + ([] if os.path.exists(path) else ["no capture was written"])


def main():
    go = os.path.exists(f"{WORK}/gojson_plain")
    test("of two processes of one program the one that is named is measured", one_of_two)
    if go:
        test("three processes of two programs are counted exactly, each", several)
    test("the report sums over processes, and splits by process", summed)
    for _ in range(4):
        seconds = random.Random(4).uniform(0, 0.3)
        test("of two processes one ends while hbprof attaches: the other is counted exactly",
             ends_while_attaching, seconds)
    test("100 processes of one program are counted exactly, each", many, 100)
    test("processes are found by name, one that starts later is measured from then on", by_name)
    if go:
        test("a process that is not there yet is waited for", waited_for)
    test("a process that ends while hbprof attaches does not end a recording by name",
         all_end_while_attaching)
    test("of what a named process forks and runs only what has the name, with --no-children",
         by_name_without_children)
    test("30 short processes are found by name, or said to have ended", short_ones_by_name, 30)
    test("a process in a container, whose file is deleted, is found by name", contained)
    root = cgroup2()
    sentence = "the processes of a cgroup and those below, and one that is moved there"
    if root and os.access(root, os.W_OK):
        test(sentence, by_cgroup, root)
    else:
        skip(sentence, "no cgroup2 that can be written to")
    test("a forked child is counted exactly from its own probes on", forked)
    test("children that call at once are told of, and their parent is counted exactly", fork_server, 20)
    test("in a container, what a command starts is measured", in_a_container)
    test("the recording ends with the last child", parent_ends)
    test("a process that becomes another program", becomes, C, "cJSON_Parse", 300)
    if go:
        test("a process that becomes a Go program", becomes, GO, "encoding/json.Marshal", 200)
    test("a process that becomes the same program again", becomes_itself)
    test("children that become another program while they are attached to", becomes_at_once, 20)
    test("a library that is loaded later is measured from then on, which is said", loaded_later)
    test("a library that is unloaded while it is looked at is counted when it comes again", come_again)
    test("a library is measured when it comes, and from its first call when it comes again", at_once)
    test("a library that is unloaded at once is counted, or said not to be", too_short)
    programs = [("cjson_work", "parse", "cJSON_Parse"), ("cjson_fixed", "parse", "cJSON_Parse")]
    programs += [(f"gojson_{x}", "marshal", "encoding/json.Marshal")
                 for x in ("plain", "pie", "staticpie", "stripped")]
    for program, mode, function in programs:
        if os.path.exists(f"{WORK}/{program}"):
            test(f"hbprof run: ten calls of {program} are ten", ten_calls, program, mode, function)
            test(f"hbprof run: the only call of {program} is counted", ten_calls, program, mode, function,
                 1)
    test("hbprof run: 50 short children are measured, or said to have ended", short_ones, 50)
    test("hbprof run: a script is its interpreter", ten_calls_of_a_script)
    test("hbprof run: the command has its own input and output", streams)
    test("hbprof run: exit statuses", statuses)
    test("hbprof run: hundreds of children that end at once", storm)
    test("hbprof run: as the user who has called sudo", as_user)
    test("hbprof run: a signal reaches the command once, and the capture is written", interrupted)
    live.done()


if __name__ == "__main__":
    main()
