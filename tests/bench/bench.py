# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The sections of the benchmark, one after the other; run.sh calls it."""
import os
import sys
import time

import accuracy
import cost
import counted
import layers
import own
import processes
import reqcost
import start
import untraced
import vmcost
from live import Broken
from measure import ROUNDS, Probed, say, table

SECTIONS = {
    "accuracy": accuracy.run,
    "cost": cost.run,
    "counters": counted.run,
    "vm": vmcost.run,
    "layers": layers.run,
    "attach": start.attaching,
    "start": start.starting,
    "untraced": untraced.run,
    "processes": processes.processes,
    "requests": reqcost.run,
    "own": own.cpu,
    "bpf": own.bpf,
}


def machine():
    """Facts as hbprof records them, and how busy the machine is with other things."""
    host = Probed("spin -mode push -n 100", "--probe=spin_push").report["host"]
    say("## Machine")
    rows = [[k.replace("_", " "), host[k]]
            for k in ("cpu_model", "arch", "cpus_online", "virtualization", "clocksource", "kernel")
            if k in host]
    rows.append(["load average at the start", "{:.2f} {:.2f} {:.2f}".format(*os.getloadavg())])
    rows.append(["date", time.strftime("%Y-%m-%d")])
    rows.append(["rounds", ROUNDS])
    table(["", ""], rows)


def main():
    chosen = sys.argv[1:] or list(SECTIONS)
    for name in chosen:
        if name not in SECTIONS:
            sys.exit(f"bench: no section '{name}'; there are: {' '.join(SECTIONS)}")
    failed = False
    say("# hbprof's benchmarks\n")
    try:
        machine()
        for name in chosen:
            SECTIONS[name]()
    except Broken as e:
        # Not a slow machine: something did not work.
        print(f"bench: {e}", file=sys.stderr)
        failed = True
    say("load average at the end: {:.2f} {:.2f} {:.2f}".format(*os.getloadavg()))
    sys.exit(failed)


main()
