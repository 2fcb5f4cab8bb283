# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What counters of a CPU add to a call and to a context switch, where there are such counters: on QEMU's
arm64 machine, whose time is the number of instructions (2 ns each). So these are lengths of code, the same in
each run, and no times of any hardware.
"""
import os
import sys
import tempfile

from live import Broken
from measure import field, say, table

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vm"))
import vm  # noqa: E402

LIMIT_S = 900
ARM64 = os.environ.get("HB_ARM64", "")
# Cycles and instructions are all that this CPU counts: r11 and r8 are the same two again.
TWO, FOUR = "--counters=cycles,instructions", "--counters=cycles,instructions,r11,r8"
MARSHAL = "gojson_stripped -mode marshal -n 400 -rate 2000 -size tiny"
CALLS = {
    "none": "--counters=none",
    "page-faults,context-switches": "--counters=page-faults,context-switches",
    "one event": "--counters=instructions",
    "two events": TWO,
    "four events": FOUR,
    "four events and --sched": f"{FOUR} --sched",
}
SWITCHES = "switches -n 20 -iters 640"
# Of threads that have been in no call, events are not read.
SCHED = {
    "none": "--counters=none",
    "--sched": "--counters=none --sched",
    "--sched, two events": f"{TWO} --sched",
    "--sched, four events": f"{FOUR} --sched",
}


def machine(programs, script):
    with tempfile.TemporaryDirectory(prefix="hbprof-bench.") as folder:
        m = vm.Machine(folder, [f"{ARM64}/{p}" for p in programs], script + "exit 0\n", arch="arm64")
        wrong = m.run(vm.kernel("bookworm", "arm64"), LIMIT_S)
        if wrong:
            raise Broken(wrong)
        return {f: m.text(f).splitlines() for f in os.listdir(m.out) if f.endswith(".lines")}


def measures(name, sets, options, workload):
    """Of one run each, as name0, name1, ..."""
    return "".join(f"measure {name}{i} '{o} {options} --no-stacks' {workload}\n"
                   for i, o in enumerate(sets.values()))


def calls():
    script = f"{MARSHAL} -nowait >/out/bare.lines\n" + measures("call", CALLS, "", MARSHAL)
    lines = machine(["hbprof", "workload/gojson_stripped"], script)

    def p50(name):
        return float(field(lines[f"{name}.lines"], r"LATENCY \S+ .* p50=(\S+)")[1])

    base = p50("call0")
    yield ["without probes", f"{p50('bare'):,.0f}", "", ""]
    for i, name in enumerate(CALLS):
        ns = p50(f"call{i}")
        yield [f"`{name}`", f"{ns:,.0f}", f"{ns - base:,.0f}", f"{(ns - base) / 2:,.0f}"]


def switches():
    probe = "--probe=switches_call"
    sets = {"other": dict(list(SCHED.items())[:2]), "called": SCHED}
    script = f"{SWITCHES} -nowait >/out/bare.lines\n" + "".join(
        measures(mode, s, probe, f"{SWITCHES} -mode {mode}") for mode, s in sets.items())
    lines = machine(["hbprof", "workload/switches"], script)

    def least(name):
        return float(field(lines[f"{name}.lines"], r"SWITCH \S+ min=(\S+)")[1])

    yield ["without hbprof", f"{least('bare'):,.0f}", ""]
    for mode, text in (("other", "in no call"), ("called", "in calls")):
        for i, name in enumerate(sets[mode]):
            ns = least(f"{mode}{i}")
            yield [f"threads that have been {text}, `{name}`", f"{ns:,.0f}",
                   f"{ns - least(f'{mode}0'):,.0f}"]


def run():
    say("## Counters of CPUs, on an emulated arm64 machine")
    if not os.path.exists(f"{ARM64}/workload/switches"):
        say("\nNot built: make build-arm64")
        return
    say("\nThe machine's ns, two an instruction. `encoding/json.Marshal` of 11 bytes, P50 of the program's own clock.")
    table(["counters", "ns a call", "more than `none`", "instructions"], calls())
    say("A context switch between two threads on its one CPU, which wake each other through pipes.")
    table(["", "ns a switch", "more"], switches())
