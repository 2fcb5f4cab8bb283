# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Hardware counters where they are known: QEMU's arm64 machine with icount counts every instruction, and
2^shift cycles for each. So a capture made there has to agree with what the program counts itself,
two boots have to agree with each other, and another shift has to be another number of cycles.
"""
import json
import os
import re
import subprocess
import sys

import vm

sys.path.insert(0, f"{vm.HERE}/../bpf")
from live import HBPROF, done, ok, skip, test, tmp  # noqa: E402

ARM64 = os.environ.get("HB_ARM64", "")
ASKED = "--counters=cycles,instructions,cache-misses,page-faults"
SCRIPT = f"""
measure instr '{ASKED} --probe counted_instr --no-stacks' counted -mode instr -n 1000 -rate 100
measure marshal '{ASKED} --no-stacks' gojson_stripped -mode marshal -n 300 -rate 300
exit 0
"""


def boot(name, shift):
    folder = f"{tmp}/{name}"
    os.mkdir(folder)
    programs = [f"{ARM64}/hbprof"] + [f"{ARM64}/workload/{p}" for p in ("counted", "gojson_stripped")]
    m = vm.Machine(folder, programs, SCRIPT, arch="arm64", shift=shift)
    wrong = m.run(vm.kernel("bookworm", "arm64"))
    print(f"# {name}: {m.seconds:.1f} s")
    ok(not wrong, f"shift {shift}: the machine starts, runs the test, and ends", wrong)
    return m


def row(m, name):
    text = m.text(f"{name}.json")
    rows = json.loads(text)["rows"] if text.startswith("{") else []
    if len(rows) != 1:
        raise AssertionError(f"{len(rows)} rows: {text[:200]} {m.text(name + '.err')[-2000:]}")
    return rows[0]


def own(m):
    """The program's count of instructions around each call is the report's, but for reading it."""
    c = row(m, "instr")["counters"]["instructions"]
    said = re.search(r"INSTRUCTIONS counted_instr sum=(\d+)", m.text("instr.lines"))
    want = int(said[1]) / 1000 if said else 0
    if c["calls"] < 990 or abs(c["mean"] - want) > 0.01 * want:
        return [f"{c}, by the program itself {want} a call"]
    return []


def ipc(m, shift):
    r = row(m, "instr")
    return [] if abs(r["ipc"] * 2 ** shift - 1) < 0.01 else [f"shift {shift}: IPC {r['ipc']}"]


def lacking(m):
    """An event that this machine has not is null, with the reason."""
    text = json.loads(m.text("instr.json"))
    c = {x["name"]: x for x in text["counters"]["list"]}["cache-misses"]
    if c["counted"] or not c["reason"] or row(m, "instr")["counters"]["cache-misses"] is not None:
        return [f"{c}"]
    return []


def same(a, b):
    wrong = []
    for name in ("instr", "marshal"):
        x, y = (row(m, name)["counters"]["instructions"] for m in (a, b))
        if x["min"] != y["min"] or abs(x["mean"] - y["mean"]) > 0.001 * x["mean"]:
            wrong.append(f"{name}: {x}, {y}")
    return wrong


def ratios(a, b):
    """hbprof compare of shift 1 with shift 2: twice the cycles for as many instructions."""
    r = subprocess.run([HBPROF, "compare", "--format", "json", "--metric", "cycles", "--metric",
                        "instructions", f"{a.out}/instr.hbp", f"{b.out}/instr.hbp"],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if r.returncode:
        return [r.stderr]
    wrong = []
    for metric, want in zip(json.loads(r.stdout)["rows"][0]["metrics"], (2, 1)):
        side = metric["sides"][1]
        if abs(side["ratio"] - want) > 0.01 * want:
            wrong.append(f"{metric['metric']}: {side}")
        if want == 2 and side["verdict"] != "more":
            wrong.append(f"{metric['metric']}: {side}")
    return wrong


def main():
    if not os.path.exists(f"{ARM64}/workload/gojson_stripped"):
        skip("counters of an arm64 machine", "not built: make build-arm64")
        done()
    try:
        first, second, slower = boot("first", 1), boot("second", 1), boot("slower", 2)
    except vm.Missing as e:
        print(f"1..0 # SKIP {e}")
        sys.exit(0)
    test("instructions of a call are those that the program counts itself, within 1 %", own, first)
    test("instructions a cycle are what the machine was told, 1/2", ipc, first, 1)
    test("instructions a cycle are what the machine was told, 1/4", ipc, slower, 2)
    test("an event that the machine lacks is null, and says why", lacking, first)
    test("two boots count the same instructions a call", same, first, second)
    test("twice the cycles at twice the shift, and as many instructions", ratios, first, slower)
    done()


if __name__ == "__main__":
    main()
