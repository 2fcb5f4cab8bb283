# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What --follow-go must show: codec calls that are tied, and goroutines that inherited a request."""
import re

from live import Broken

# The runtime may start some of its own, for whoever happens to need them first: at most that many.
RUNTIMES_OWN = 8


def started(lines):
    for line in lines:
        m = re.match(r"^GOROUTINES handlers=(\d+)", line)
        if m:
            return int(m[1])
    raise Broken("no GOROUTINES:\n" + "\n".join(lines))


def tied(report, lines, untied, wrong):
    """All codec calls are accounted for, and so many are untied."""
    n = report["request_coverage"]
    codecs = [line for line in lines if line.startswith("TRUTH encoding/json ")]
    calls = sum(int(re.search(r" calls=(\d+)", line)[1]) for line in codecs)
    got = {k: n[k] for k in ("tied_calls", "apart_calls", "late_calls", "untied_calls")}
    want = {"tied_calls": calls - untied, "apart_calls": 0, "late_calls": 0, "untied_calls": untied}
    if got != want:
        wrong.append(f"of {calls} codec calls {got}, not {want}")


def goroutines(report, want, wrong):
    n = report["request_coverage"]
    if not want <= n["goroutines_inherited"] <= want + RUNTIMES_OWN:
        wrong.append(f"{n['goroutines_inherited']} goroutines inherited, not {want}")
    if n["goroutines_started"] < n["goroutines_inherited"]:
        wrong.append(f"fewer were started: {n['goroutines_started']}")
