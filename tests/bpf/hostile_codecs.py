# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Five codecs in one Go program while the garbage collector runs, goroutines come and go and panics leave
calls: counts are exact, and what hbprof does, or what becomes of it, leaves the program with its own
code and its own results. The program checks these itself, and ends with an error if one is wrong.
"""
import os
import random
import subprocess
import time

from exact import Measured, check_balance, check_exact
from harm import unharmed
from live import WORK, Hbprof, Workload, done, ok, skip, test

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
        return target_ends_well(w, wrong)


def balanced(w):
    with Hbprof(w.pid, "--no-stacks", "-d", f"{30 + random.randrange(60)}ms") as h:
        report = h.report(0)
    wrong = check_balance(report)
    if report["coverage"]["dropped"]:
        wrong.append(f"{report['coverage']['dropped']} dropped: {report['coverage']['drops']}")
    return wrong + ([] if report["coverage"]["entries"] else ["no call was seen"])


def killed_often():
    """From before its first probe until long after the last one; times from a fixed seed."""
    rnd, wrong = random.Random(3), []
    with Workload(f"{PROGRAM} -mode endless -gc -procs 4") as w:
        w.go()
        for i in range(KILLS):
            seconds = rnd.uniform(0, 0.5)
            with Hbprof(w.pid, "--no-stacks") as h:
                time.sleep(seconds)
                h.p.kill()
                h.wait()
            wrong += [f"killed {1000 * seconds:.0f} ms after its start: {x}" for x in unharmed(w)]
        wrong += [f"after {KILLS} kills: {x}" for x in balanced(w)]
        return target_ends_well(w, wrong)


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
