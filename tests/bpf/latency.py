# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Latencies against those that the same program measures without probes. This is no benchmark: the
bounds are wide, and the machine may be busy, so a test is tried again before it has failed.
"""
import os

from exact import Seen, check_exact, latency, probe_options
from live import WORK, Broken, Hbprof, Workload, done, skip, test, unprobed

TRIES = 4
LONG_NS = 20000
WITHIN = 0.05


def iterations(program, mode):
    """How many make a call of LONG_NS, found by the workload's own calibration."""
    for line in unprobed(f"{program} -mode {mode} -n 1 -ns {LONG_NS}"):
        if line.startswith("SPIN iters="):
            return int(line.split("=")[1])
    raise Broken("no SPIN line")


def measured(name):
    """The report, and the lines that the program printed with the probes in it."""
    with Workload(name) as w, Hbprof(w.pid, *probe_options(unprobed(name))) as h:
        h.wait_measuring()
        w.run()
        return h.report(), w.lines.seen


def p50(report, function, which="latency"):
    return Seen(report, function).rows[0][which]["p50_ns"]


def near(what, got, want, within):
    if abs(got - want) <= within:
        return []
    return [f"{what}: {got:.0f} ns, {want:.0f} ns without probes"]


def tried(attempt, *args):
    """What was wrong in every one of the tries."""
    wrong = []
    for _ in range(TRIES):
        now = attempt(*args)
        if not now:
            return []
        wrong += now
    return wrong


def spin(name, functions):
    """The P50 that hbprof corrects for its own probes is the one without them."""
    plain = unprobed(name)
    report, lines = measured(name)
    wrong = check_exact(report, lines)
    for f in functions:
        want = latency(plain, f, "p50")
        wrong += near(f, p50(report, f), want, WITHIN * want)
    return wrong


def outer(iters):
    """Outer's own time is what it takes itself, not the two Spins, nor the probes on them."""
    long = unprobed(f"gojson_plain -mode spin -n 1000 -iters {iters}")
    name = f"gojson_plain -mode spinouter -n 1000 -iters {iters} -own {iters}"
    whole = latency(unprobed(name), "main.Outer", "p50")
    own = whole - 2 * latency(long, "main.Spin", "p50")
    report, lines = measured(name)
    wrong = check_exact(report, lines)
    wrong += near("main.Outer with all", p50(report, "main.Outer"), whole, WITHIN * whole)
    wrong += near("main.Outer alone", p50(report, "main.Outer", "exclusive"), own, WITHIN * whole)
    return wrong


def sleeps():
    """Calls that sleep or wait for others: the program sees the same in the very same run, in which
    microseconds of probes are little beside the milliseconds slept."""
    name = "gojson_plain -mode block -n 50 -g 2 -ns 4000000"
    report, lines = measured(name)
    lat = Seen(report, "encoding/json.Marshal").rows[0]["latency"]
    wrong = check_exact(report, lines)
    for ours, theirs in (("mean_ns", "mean"), ("max_ns", "max")):
        want = latency(lines, "encoding/json.Marshal", theirs)
        if want < 1e6:
            wrong.append(f"{theirs} {want:.0f} ns: nothing has slept")
        wrong += near(f"encoding/json.Marshal {theirs}", lat[ours], want, WITHIN * want)
    return wrong


def main():
    iters = iterations("spin", "spin")
    test("C functions of 20 us have the P50 that they have without probes", tried, spin,
         f"spin -mode spin -n 1000 -iters {iters}", ["spin_push", "spin_endbr", "spin_lea"])
    if not os.path.exists(f"{WORK}/gojson_plain"):
        skip("Go functions have the P50 that they have without probes", "no Go >= 1.22")
        done()
    iters = iterations("gojson_plain", "spin")
    test("a Go function of 20 us has the P50 that it has without probes", tried, spin,
         f"gojson_plain -mode spin -n 1000 -iters {iters}", ["main.Spin"])
    test("a function's exclusive time is without the probed calls inside", tried, outer, iters)
    test("a call that blocks is as long as the program sees it", tried, sleeps)
    done()


if __name__ == "__main__":
    main()
