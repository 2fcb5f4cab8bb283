# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What CPU samples cost the program: pairs of runs, one with --stacks and one with --no-stacks, in
turns. The program calls a function of its own that is not probed, so nothing else costs it anything.

HB_BENCH_PAIRS (10), HB_BENCH_HZ (99), HB_BENCH_N (calls, of about 20 us)
"""
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bpf"))
from live import Hbprof, Workload  # noqa: E402

PAIRS = max(2, int(os.environ.get("HB_BENCH_PAIRS", 10)))
HZ = os.environ.get("HB_BENCH_HZ", "99")
N = int(os.environ.get("HB_BENCH_N", 60000))


def cpu_s(pid):
    """CPU time of all threads, in ns steps: waiting for a CPU that others use is not in it."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat") as f:
            total += int(f.read().split()[0])
    return total / 1e9


def seconds(*options):
    """CPU time of the work, interrupts included, and the samples taken."""
    with Workload(f"gojson_plain -mode spin -iters 20000 -n {N}") as w, Hbprof(w.pid, *options) as h:
        h.wait_measuring()
        begin = cpu_s(w.pid)
        w.run()
        took = cpu_s(w.pid) - begin
        s = h.report()["cpu_sampling"]
    return took, s["samples"] if s else 0


def main():
    plain, sampled, samples = [], [], 0
    for i in range(PAIRS):
        for on in (i % 2, 1 - i % 2):
            took, n = seconds(*(("--frequency", HZ) if on else ("--no-stacks",)))
            (sampled if on else plain).append(took)
            samples += n
    base = statistics.median(plain)
    diff = [100 * (s / p - 1) for s, p in zip(sampled, plain)]
    print(f"| {HZ} Hz | median CPU time of {PAIRS} runs, s | spread, % of the median |")
    print("| --- | --- | --- |")
    for name, v in (("no samples", plain), ("samples", sampled)):
        m = statistics.median(v)
        print(f"| {name} | {m:.3f} | {100 * (max(v) - min(v)) / m:.2f} |")
    print(f"\nslower by {100 * (statistics.median(sampled) / base - 1):+.2f} % (medians), pairs "
          f"{statistics.median(diff):+.2f} % (median) from {min(diff):+.2f} to {max(diff):+.2f}; "
          f"standard deviation without samples "
          f"{100 * statistics.stdev(plain) / base:.2f} %; {samples} samples in all")


if __name__ == "__main__":
    main()
