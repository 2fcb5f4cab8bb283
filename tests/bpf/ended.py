# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A process that ends while it is measured: its CPU time is right, or it is said not to be known. Nobody
can ask for it any more once its parent has waited for it.
"""
import os
import threading

from exact import check_balance
from live import Hbprof, Workload, cpu_ticks, done, parse_report, test

TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def ended(iters):
    """The program burns CPU time to its end, which comes between two looks at it."""
    name = f"spin -mode push -n 1000 -iters {iters}"
    with Workload(name) as w, Hbprof(w.pid, "--probe", "spin_push") as h:
        h.wait_measuring()
        before = cpu_ticks(w.pid) * TICK_NS
        used = []

        def wait():
            _, status, usage = os.wait4(w.pid, 0)
            used.append(int((usage.ru_utime + usage.ru_stime) * 1e9))
            w.p.returncode = os.waitstatus_to_exitcode(status)

        waiter = threading.Thread(target=wait)
        waiter.start()
        w.newline()
        w.newline()
        w.p.stdin.close()
        waiter.join(60)
        report = parse_report(*h.wait())
    t = report["targets"][0]
    wall = report["coverage"]["wall_ns"]
    wrong = check_balance(report)
    if t["end"] != "exited":
        wrong.append(f"its end: {t['end']}")
    if not used:
        return wrong + ["the program did not end"]
    want = used[0] - before
    # What it used since the last look is less than the time since then: 2 % of the whole at most.
    least = want - wall // 50 - 2 * TICK_NS
    if t["cpu_ns"] is not None and not least <= t["cpu_ns"] <= want + 2 * TICK_NS:
        wrong.append(f"CPU time {t['cpu_ns']} ns, its parent was told {want}, of {wall}")
    return wrong


def main():
    for iters in (300000, 3000000, 5000000):
        test(f"the CPU time of a process that has ended is right or not known ({iters})", ended, iters)
    done()


if __name__ == "__main__":
    main()
