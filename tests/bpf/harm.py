# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What may happen while hbprof is attached: its own sudden death, the target's, an exec, a fork,
other copies of the program. The target goes on as before, with its own code, and hbprof ends with a
clear word.
"""
import os
import random
import shutil
import signal
import sys
import time

from exact import check_balance, check_exact, probe_options
from live import (DEADLINE_S, WORK, Broken, Hbprof, Workload, done, parse_report, skip, test,
                  text_changes, tmp, unprobed, wait_running, wait_text_original)

RESTORE_S = 1  # after the death of hbprof
BUSY = "gojson_plain -mode mixed -n 1000000000 -g 2 -size tiny"
NEVER_ENDS = "cjson_work -mode parse -n 1000000000"


def busy():
    """The target of these tests: it calls without an end."""
    return BUSY if os.path.exists(f"{WORK}/gojson_plain") else NEVER_ENDS


def unharmed(w, seconds=RESTORE_S):
    wrong = [f"the code was not restored: {c}" for c in wait_text_original(w.pid, seconds)]
    if not w.alive():
        return wrong + [f"the target has ended: {w.p.returncode}"]
    if not wait_running(w.pid):
        wrong.append("the target does not run any more")
    return wrong


def measures(w):
    """A short recording of a target that calls all the time works: what was in flight when it began
    or ended is neither lost nor left for dead."""
    for duration in ("100ms", "2s"):  # a busy machine may let the target wait for all of the first
        with Hbprof(w.pid, "-d", duration) as h:
            report = h.report(0)
        if report["coverage"]["exits"]:
            break
    c, wrong = report["coverage"], check_balance(report)
    wrong += [f"{k}: {c[k]}" for k in ("abandoned", "unknown_return_site", "dropped") if c[k]]
    if c["in_flight_end"] > 4:
        wrong.append(f"{c['in_flight_end']} in flight at the end")
    if not c["exits"]:
        wrong.append("no call was measured")
    if report["stop_reason"] != "duration":
        wrong.append(f"stop reason {report['stop_reason']}")
    return wrong


# ---- the end of hbprof ----------------------------------------------------------------------

def killed_at(w, seconds, recording):
    with Hbprof(w.pid) as h:
        if recording:
            h.wait_measuring()
        time.sleep(seconds)
        was_running = h.p.poll() is None
        h.p.kill()
        h.wait()
    return unharmed(w) + ([] if was_running else ["hbprof had ended before"])


def keeper_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        for child in f.read().split():
            with open(f"/proc/{child}/comm") as comm:
                if comm.read() == "hbprof-keeper\n":
                    return int(child)
    raise Broken(f"hbprof {pid} has no process that holds the probes")


def keeper_stopped(w, sig):
    with Hbprof(w.pid) as h:
        h.wait_measuring()
        os.kill(keeper_of(h.p.pid), signal.SIGSTOP)
        status, _, err = h.stop(sig)
    wrong = unharmed(w)
    return wrong if status in (0, -signal.SIGKILL) else wrong + [f"exit status {status}: {err}"]


def test_kills(w):
    """Times from a fixed seed: a failure can be tried again."""
    rnd = random.Random(1)
    for i in range(10):
        recording = i % 2 == 1
        seconds = rnd.uniform(0, 0.3)
        when = f"{seconds * 1000:.0f} ms after {'recording began' if recording else 'its start'}"
        test(f"SIGKILL of hbprof {when} leaves the target running with its own code",
             killed_at, w, seconds, recording)
    test("hbprof ends though the process that holds its probes was stopped",
         keeper_stopped, w, signal.SIGINT)
    test("SIGKILL of hbprof while that process is stopped leaves the target its own code",
         keeper_stopped, w, signal.SIGKILL)
    test("hbprof works after ten of it were killed", measures, w)


def again_and_again(name):
    wrong = []
    os.environ["GOGC"] = "5"
    try:
        w = Workload(name)
    finally:
        del os.environ["GOGC"]
    with w:
        w.go()
        for i in range(20):
            wrong += [f"round {i}: {x}" for x in measures(w) + unharmed(w)]
    return wrong


# ---- the end of the target ------------------------------------------------------------------

def check_gone(status, out, err, pid, reason):
    """Either a report, or a line that says why there is none."""
    if status == 0:
        report = parse_report(status, out, err)
        wrong = check_balance(report)
        if report["stop_reason"] != reason:
            wrong.append(f"stop reason {report['stop_reason']}")
        return wrong
    if status != 3 or f"process {pid}" not in err:
        return [f"exit status {status}, {err!r}"]
    return []


def target_killed_at(seconds):
    with Workload(busy()) as w:
        w.go()
        with Hbprof(w.pid) as h:
            time.sleep(seconds)
            w.p.kill()
            w.p.wait()
            return check_gone(*h.wait(), w.pid, "target exited")


def target_killed_while_recording():
    with Workload(busy()) as w:
        with Hbprof(w.pid) as h:
            h.wait_measuring()
            w.go()
            time.sleep(0.3)
            w.p.kill()
            w.p.wait()
            report = h.report(0)
    wrong = check_balance(report)
    if report["stop_reason"] != "target exited":
        wrong.append(f"stop reason {report['stop_reason']}")
    if not report["coverage"]["exits"]:
        wrong.append("nothing was measured")
    if not report["targets"][0]["end"]:
        wrong.append("the report does not say that the target has ended")
    return wrong


def target_ends_while_recording(name):
    """By itself, with every call made before: they are all in the report."""
    with Workload(name) as w, Hbprof(w.pid) as h:
        h.wait_measuring()
        w.run()
        wrong = [f"exit status {w.p.returncode}"] if w.finish() else []
        report = h.report(0)
        if report["stop_reason"] != "target exited":
            wrong.append(f"stop reason {report['stop_reason']}")
        return wrong + check_exact(report, w.lines.seen)


# ---- another program in the target ----------------------------------------------------------

# A Python that calls cJSON, and then becomes another program.
EXEC = """
import ctypes, os, sys, time
c = ctypes.CDLL("libcjson.so.1")
c.cJSON_Parse.restype = ctypes.c_void_p
c.cJSON_Delete.argtypes = [ctypes.c_void_p]
print("PID", os.getpid()); print("READY", flush=True)
sys.stdin.readline()
for i in range(200):
    c.cJSON_Delete(c.cJSON_Parse(b"[1,2,3]"))
    time.sleep(0.005)
