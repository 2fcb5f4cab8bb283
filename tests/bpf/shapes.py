# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Functions and calls in shapes that optimizing compilers and assembly give them."""
import os
import re

from exact import exact, latency
from latency import measured, p50, tried
from live import HBPROF, WORK, Hbprof, Workload, done, run, skip, test, unprobed

SHORT_NS = 8000  # a copy of 512 KB takes several times that


def copy_after():
    report, _ = measured("shapes -mode repafter -n 2000")
    got = p50(report, "small")
    return [] if got < SHORT_NS else [f"small: {got} ns with the copy behind it"]


def fill_at_entry():
    name = "shapes -mode repentry -n 2000"
    want = latency(unprobed(name), "filled", "p50")
    report, _ = measured(name)
    got = p50(report, "filled")
    return [] if want / 2 < got < want * 2 else [f"filled: {got} ns, {want} ns without probes"]


def warned(workload, options, *patterns, table=None):
    """What is missing among the warnings, or in the table."""
    with Workload(workload) as w, Hbprof(w.pid, *options, out="table" if table else "json") as h:
        h.wait_measuring()
        w.run()
        if table:
            status, out, err = h.stop()
            return [] if not status and re.search(table, out) else [out, err]
        report = h.report()
    seen = report["warnings"] + [str(r["note"]) for r in report["rows"]]
    return [f"nothing like '{p}' in {seen}" for p in patterns
            if not any(re.search(p, s) for s in seen)]


def not_found(workload, name, pattern):
    with Workload(workload) as w:
        r = run([HBPROF, "--pid", str(w.pid), "--probe", name])
        if r.returncode == 3 and re.search(pattern, r.stderr) and len(r.stderr) < 1000:
            return []
        return [f"exit status {r.returncode}: {r.stderr[:2000]}"]


PARTS = "shapes -mode parts -n 100"
INLINE = "goasm -mode inline -n 100"


def names():
    test("shapes clones: the compiler's copies are calls of the function", exact,
         "shapes -mode clones -n 1000")
    test("a copy is said to be one", warned, "shapes -mode clones -n 10", ["--probe", "whole"],
         "copy whole.constprop.0")
    test("a function that is inlined in part is said to be", warned, PARTS, ["--probe", "half"],
         r"half is inlined in part \(the rest is half.part.0\)")
    test("another name of the same code is said, when both are asked for", warned, PARTS,
         ["--probe", "named", "--probe", "named_again"], "named_again is the same code as named")
    test("and when one is", warned, PARTS, ["--probe", "named"], "calls as named_again are among")
    test("a function that is not called has 0 calls", warned, PARTS,
         ["--probe", "unused", "--probe", "half"], table=r"calls +0 of unused")
    test("a name of any length is cut in the message", not_found, PARTS, "x" * 100000, r"xxx\.\.\.'")


def inlined():
    test("a Go function that is also inlined is said to be", warned, INLINE,
         ["--probe", "main.twice"], "main.twice is also inlined at 1 place:")
    test("one that is inlined everywhere is said to be", not_found, INLINE, "main.once",
         "main.once.*no code of its own.*1 place")


def main():
    test("a copy behind a call is not the callee's time", tried, copy_after)
    test("what an entry block fills is the call's time", tried, fill_at_entry)
    for mode in ("repafter", "repentry"):
        test(f"shapes {mode}: counted exactly", exact, f"shapes -mode {mode} -n 1000")
    names()
    sentence = "goasm sum: assembly that uses the goroutine's register is counted exactly"
    if os.path.exists(f"{WORK}/goasm"):
        test(sentence, exact, "goasm -mode sum -n 1000")
        inlined()
    else:
        skip(sentence, "not built: no Go >= 1.22, or not x86-64")
    done()


if __name__ == "__main__":
    main()
