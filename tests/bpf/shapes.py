# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Functions and calls in shapes that optimizing compilers and assembly give them."""
import os

from exact import exact, latency
from latency import measured, p50, tried
from live import WORK, done, skip, test, unprobed

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


def main():
    test("a copy behind a call is not the callee's time", tried, copy_after)
    test("what an entry block fills is the call's time", tried, fill_at_entry)
    for mode in ("repafter", "repentry"):
        test(f"shapes {mode}: counted exactly", exact, f"shapes -mode {mode} -n 1000")
    sentence = "goasm sum: assembly that uses the goroutine's register is counted exactly"
    if os.path.exists(f"{WORK}/goasm"):
        test(sentence, exact, "goasm -mode sum -n 1000")
    else:
        skip(sentence, "not built: no Go >= 1.22, or not x86-64")
    done()


if __name__ == "__main__":
    main()