print("DONE", flush=True)
sys.stdin.readline()
os.execv("/bin/sleep", ["sleep", "1000"])
"""


def exec_while_recording():
    w = Workload("a Python with cJSON", [sys.executable, "-c", EXEC])
    with w, Hbprof(w.pid) as h:
        h.wait_measuring()
        w.run()
        w.newline()
        deadline = time.monotonic() + DEADLINE_S
        while os.path.basename(os.readlink(f"/proc/{w.pid}/exe")).startswith("python"):
            if time.monotonic() > deadline:
                raise Broken("no exec")
            time.sleep(0.01)
        time.sleep(0.1)
        if h.p.poll() is None:
            h.p.send_signal(signal.SIGINT)
        report = h.report(0)
        f = [x for x in report["functions"] if x["function"] == "cJSON_Parse"][0]
        wrong = check_balance(report) + text_changes(w.pid)
        if f["entries"] != 200:
            wrong.append(f"{f['entries']} entries of cJSON_Parse, not 200")
        if f["exits"] + f["unknown_return_site"] != 200 or f["exits"] < 100:
            wrong.append(f"exits {f['exits']}, unknown {f['unknown_return_site']} of 200")
        if not w.alive():
            wrong.append("the next program has died")
        return wrong


def only_the_one(name):
    """Two copies of one program, one is measured: all of its calls and none of the other's."""
    with Workload(name) as one, Workload(name) as other, Hbprof(one.pid) as h:
        h.wait_measuring()
        other.go()
        one.run()
        other.lines.until("^DONE$")
        wrong = check_exact(h.report(), one.lines.seen)
        for w in (one, other):
            wrong += text_changes(w.pid)
            if w.finish():
                wrong.append(f"{w.pid}: exit status {w.p.returncode}")
        return wrong


def two_at_once(name):
    """Two hbprofs on one process see the same calls, and the first to go harms neither."""
    with Workload(name) as w, Hbprof(w.pid) as one, Hbprof(w.pid) as two:
        one.wait_measuring()
        two.wait_measuring()
        w.run()
        wrong = check_exact(one.report(), w.lines.seen) + check_exact(two.report(), w.lines.seen)
        return wrong + text_changes(w.pid)


# ---- targets in odd states ------------------------------------------------------------------

FORK = EXEC.split("for i")[0] + """
def calls(n):
    for i in range(n):
        c.cJSON_Delete(c.cJSON_Parse(b"[1,2,3]"))
        time.sleep(0.001)
calls(100)
parent = os.getpid()
child = os.fork()
calls(100)
while not child:
    time.sleep(0.05)
    if os.getppid() != parent:
        os._exit(0)
print("CHILD", child, flush=True)
print("DONE", flush=True)
sys.stdin.readline()
os.kill(child, 9)
"""


