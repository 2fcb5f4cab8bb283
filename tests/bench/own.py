# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What hbprof itself uses while it measures, and how long its BPF program runs in the target."""
import os
import re
import time

from accuracy import spin_iters
from live import Broken, Workload
from measure import ROUNDS, Sample, Watched, run_ns, say, table

SECONDS = 20
RATE = 200000
C_NS = 3000  # with the probes and the counting some 5 us a call
STATS = "/proc/sys/kernel/bpf_stats_enabled"


def steady(name, function, *options):
    """CPU time between two looks, so without start and end, and the calls in that time."""
    with Workload(f"{name} -n {RATE * (SECONDS + 10)}") as w, \
            Watched(w.pid, *options) as h:
        w.go()
        time.sleep(0.5)
        t0, cpu0 = time.monotonic_ns(), run_ns(h.h.p.pid)
        time.sleep(SECONDS)
        t1, cpu1 = time.monotonic_ns(), run_ns(h.h.p.pid)
        h.stop()
    r = next(r for r in h.report["rows"] if r["function"] == function)
    return [f"`{function}`", f"{r['calls_per_s']:,.0f}", f"{100 * (cpu1 - cpu0) / (t1 - t0):.2f}",
            f"{h.report['cost']['hbprof_cpu_pct']:.2f}", f"{h.peak_kb / 1024:.1f}",
            f"{h.report['cost']['kernel_map_bytes'] / 1048576:.1f}",
            f"{h.report['coverage']['dropped']}"]


def cpu():
    say("## hbprof itself")
    say(f"\nOver {SECONDS} s at {RATE:,} calls a second, or as many as the machine makes. The target is "
        "0.5 % of one CPU.")
    table(["function", "calls/s", "CPU, % of one", "the same, as its report says", "peak resident memory, MB",
           "kernel maps, MB", "dropped"],
          (steady(*a) for a in (
              (f"gojson_plain -mode marshal -size tiny -rate {RATE}", "encoding/json.Marshal"),
              # Flat out: a sleep of the C program takes longer than ten of its calls.
              (f"spin -mode push -iters {spin_iters('spin', C_NS)}", "spin_push",
               "--probe=spin_push"))))


def programs(pid):
    """Run time in ns and number of runs of the BPF programs that a process holds."""
    ns = runs = 0
    for fd in os.listdir(f"/proc/{pid}/fdinfo"):
        with open(f"/proc/{pid}/fdinfo/{fd}") as f:
            info = dict(re.findall(r"^(\w+):\s+(\d+)$", f.read(), re.M))
        ns += int(info.get("run_time_ns", 0))
        runs += int(info.get("run_cnt", 0))
    return ns, runs


def per_hit(name, calls, options=()):
    with Workload(name) as w, Watched(w.pid, *options) as h:
        ns0, n0 = programs(h.h.p.pid)
        w.run()
        ns1, n1 = programs(h.h.p.pid)
        h.stop()
    if n1 - n0 < 2 * calls:
        raise Broken(f"{calls} calls, and the program has run only {n1 - n0} times")
    return (ns1 - ns0) / (n1 - n0)


def bpf():
    with open(STATS) as f:
        before = f.read()
    say("## The BPF program")
    say("\nOne program serves entries and exits, so this is the mean of both; ns a hit, by "
        "`kernel.bpf_stats_enabled`, median (least..largest).")
    try:
        with open(STATS, "w") as f:
            f.write("1")
        n = 100000
        go = [per_hit(f"gojson_plain -mode marshal -size tiny -n {n}", n) for _ in range(ROUNDS)]
        c = [per_hit(f"spin -mode push -iters 100 -n {n}", n, ["--probe=spin_push"])
             for _ in range(ROUNDS)]
    finally:
        with open(STATS, "w") as f:
            f.write(before)
    table(["", "ns"], [["Go, `json.Marshal` of 11 bytes", Sample(go).text()],
                       ["C, `spin_push`", Sample(c).text()]])
