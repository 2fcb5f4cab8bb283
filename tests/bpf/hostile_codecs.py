# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Five codecs in one Go program while the garbage collector runs, goroutines come and go and panics leave
calls: counts are exact, and what hbprof does, or what becomes of it, leaves the program with its own
code and its own results. The program checks these itself, and ends with an error if one is wrong.
"""
import os
import random
import signal
import subprocess
import time

from exact import Measured, check_balance, check_exact
from harm import unharmed
from live import WORK, Hbprof, Workload, done, ok, skip, test, text_changes

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(WORK, "codecs")
PROGRAM = "codecs/gocodecs_quick"
ATTACHES = int(os.environ.get("HB_ATTACHES", "12"))
KILLS = int(os.environ.get("HB_KILLS", "8"))
IN_FLIGHT = 30000


def build():
    """What went wrong; nothing if nothing has."""
    p = subprocess.run([f"{HERE}/../workload/codecs.sh", OUT, "quick"], stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900)
    return p.stdout.decode() if p.returncode else ""


def stormed(procs):
    """Of a codec that is called through an interface the first call's return site is not known."""
    m = Measured(f"{PROGRAM} -mode storm -n 150 -procs {procs} -gc", "--no-stacks")
    return m.judge(check_exact(m.report, m.lines, may_be_unknown=True))


def in_flight():
    """Each of the goroutines is a task of its own, with an open call."""
    m = Measured(f"{PROGRAM} -mode inflight -n 2 -gc", "--no-stacks")
    return m.judge(check_exact(m.report, m.lines, may_be_unknown=True))


def target_ends_well(w, wrong):
    """It prints its own truth, and found no result that is wrong."""
    w.newline()
    w.lines.until("^DONE$")
    return wrong + ([f"exit status {w.p.returncode}"] if w.finish() else [])


def attached_often():
    wrong = []
    with Workload(f"{PROGRAM} -mode endless -gc -procs 4") as w:
        w.go()
        for i in range(ATTACHES):
            wrong += [f"round {i}: {x}" for x in balanced(w) + unharmed(w)]
        wrong += measured_at_last(w)
        return target_ends_well(w, wrong)


def balanced(w):
    """A short recording; on a busy machine the target may not have run in it."""
    with Hbprof(w.pid, "--no-stacks", "-d", f"{30 + random.randrange(60)}ms") as h:
        report = h.report(0)
    wrong = check_balance(report)
    if report["coverage"]["dropped"]:
        wrong.append(f"{report['coverage']['dropped']} dropped: {report['coverage']['drops']}")
    return wrong


def measured_at_last(w):
    """After all that the calls are there."""
    with Hbprof(w.pid, "--no-stacks", "-d", "2s") as h:
        report = h.report(0)
    return check_balance(report) + ([] if report["coverage"]["exits"] else ["no call was measured"])


def killed_often():
    """Every second time at a random moment, else while it attaches: a task that is being killed cannot take
    its own probes off. Times from a fixed seed."""
    rnd, wrong = random.Random(3), []
    with Workload(f"{PROGRAM} -mode endless -gc -procs 4") as w:
        w.go()
        for i in range(KILLS):
            since, seconds = ("its start", 0.5) if i % 2 == 0 else ("calibrating", 0.02)
            seconds = rnd.uniform(0, seconds)
            with Hbprof(w.pid, "--no-stacks", "-vv") as h:
                if since == "calibrating":
                    h.err.until("calibrated in")
                time.sleep(seconds)
                h.p.kill()
                h.wait()
            wrong += [f"killed {1000 * seconds:.1f} ms after {since}: {x}" for x in unharmed(w)]
        wrong += [f"after {KILLS} kills: {x}" for x in balanced(w)]
        wrong += measured_at_last(w)
        return target_ends_well(w, wrong)


def keeper_killed():
    """The process that holds the links for hbprof is not the only one that does."""
    with Workload(f"{PROGRAM} -mode storm -n 100") as w, Hbprof(w.pid, "--no-stacks") as h:
        h.wait_measuring()
        with open(f"/proc/{h.p.pid}/task/{h.p.pid}/children") as f:
            children = [int(pid) for pid in f.read().split()]
        for pid in children:
            os.kill(pid, signal.SIGKILL)
        w.run()
        wrong = check_exact(h.report(), w.lines.seen, may_be_unknown=True)
        if len(children) != 1:
            wrong.append(f"hbprof has {len(children)} children")
        return wrong + unharmed_code(w)


def unharmed_code(w):
    wrong = text_changes(w.pid)
    return wrong + ([f"exit status {w.p.returncode}"] if w.finish() else [])


def main():
    failed = build()
    if failed and os.environ.get("HB_CI") == "1":
        ok(False, "the program with five codecs builds", failed)
    tests = [(f"five codecs, panics and the garbage collector count exactly with GOMAXPROCS {n}",
              stormed, n) for n in (1, 2, 3, 4)]
    tests += [
        (f"{IN_FLIGHT} calls of four codecs in flight at once are all counted", in_flight),
        (f"attached and detached {ATTACHES} times, a program keeps its code and its results",
         attached_often),
        ("SIGKILL of the process that holds the links costs no call", keeper_killed),
        (f"{KILLS} times SIGKILL of hbprof leave a program its code and its results", killed_often),
    ]
    for sentence, body, *args in tests:
        if failed:
            skip(sentence, failed.splitlines()[-1])
        else:
            test(sentence, body, *args)
    done()


if __name__ == "__main__":
    main()
