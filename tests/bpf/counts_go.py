# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Go programs: every entry, call, error, byte and abandoned call, against the truth they print."""
import os
import re

from exact import Measured, Seen, check_exact, exact, parse_truth
from live import WORK, done, skip, test

JSON_MODES = [
    ("marshal", "-n 1000"),
    ("marshal", "-n 1000 -procs 1 -size tiny"),
    ("marshal", "-n 500 -procs 4 -g 4 -size device"),
    ("unmarshal", "-n 1000 -procs 3 -g 3"),
    ("indent", "-n 1000"),
    ("encoder", "-n 1000"),
    ("decoder", "-n 1000"),
    ("mixed", "-n 1000 -g 2"),
    ("decodeerr", "-n 999"),
    ("encodeerr", "-n 999"),
    ("spin", "-n 2000 -iters 300"),
    ("spinouter", "-n 1000 -iters 300 -own 100"),
    ("grow", "-n 4000"),
    ("recursion", "-n 200 -g 2"),
    ("panic", "-n 1000 -g 2"),
    ("block", "-n 200 -g 8"),
    ("goroutines", "-n 2"),
]
GC_MODES = [
    ("mixed", "-n 500 -g 4 -procs 4"),
    ("grow", "-n 1000"),
    ("recursion", "-n 100 -procs 3"),
    ("block", "-n 50 -g 8"),
]
CGO_MODES = [("callback", "-n 300 -g 2"), ("nested", "-n 300"), ("thread", "-n 300 -g 2")]
BUILDS = ["stripped", "pie", "staticpie", "nosect"]
BUILD_MODES = [("mixed", "-n 500"), ("spinouter", "-n 200 -iters 300"), ("grow", "-n 500")]
# Called by the codec, some without a frame of their own, some that allocate.
OTHERS = ["encoding/json.checkValid", "runtime.mallocgc", "runtime.memmove"]
PANICMIX_LEFT = 10  # entries a round that a panic ends: 1, 3, 1, 1 and 4


def under_gc(name, **kw):
    """The collector runs all the time, and often by itself: stacks are moved and scanned."""
    os.environ["GOGC"] = "5"
    try:
        return exact(name + " -gc", **kw)
    finally:
        del os.environ["GOGC"]


def with_other(name, function):
    """Its truth is not known, but that it is called, and that none of its calls is lost."""
    m = Measured(name, "--probe", function)
    wrong = check_exact(m.report, m.lines)
    f = Seen(m.report, function).f
    if not f["entries"] or f["entries"] != f["exits"] + f["in_flight_end"]:
        wrong.append(f"{function}: {f['entries']} entries, {f['exits']} exits")
    return m.judge(wrong)


def procs_told(build, want):
    """GOMAXPROCS, out of the program's memory; a stripped one does not say where it is."""
    m = Measured(f"{build} -mode marshal -n 200 -procs 3")
    got = m.report["host"].get("run_gomaxprocs")
    return m.judge([] if got and re.fullmatch(want, got) else [f"gomaxprocs is {got}"])


def callers_small(name):
    """Calls from places that nobody could know before: none is silently lost."""
    return exact(name, may_be_unknown=True)


def callers_learned(name):
    """Twelve places that call n times each: once they are found, none of their calls is lost."""
    m = Measured(name)
    wrong = check_exact(m.report, m.lines, may_be_unknown=True)
    c = m.report["coverage"]
    calls = sum(t["calls"] for t in parse_truth(m.lines).values())
    if not c["return_addresses_discovered"] and c["unknown_return_site"]:
        wrong.append("no return address was discovered")
    if c["unknown_return_site"] > calls // 4:
        wrong.append(f"{c['unknown_return_site']} of {calls} calls are still unknown")
    return m.judge(wrong)


def main():
    if not os.path.exists(f"{WORK}/gojson_plain"):
        skip("every call of a Go program is counted", "not built: no Go >= 1.22")
        done()
    for mode, flags in JSON_MODES:
        test(f"{mode} {flags}: counted exactly", exact, f"gojson_plain -mode {mode} {flags}")
    for mode, flags in GC_MODES:
        test(f"{mode} {flags}: counted exactly while the garbage collector runs", under_gc,
             f"gojson_plain -mode {mode} {flags}")
    test("panicmix -n 200 -g 2: counted exactly", exact, "gojson_plain -mode panicmix -n 200 -g 2",
         left=400 * PANICMIX_LEFT)
    test("panicmix -n 100: counted exactly while the garbage collector runs", under_gc,
         "gojson_plain -mode panicmix -n 100", left=100 * PANICMIX_LEFT)
    test("goexit -n 999: counted exactly, and no dead goroutine's call is in flight", exact,
         "gojson_plain -mode goexit -n 999", in_flight=0)
    for function in OTHERS:
        test(f"calls of {function} are counted, and the codec's around them exactly", with_other,
             "gojson_plain -mode mixed -n 200 -g 2", function)
    for mode, flags in CGO_MODES:
        test(f"cgo {mode} {flags}: counted exactly", exact, f"gocgo -mode {mode} {flags}")
    for build in BUILDS:
        for mode, flags in BUILD_MODES:
            test(f"{build} {mode} {flags}: counted exactly", exact,
                 f"gojson_{build} -mode {mode} {flags}")
        test(f"{build} panicmix -n 50: counted exactly", exact,
             f"gojson_{build} -mode panicmix -n 50", left=50 * PANICMIX_LEFT)
    test("GOMAXPROCS of a program is a fact of the recording", procs_told, "gojson_plain", "3")
    test("GOMAXPROCS of a stripped program is n/a", procs_told, "gojson_stripped", "n/a .*")
    test("callers -n 20: an unknown return site is counted as such", callers_small,
         "gojson_plain -mode callers -n 20")
    test("callers -n 20000: return sites are found while the program runs", callers_learned,
         "gojson_plain -mode callers -n 20000")
    done()


if __name__ == "__main__":
    main()
