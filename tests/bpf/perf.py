# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The same counts by perf events, which HBPROF_ATTACH=perf chooses, and no more probes than allowed."""
import os

import cover
from exact import Measured, check_balance, exact
from live import WORK, done, skip, test

C_MODES = [
    ("cjson_work -mode threads -n 500", {}),
    ("spin -mode push -n 2000 -iters 100", {}),
    ("hostile -mode recursion -n 20", {}),
    ("hostile -mode longjmp -n 200", {"left": 200 * 4}),
]
GO_MODES = [
    "gojson_plain -mode mixed -n 500 -g 4 -procs 4",
    "gojson_plain -mode block -n 100 -g 8",
    "gojson_stripped -mode grow -n 1000",
]


def by_perf(name, **kw):
    """Counted exactly; and it was the way that was asked for."""
    m = Measured(name)
    wrong = [] if m.report["attach"] == "perf events" else [f"attach: {m.report['attach']}"]
    return wrong + exact(name, **kw)


def few_sites(name, most):
    """Functions first; a return site that was left out is found by its first call, and that is said."""
    m = Measured(name, f"--max-sites={most}")
    c = m.report["coverage"]
    wrong = check_balance(m.report)
    if c["sites"] > most:
        wrong.append(f"{c['sites']} sites")
    if not [w for w in m.report["warnings"] if "--max-sites" in w]:
        wrong.append("nothing is said of it")
    if not c["unknown_return_site"]:
        wrong.append("no call came from a site that was left out")
    return m.judge(wrong)


def main():
    for name, kw in C_MODES:
        test(f"{name}: counted exactly by perf events", by_perf, name, **kw)
    test("--max-sites: no more are probed, and what is not is counted", few_sites,
         "cjson_work -mode threads -n 200", 14)
    test("probes of functions that are always inside of others are taken off", cover.nested)
    if os.path.exists(f"{WORK}/gojson_plain"):
        for name in GO_MODES:
            test(f"{name}: counted exactly by perf events", by_perf, name)
    else:
        skip("Go programs are counted exactly by perf events", "not built: no Go >= 1.22")
    done()


if __name__ == "__main__":
    main()