def forked_child():
    """A child gets the probes with the code: it is not counted, and gets its own code back."""
    with Workload("a Python with cJSON", [sys.executable, "-c", FORK]) as w, \
            Hbprof(w.pid, "--no-children") as h:
        h.wait_measuring()
        w.go()
        child = int(w.lines.until(r"^CHILD (\d+)$")[1])
        w.lines.until("^DONE$")
        report = h.report()
        wrong = check_balance(report) + text_changes(w.pid) + text_changes(child)
        f = [x for x in report["functions"] if x["function"] == "cJSON_Parse"][0]
        if f["entries"] != 200:
            wrong.append(f"{f['entries']} entries of cJSON_Parse, not 200")
        if w.finish():
            wrong.append(f"exit status {w.p.returncode}")
        return wrong


def stopped():
    """hbprof does not wait for a target that stands still."""
    with Workload(busy()) as w:
        w.go()
        w.p.send_signal(signal.SIGSTOP)
        with Hbprof(w.pid, "-d", "300ms") as h:
            report = h.report(0)
        w.p.send_signal(signal.SIGCONT)
        calls = report["coverage"]["exits"]
        return check_balance(report) + unharmed(w) + ([f"{calls} calls"] if calls else [])


def executable(name, replaced):
    """The file that is mapped counts, not the one of that name, if there is one."""
    words = name.split()
    path = os.path.join(tmp, "copy")
    shutil.copy(f"{WORK}/{words[0]}", path)
    with Workload(name, [path] + words[1:]) as w:
        os.unlink(path)
        if replaced:
            shutil.copy("/bin/true", path)
        with Hbprof(w.pid, *probe_options(unprobed(name))) as h:
            h.wait_measuring()
            w.run()
            wrong = check_exact(h.report(), w.lines.seen)
        return wrong + ([f"exit status {w.p.returncode}"] if w.finish() else [])


def contained(name):
    """A program with a process id and a file system of its own, as in a container."""
    words = name.split()
    inside = f"mount -t tmpfs none /mnt && cp {WORK}/{words[0]} /mnt && exec /mnt/{name}"
    argv = ["unshare", "--pid", "--fork", "--kill-child", "--mount", "sh", "-c", inside]
    with Workload(name, argv) as w:
        if w.pid != 1:
            return [f"it has the process id {w.pid}"]
        with open(f"/proc/{w.p.pid}/task/{w.p.pid}/children") as f:
            pid = f.read().split()[0]
        with Hbprof(pid, *probe_options(unprobed(name))) as h:
            h.wait_measuring()
            w.run()
            wrong = check_exact(h.report(), w.lines.seen)
        return wrong + ([f"exit status {w.p.returncode}"] if w.finish() else [])


def test_states():
    spin = "spin -mode spin -n 500 -iters 100"
    test("a forked child is not counted with --no-children, and nothing is left in it", forked_child)
    test("a target that is stopped is attached to, and left, all the same", stopped)
    test("a program whose file was deleted is measured", executable, spin, False)
    test("a program whose file was replaced is measured", executable, spin, True)
    test("a program in namespaces of its own is measured from outside", contained, spin)


def main():
    go = os.path.exists(f"{WORK}/gojson_plain")
    counted = "gojson_plain -mode mixed -n 500" if go else "spin -mode spin -n 500 -iters 100"
    with Workload(busy()) as w:
        w.go()
        test_kills(w)
    if go:
        test("attached and detached 20 times while the garbage collector runs", again_and_again,
             "gojson_plain -mode mixed -n 1000000000 -g 2 -gc")
    else:
        skip("attached and detached 20 times while the garbage collector runs", "no Go >= 1.22")
    rnd = random.Random(2)
    for _ in range(10):
        seconds = rnd.uniform(0, 0.25)
        test(f"a target that is killed {seconds * 1000:.0f} ms after hbprof's start is reported",
             target_killed_at, seconds)
    test("a target that is killed while recording leaves a report", target_killed_while_recording)
    if go:
        test("a target that ends while recording leaves a complete report",
             target_ends_while_recording, counted)
        test("another copy of the program is not counted", only_the_one, counted)
        test("two recordings of one process both count exactly", two_at_once, counted)
    test_states()
    test("a target that becomes another program is counted until then", exec_while_recording)
    done()


if __name__ == "__main__":
    main()
