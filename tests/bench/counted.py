# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What counters add to a call, and what --sched adds to a context switch of those who are not measured.
"""
import os
import time

from live import Hbprof, Workload
from measure import ROUNDS, Probed, Sample, pairs, say, table

GO, FUNCTION = "gojson_plain -mode marshal -size tiny -n 40000", "encoding/json.Marshal"
SETS = [
    ("page-faults,context-switches", "--counters=page-faults,context-switches"),
    ("cycles,instructions,page-faults,context-switches",
     "--counters=cycles,instructions,page-faults,context-switches"),
    ("page-faults,context-switches, and --sched", "--counters=page-faults,context-switches", "--sched"),
]
ROUND_TRIPS = 30000


def calls():
    """Medians: a call more that is preempted would say nothing of counters."""
    for name, *options in SETS:
        none, some = pairs(lambda: Probed(GO, "--counters=none").latency(FUNCTION),
                           lambda o=options: Probed(GO, *o).latency(FUNCTION))
        add = [b["p50"] - a["p50"] for a, b in zip(none, some)]
        yield [f"`{name}`", Sample([a["p50"] for a in none]).text(), Sample(add).text()]


def ping_pong():
    """ns of a switch between two processes on one CPU, which wake each other through pipes."""
    to, back = os.pipe(), os.pipe()
    cpu = min(os.sched_getaffinity(0))
    all_cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})
    child = os.fork()
    if not child:
        for _ in range(ROUND_TRIPS):
            os.read(to[0], 1)
            os.write(back[1], b"x")
        os._exit(0)
    begin = time.monotonic_ns()
    for _ in range(ROUND_TRIPS):
        os.write(to[1], b"x")
        os.read(back[0], 1)
    took = time.monotonic_ns() - begin
    os.waitpid(child, 0)
    os.sched_setaffinity(0, all_cpus)
    for fd in to + back:
        os.close(fd)
    return took / ROUND_TRIPS / 2


def beside(*options):
    """While another process is measured, which stands still."""
    with Workload(GO) as w, Hbprof(w.pid, *options) as h:
        h.wait_measuring()
        got = ping_pong()
        h.stop()
        w.run()
        w.finish()
    return got


def switches():
    plain, sched = pairs(lambda: beside("--counters=none"),
                         lambda: beside("--counters=none", "--sched"))
    yield ["of others", Sample(plain).text(), Sample(sched).text(),
           Sample([b - a for a, b in zip(plain, sched)]).text()]


def run():
    say("## Counters")
    say(f"\nns that counters add to a call of `{FUNCTION}` (tiny document) in its program, P50; {ROUNDS} pairs.")
    table(["counters", "`--counters=none`", "added"], calls())
    say(f"\nns of a context switch between two processes on one CPU (pipes, from Python), beside a measured "
        f"process that stands still; {ROUNDS} pairs.")
    table(["switches", "without --sched", "with", "added"], switches())
