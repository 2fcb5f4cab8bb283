# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Calls that leave their CPU, on QEMU's arm64 machine with two of them: with --sched they keep their
counters, which hold nothing of what others do meanwhile; without it they have none, and are counted.
Truth is what the program counts of its own thread, and calls of the same work that stay.
"""
import json
import os
import sys

import vm
from itself import ARM64, near, row, said

sys.path.insert(0, f"{vm.HERE}/../bpf")
from live import done, ok, skip, test, tmp  # noqa: E402

PROGRAMS = ("hbprof", "workload/counted", "workload/gojson_stripped")
CALLS = 60
C = f"--probe counted_switch --no-stacks' counted -mode switch -n {CALLS}"
GO = f"--no-stacks' gojson_stripped -mode counted -n {CALLS} -rate 1000 -size order"
# While the calls are made, as many processes as there are CPUs never sleep.
SCRIPT = f"""
burn() {{
    until grep -q measuring "/out/$1.err" 2>/dev/null; do sleep 0.05; done
    until grep -q DONE "/out/$1.lines"; do
        i=0
        while [ $i -lt 5000 ]; do i=$((i + 1)); done
    done
}}
contended() {{
    burn "$1" & one=$!
    burn "$1" & two=$!
    measure "$@"
    kill $one $two 2>/dev/null
}}
contended kept '--counters=instructions,context-switches --sched {C}
contended lost '--counters=instructions,context-switches {C}
contended go '--counters=instructions,context-switches --sched {GO}
exit 0
"""


def lost_of(m, name):
    return json.loads(m.text(f"{name}.json"))["counters"]["without"]


def kept(m):
    """A quarter of the calls leave the CPU for certain, as they sleep; others move, or are preempted."""
    counters = row(m, "kept")["counters"]
    c, own = counters["instructions"], said(m, "kept")["sum"] / CALLS
    text = f"{c}, {counters['context-switches']}; by the program itself {own} a call"
    print(f"# with --sched: {text}")
    wrong = [] if c["calls"] == CALLS and near(c["mean"], own) else [text]
    if not near(c["mean"], c["min"]):
        wrong.append(f"calls that left the CPU are not like the one that did least: {text}")
    if counters["context-switches"]["sum"] < CALLS / 4:
        wrong.append(f"hardly a call has left its CPU: {text}")
    return wrong + [f"{k}: {v}" for k, v in lost_of(m, "kept").items() if v]


def left_out(m):
    c, lost = row(m, "lost")["counters"]["instructions"], lost_of(m, "lost")
    text = f"{c}, {lost}"
    print(f"# without: {text}")
    if c["calls"] + lost["context_switch"] != CALLS or lost["context_switch"] < CALLS / 4:
        return [text]
    return [] if near(c["mean"], said(m, "lost")["sum"] / CALLS) else [text]


def goroutine(m):
    """A goroutine that is stopped after ten milliseconds, by the clock, has left its thread."""
    c, own, lost = row(m, "go")["counters"]["instructions"], said(m, "go"), lost_of(m, "go")
    text = f"{c}, {lost}, by the program itself {own}"
    print(f"# Go: {text}")
    if c["calls"] + lost["goroutine_switch"] != CALLS or not near(c["mean"], own["sum"] / CALLS):
        return [text]
    return []


def main():
    if not all(os.path.exists(f"{ARM64}/{p}") for p in PROGRAMS):
        skip("calls that leave their CPU, on an arm64 machine", "not built: make build-arm64")
        done()
    try:
        m = vm.Machine(tmp, [f"{ARM64}/{p}" for p in PROGRAMS], SCRIPT, arch="arm64", cpus=2)
        wrong = m.run(vm.kernel("bookworm", "arm64"))
    except vm.Missing as e:
        print(f"1..0 # SKIP {e}")
        sys.exit(0)
    print(f"# {m.seconds:.1f} s")
    ok(not wrong, "the machine starts, runs the test, and ends", wrong)
    test("with --sched, calls that leave their CPU have the instructions of those that stay", kept, m)
    test("without it they have none, and are counted", left_out, m)
    test("json.Marshal keeps its instructions while its goroutine stays on the thread", goroutine, m)
    done()


if __name__ == "__main__":
    main()
