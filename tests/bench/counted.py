# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What counters add to a call, and what --sched adds to a context switch.
"""
from live import Broken, Hbprof, Workload
from measure import ROUNDS, Bare, Probed, Sample, field, pairs, say, table

GO, FUNCTION = "gojson_plain -mode marshal -size tiny -n 40000", "encoding/json.Marshal"
SETS = [
    ("page-faults,context-switches", "--counters=page-faults,context-switches"),
    ("cycles,instructions,page-faults,context-switches",
     "--counters=cycles,instructions,page-faults,context-switches"),
    ("task-clock,page-faults,context-switches", "--counters=task-clock,page-faults,context-switches"),
    ("page-faults,context-switches, and --sched", "--counters=page-faults,context-switches", "--sched"),
]
SWITCHES = "switches -n 20"
CALL = "--probe=switches_call"


def calls():
    """Medians: a call more that is preempted would say nothing of counters."""
    for name, *options in SETS:
        none, some = pairs(lambda: Probed(GO, "--counters=none").latency(FUNCTION),
                           lambda o=options: Probed(GO, *o).latency(FUNCTION))
        add = [b["p50"] - a["p50"] for a, b in zip(none, some)]
        yield [f"`{name}`", Sample([a["p50"] for a in none]).text(), Sample(add).text()]


def per_switch(run):
    """The least of batches, as others that use the CPU only add to it, ns. The threads have to have left the
    CPU each time, but perhaps for the first one."""
    m = field(run.lines, r"SWITCH ns=\S+ min=(\S+) median=\S+ switches=(\d+) expected=(\d+)")
    if int(m[2]) < int(m[3]) - 1:
        raise Broken(f"not every round trip was two switches: {m[0]}")
    return float(m[1])


def beside(*options):
    """Of a process that is not measured, while another one is, which stands still."""
    with Workload(GO) as w, Hbprof(w.pid, *options) as h:
        h.wait_measuring()
        got = per_switch(Bare(SWITCHES))
        h.stop()
        w.run()
        w.finish()
    return got


def measured(mode, *options):
    """Of threads of a measured process: by mode, they have been in measured calls or in none."""
    return per_switch(Probed(f"{SWITCHES} -mode {mode}", CALL, *options))


def switches():
    none, sched = ["--counters=none"], ["--counters=none", "--sched"]
    for name, run in (("of others", beside),
                      ("of a measured process, without calls", lambda *o: measured("other", *o)),
                      ("of threads that have been in calls", lambda *o: measured("called", *o))):
        a, b = pairs(lambda run=run: run(*none), lambda run=run: run(*sched))
        yield [name, Sample(a).text(), Sample(b).text(), f"{min(b) - min(a):,.0f}"]


def run():
    say("## Counters")
    say(f"\nns that counters add to a call of `{FUNCTION}` (tiny document) in its program, P50; {ROUNDS} pairs.")
    table(["counters", "`--counters=none`", "added"], calls())
    say(f"\nns of a context switch between two threads on one CPU that wake each other through pipes; {ROUNDS} pairs.")
    table(["switches", "without --sched", "with", "the least with less the least without"], switches())
