# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a probed call costs the program, against the same call without probes, and with bpftrace's usual
pair of a uprobe and a uretprobe.
"""
import json
import signal
import subprocess
import time

from live import Broken, Lines, WORK, Workload, end, start
from measure import ROUNDS, Bare, Probed, Sample, pairs, ratios, say, table

CALLS = 6400
FUNCTIONS = {
    "nop_push": ("`push`", "1.25"),
    "nop_endbr": ("`endbr64`, `push`", "0.15"),
    "nop_lea_branch": ("`lea`, and a branch in its first block", "0.15"),
    "nop_lea": ("`lea`, and no instruction that is emulated", "-"),
    "nop_ret": ("`push`; its caller returns at once", "-"),
}


def go_calls():
    """Means: what the program pays, the tail included."""
    work, fn = "gojson_plain -mode marshal -size tiny", "encoding/json.Marshal"
    mean, p50 = {}, {}
    for mode, n in (("site", 40000), ("ret", 8000)):
        bare, probed = pairs(lambda n=n: Bare(f"{work} -n {n}").latency(fn),
                             lambda n=n, m=mode: Probed(f"{work} -n {n}", f"--exit={m}").latency(fn))
        mean[mode] = [p["mean"] - b["mean"] for b, p in zip(bare, probed)]
        p50[mode] = [p["p50"] - b["p50"] for b, p in zip(bare, probed)]
        yield [f"`--exit={mode}`", Sample([b["mean"] for b in bare]).text(),
               Sample([p["mean"] for p in probed]).text(), Sample(mean[mode]).text(),
               Sample(p50[mode]).text()]
    yield ["ratio of the two (target 0.15)", "", ""] + [
        ratios(v["site"], v["ret"]).text("{:.3f}") for v in (mean, p50)]


def bpftrace_program(functions):
    one = ("uprobe:{w}/spin:{f} {{ @s_{f}[tid] = nsecs; }} "
           "uretprobe:{w}/spin:{f} /@s_{f}[tid]/ "
           "{{ @{f} = hist(nsecs - @s_{f}[tid]); delete(@s_{f}[tid]); }} ")
    return "".join(one.format(w=WORK, f=f) for f in functions)


def check_hists(text):
    """bpftrace must have seen every call, or its cost is not that of all of them."""
    seen = {}
    for line in text.splitlines():
        d = json.loads(line) if line.startswith("{") else {}
        if d.get("type") == "hist":
            for name, buckets in d["data"].items():
                seen[name[1:]] = sum(b["count"] for b in buckets)
    if seen != {f: CALLS for f in FUNCTIONS}:
        raise Broken(f"bpftrace has seen other calls than were made: {seen}")


def with_bpftrace():
    with Workload(f"spin -mode cost -n {CALLS}") as w:
        b = start(["bpftrace", "-f", "json", "-p", str(w.pid), "-e", bpftrace_program(FUNCTIONS)],
                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            Lines(b.stdout, "bpftrace").until("attached_probes")
            # It says so before it attaches. That was soon enough, check_hists() says.
            time.sleep(1)
            w.run()
            b.send_signal(signal.SIGINT)
            out, _ = b.communicate(timeout=60)
        finally:
            end(b)
        check_hists(out.decode())
        w.finish()
        run = Bare.__new__(Bare)
        run.lines = w.lines.seen
    return run


def c_calls():
    name = f"spin -mode cost -n {CALLS}"
    probes = [f"--probe={f}" for f in FUNCTIONS]
    bare, probed, other = [], [], []
    for _ in range(ROUNDS):
        bare.append(Bare(name))
        probed.append(Probed(name, *probes))
        other.append(with_bpftrace())
    for f, (begins, target) in FUNCTIONS.items():
        base = [r.cost(f) for r in bare]
        added = [r.cost(f) - b for r, b in zip(probed, base)]
        theirs = [r.cost(f) - b for r, b in zip(other, base)]
        yield [f"`{f}`", begins, Sample(base).text("{:.1f}"), Sample(added).text(),
               Sample(theirs).text(), ratios(added, theirs).text("{:.3f}"), target]


def run():
    say("## What a probe costs the program")
    say("\nGo: `json.Marshal` of 11 bytes, ns of a call, median (least..largest) of the runs.")
    table(["", "mean without", "mean with hbprof", "added", "added, P50"], go_calls())
    say("C: functions that do nothing, ns of a call; bpftrace: uprobe, uretprobe and a histogram.")
    table(["function", "begins with", "bare", "hbprof adds", "bpftrace adds", "ratio", "target"],
          c_calls())
