# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the tests of requests have in common: rows of a report, and that all exchanges are accounted for."""
import re

from live import Broken


def said(lines, rule):
    """The numbers of the program's line REQUESTS."""
    for line in lines:
        m = re.match(rf"^REQUESTS rule={rule} (.*)", line)
        if m:
            return {k: int(v) for k, v in (x.split("=") for x in m[1].split())}
    raise Broken(f"no REQUESTS rule={rule}:\n" + "\n".join(lines))


def rows(report, side):
    return [r for r in report["requests"] if r["side"] == side]


def balance(report, wrong):
    """Exchanges begun are all accounted for, and nothing was lost."""
    n = report["request_coverage"]
    ends = sum(r["count"] + (r["unanswered"] or 0) for r in report["requests"]
               if r["side"] != "handler")
    ends += n["handshakes"] + n["clock_back"] + n["open_at_end"]
    if n["begun"] != ends:
        wrong.append(f"{n['begun']} exchanges began, {ends} are accounted for")
    for key in ("conns_full", "calls_full", "tasks_full", "rows_full", "unreadable", "clock_back"):
        if n[key]:
            wrong.append(f"{key}: {n[key]}")
    if n["closed"] > n["accepted"] + n["connected"] + n["found_open"]:
        wrong.append(f"more connections were closed than there were: {n}")
