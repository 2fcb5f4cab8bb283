# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Instructions of calls on QEMU's arm64 machine, against what the program counts of its own thread: of
encoding/json, in a run without probes and in the one with them.
"""
import json
import os
import re
import sys

import vm

sys.path.insert(0, f"{vm.HERE}/../bpf")
from live import done, ok, skip, test, tmp  # noqa: E402

ARM64 = os.environ.get("HB_ARM64", "")
PROGRAMS = ("hbprof", "workload/gojson_stripped")
# Calls of each size: so many that the first one, which learns the type, and one in which the runtime does
# something of its own (some 40,000 instructions) are no matter. Not the smallest document: runs of the program
# differ among themselves by 16 instructions a call, which is 1.1 % of that one.
CALLS = {"heartbeat": 4000, "order": 2000}
COUNTED = "gojson_stripped -mode counted -rate 4000"
SCRIPT = "".join(f"""
{COUNTED} -n {n} -size {s} -nowait >/out/bare_{s}.lines 2>&1
measure {s} '--counters=instructions --no-stacks' {COUNTED} -n {n} -size {s}
""" for s, n in CALLS.items()) + "exit 0\n"


def row(m, name):
    text = m.text(f"{name}.json")
    rows = json.loads(text)["rows"] if text.startswith("{") else []
    if len(rows) != 1:
        raise AssertionError(f"{len(rows)} rows: {text[:200]} {m.text(name + '.err')[-2000:]}")
    return rows[0]


def said(m, name):
    """The workload's own line: a dict of numbers."""
    line = re.search(r"^INSTRUCTIONS \S+ (.*)$", m.text(name + ".lines"), re.M)
    if not line:
        raise AssertionError(f"no count by the program: {m.text(name + '.lines')}")
    return {k: int(v) for k, v in (x.split("=") for x in line[1].split())}


def near(got, want):
    return abs(got - want) <= 0.01 * want


def marshal(m, size):
    """Of calls in which the thread stayed on its CPU, as hbprof has counters of those: in the others
    the runtime may be interrupted by itself, and does more."""
    c = row(m, size)["counters"]["instructions"]
    bare, probed = said(m, f"bare_{size}"), said(m, size)
    bare, probed = (x["stayed_sum"] / x["stayed"] for x in (bare, probed))
    text = f"{c['mean']:.1f} in {c['calls']} calls; by the program {bare:.1f}, with probes {probed:.1f}"
    print(f"# {size}: {text}")
    if c["calls"] < 0.7 * CALLS[size] or not near(c["mean"], bare) or not near(c["mean"], probed):
        return [text]
    return []


def main():
    if not all(os.path.exists(f"{ARM64}/{p}") for p in PROGRAMS):
        skip("counts of programs on an arm64 machine", "not built: make build-arm64")
        done()
    try:
        m = vm.Machine(tmp, [f"{ARM64}/{p}" for p in PROGRAMS], SCRIPT, arch="arm64")
        wrong = m.run(vm.kernel("bookworm", "arm64"))
    except vm.Missing as e:
        print(f"1..0 # SKIP {e}")
        sys.exit(0)
    print(f"# {m.seconds:.1f} s")
    ok(not wrong, "the machine starts, runs the test, and ends", wrong)
    for s in CALLS:
        test(f"instructions of json.Marshal ({s}) are those that the program counts itself, within 1 %",
             marshal, m, s)
    done()


if __name__ == "__main__":
    main()
