# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The table of docs/codecs.md: each codec and operation, counted and timed under hbprof, beside what
the program says of itself. codecs.sh calls it. Counts must be equal; of times the difference is
printed, however large.
"""
import os
import re
import sys
import time

from measure import OWN, ROUNDS, Bare  # puts tests/bpf in the path of modules
import codecrun
from live import Broken, run

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "codecs.md")
BEGIN, END = "<!-- codecs-table: made by make codecs-table -->\n", "<!-- end of codecs-table -->\n"
FAR = 0.10
PROGRAMS = ("gocodecs gocodecs_v2 codecs_jansson codecs_json_c codecs_yajl codecs_msgpack_c codecs_libcbor "
            "codecs_protobuf_c codecs_protobuf codecs_simdjson codecs_nlohmann codecs_rapidjson "
            "rustcodecs codecs_node.js").split()
SIZES = {"heartbeat": 2000, "order": 1000, "device": 300}  # and the calls of a run
ERROR_CALLS = 300
BUSY = 1  # more than the CPUs: that much is the building of the programs

# What compilers leave no function of. If one turns up, this list is wrong, and that is said.
INLINED = {
    "serde_json-encode", "rmp-serde-encode", "rmp-serde-decode", "ciborium-encode", "ciborium-decode",
    "bincode-decode", "simd-json-encode", "prost-decode",
}
# Of this program only what the others do not have: cbor 2.10, and encoding/json/v2.
ONLY = {"gocodecs_v2": {"json-encode", "json-decode", "cbor-encode", "cbor-decode"}}
REMARKS = {
    "gob-encode": "a new encoder for each call, which describes the type first",
    "gob-decode": "a new decoder for each call, which compiles the type first",
    "gob-stream-encode": "one encoder for all calls",
    "gob-stream-decode": "one decoder for all calls",
    "simd-json-decode": "the function is a part of the call: the values are made after it",
    "flatbuffers-encode": "only the end of a build",
    "protobuf-options-decode": "its data is on the stack: no size",
}


def us(ns):
    return f"{ns / 1000:,.2f}" if ns < 100_000 else f"{ns / 1000:,.0f}"


class Row:
    """One codec, operation and function: its runs of all sizes and of failures."""

    def __init__(self, program, mode, errors):
        self.program, self.mode, self.errors = program, mode, errors
        self.wrong, self.p50, self.runs = [], {}, []

    def bare(self, size):
        b = Bare(f"{self.program} -mode {self.mode} -size {size} -n {SIZES[size]}", OWN)
        line = next(x for x in b.lines if x.startswith("LATENCY "))
        return float(re.search(r" p50=([\d.]+)", line)[1])

    def probed(self, mode, size, n):
        r = codecrun.Run(OWN, f"{self.program} -mode {mode} -size {size} -n {n}")
        self.wrong += [f"{mode} {size}: {w}" for w in r.wrong]
        self.runs.append(r)
        return r

    def measure(self):
        for size, n in SIZES.items():
            bare, probed = [], []
            for i in range(ROUNDS):
                for first in ((0, 1) if i % 2 == 0 else (1, 0)):
                    if first == 0:
                        bare.append(self.bare(size))
                    else:
                        probed.append(self.probed(self.mode, size, n).p50)
            self.p50[size] = (min(probed), min(bare))
        if self.errors:
            self.failing = self.probed(self.errors, "heartbeat", ERROR_CALLS)

    def inlined(self):
        """Nothing is found, or something that cannot be."""
        r = codecrun.Run(OWN, f"{self.program} -mode {self.mode} -size order -n 10")
        if r.entries:
            self.wrong.append(f"{self.mode}: there is a function, but it is said to be inlined")
        return r

    def cells(self):
        if self.mode in INLINED:
            r = self.inlined()
            return [r.codec, r.op, *["-"] * (len(HEAD) - 3), "inlined by the compiler: no function to probe"]
        self.measure()
        r, total = self.runs[0], lambda what: sum(getattr(x, what) for x in self.runs)
        codec = r.functions[0]["codec"] if r.functions else r.codec
        return [codec, r.op, f"`{r.outer}`", r.version or "n/a", f"{total('entries'):,}",
                f"{total('exits'):,}", f"{sum(x.calls for x in self.runs):,}", self.error_cell(),
                self.size_cell(), *(self.time_cell(s) for s in SIZES), self.remark()]

    def error_cell(self):
        if not self.errors:
            return "-" if self.runs[0].has_errors else "n/a"
        return f"{self.failing.errors} of {self.failing.t['errors']}" if self.failing.has_errors else "n/a"

    def size_cell(self):
        if self.runs[0].size_max is None:
            return "n/a"
        return ", ".join(f"{self.runs[i * ROUNDS].size_max:,}" for i in range(len(SIZES)))

    def time_cell(self, size):
        got, truth = self.p50[size]
        off = (got - truth) / truth if truth else 0
        text = f"{us(got)} / {us(truth)}"
        return f"**{text} ({100 * off:+.0f} %)**" if abs(off) > FAR else text

    def remark(self):
        r, words = self.runs[0], []
        if self.mode in REMARKS:
            words.append(REMARKS[self.mode])
        elif r.note:
            words.append(r.note)
        per_call = max(x.entries / x.t["calls"] for x in self.runs)
        if per_call > 1:
            words.append(f"up to {per_call:.0f} entries a call")
        if any(f["exits_by_class"]["step"] for f in r.functions):
            words.append("exits are single-stepped")
        if sum(x.lost() for x in self.runs):
            words.append("the first call of a run is not timed")
        return "; ".join(words)


HEAD = ["codec", "operation", "function", "version", "entries", "exits", "calls", "errors", "size, bytes",
        "P50 of 128 B", "P50 of 1.2 KB", "P50 of 8.7 KB", "remarks"]


def rows_of(program):
    """Modes, each with the one that has its failures."""
    modes = run([f"{OWN}/{program}", "-modes"]).stdout.split()
    if not modes:
        raise Broken(f"{program} has no modes")
    return [Row(program, m, m + "err" if m + "err" in modes else None) for m in modes
            if not m.endswith("err") and m in ONLY.get(program, modes)]


def machine(report, load):
    h = report["host"]
    keys = ("cpu_model", "arch", "cpus_online", "virtualization", "kernel")
    facts = ", ".join(f"{k.replace('_', ' ')} {h[k]}" for k in keys if k in h)
    return (f"`make codecs-table`, {time.strftime('%Y-%m-%d')}: {facts}; {ROUNDS} runs with and "
            f"{ROUNDS} without probes, in turn, the fastest of each, of {', '.join(map(str, SIZES.values()))} calls; "
            f"load average {load:.1f}.\n")


def measure(chosen):
    """The table's lines, what is wrong, and how loaded the machine was on average."""
    lines, wrong, report = ["| " + " | ".join(HEAD) + " |", "|" + " --- |" * len(HEAD)], [], None
    loads = []
    for program in PROGRAMS:
        for row in rows_of(program):
            if chosen and row.mode not in chosen:
                continue
            try:
                lines.append("| " + " | ".join(c.replace("|", "\\|") for c in row.cells()) + " |")
                print(lines[-1], flush=True)
            except Broken as e:
                row.wrong.append(f"{row.mode}: {e}")
            report = report or (row.runs and row.runs[0].report)
            loads.append(os.getloadavg()[0])
            wrong += row.wrong
            for w in row.wrong:
                print(f"codecs: {program} {w}", file=sys.stderr, flush=True)
    lines[2:] = sorted(lines[2:], key=lambda x: [c.strip().lower() for c in x.split("|")[1:3]])
    load = sum(loads) / max(len(loads), 1)
    return [machine(report, load) if report else ""] + lines, wrong, load


def write(lines):
    with open(DOCS) as f:
        text = f.read()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    with open(DOCS, "w") as f:
        f.write(before + BEGIN + "\n" + "\n".join(lines) + "\n\n" + END + after)


def main():
    lines, wrong, load = measure(sys.argv[1:])
    if wrong:
        sys.exit(f"codecs: {len(wrong)} differences")
    if sys.argv[1:]:
        return
    # A call of some ms waits for a CPU in the midst of it, and its time is the neighbours'.
    if load > os.cpu_count() + BUSY:
        print(f"codecs: all counts agree; docs/codecs.md stays as it was, as others used the machine (load average "
              f"{load:.1f}): their work is in the times", file=sys.stderr)
        return
    write(lines)


main()
