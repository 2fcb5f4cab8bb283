# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares a report with the truth that the measured program printed. The identity is computed here
again, from the counters, and not taken from the report's word for it.
"""
import re

from live import Broken, Hbprof, Workload, text_changes, unprobed

TRUTH = re.compile(r"^TRUTH (\S+) (\S+) (\S+) (calls=.*)$")
# Streams: how much a call of theirs reads or writes stands in no register at its ends.
NO_SIZE = ("encoding/json.(*Encoder).Encode", "encoding/json.(*Decoder).Decode",
           "encoding/gob.(*Encoder).Encode", "encoding/gob.(*Decoder).Decode")
NOT_SAME = re.compile(
    r"^(PID|LATENCY|TIMER|COST|SPIN|MIGRATED|LISTEN|RATE|SHARE|REQUESTS|WAITED|"
    r"STOPS) ")


def parse_truth(lines):
    """{function: {codec, calls, entries, errors, size_sum, size_max, abandoned}}"""
    truth = {}
    for line in lines:
        m = TRUTH.match(line)
        if m:
            truth[m[3]] = {"codec": m[1]}
            truth[m[3]].update((k, int(v)) for k, v in (x.split("=") for x in m[4].split()))
    if not truth:
        raise Broken("no TRUTH lines:\n" + "\n".join(lines))
    return truth


def latency(lines, function, key):
    """What the program itself has measured: p50, max, ... in ns."""
    for line in lines:
        if line.startswith(f"LATENCY {function} "):
            return float(re.search(rf" {key}=([0-9.]+)", line)[1])
    raise Broken(f"no LATENCY {function}:\n" + "\n".join(lines))


def same_lines(lines):
    return [line for line in lines if not NOT_SAME.match(line)]


def probe_options(lines):
    """--probe for each function that is the workload's own."""
    return [f"--probe={f}" for f, t in parse_truth(lines).items() if t["codec"] == "probe"]


class Seen:
    """What a report says of one function: its counters, and its rows together."""

    def __init__(self, report, name):
        found = [f for f in report["functions"] if f["function"] == name]
        # Several are copies that the compiler has made of one.
        self.f = {k: sum(f[k] for f in found) if isinstance(v, int) else v
                  for k, v in found[0].items()} if found else None
        self.rows = [r for r in report["rows"] if r["function"] == name]
        self.calls = sum(r["calls"] for r in self.rows)
        self.errors = sum(r["calls"] for r in self.rows if r["outcome"] == "error")
        sizes = [r["size"]["sum_bytes"] for r in self.rows]
        self.has_sizes = any(s is not None for s in sizes)
        self.size_sum = sum(s or 0 for s in sizes)
        self.size_max = max([r["size"]["max_bytes"] or 0 for r in self.rows], default=0)


def identity(name, n):
    ends = ("exits", "abandoned", "unknown_return_site", "in_flight_end", "dropped")
    out = sum(n[k] for k in ends)
    if n["entries"] == out:
        return []
    return [f"{name}: entries {n['entries']} but {out} are accounted for"]


def check_balance(report):
    """The identity of each function and of all, that the totals are sums, and what JSON claims."""
    c, wrong = report["coverage"], []
    wrong += identity("in total", c)
    for f in report["functions"]:
        wrong += identity(f["function"], f)
    for key in ("entries", "exits", "abandoned", "unknown_return_site", "dropped", "in_flight_end"):
        total = sum(f[key] for f in report["functions"])
        if total != c[key]:
            wrong.append(f"{key}: {c[key]} in total, {total} over the functions")
    if not c["balanced"] or not c["final"]:
        wrong.append("the report says that it is not balanced")
    return wrong + check_rows(report)


def check_rows(report):
    """Each call has a latency in a bucket, and they lie within their extremes."""
    wrong = []
    for r in report["rows"]:
        lat = r["latency"]
        name = f"{r['function']} {r['outcome']}"
        if not r["calls"] == lat["count"] == lat["in_buckets"]:
            wrong.append(f"{name}: {r['calls']} calls, {lat['count']} latencies, "
                         f"{lat['in_buckets']} in buckets")
        q = [lat[k] for k in ("min_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns")
             if lat[k] is not None]
        if q != sorted(q) or (q and not lat["min_ns"] <= lat["mean_ns"] <= lat["max_ns"]):
            wrong.append(f"{name}: quantiles fall, or the mean is outside: {lat}")
        if sum(s["calls"] for s in r["by_size"]) != r["calls"]:
            wrong.append(f"{name}: the size classes do not sum up to the calls")
    return wrong


def differ(name, what, got, want):
    return [] if got == want else [f"{name}: {what} {got}, truth {want}"]


def check_sizes(name, s, t, unknown):
    """null where a function does not show its size: never 0. Some are told by a call inside."""
    if name in NO_SIZE:
        return [f"{name}: sizes from nowhere"] if s.f["has_size"] or s.has_sizes else []
    if unknown or not t["calls"]:
        return []
    return differ(name, "size_sum", s.size_sum, t["size_sum"]) + \
        differ(name, "size_max", s.size_max, t["size_max"])


def check_ends(name, s, t, left):
    """Calls that never returned: left for dead, or still open when nothing came after. The truth
    has the outermost ones. left: all of them, nested ones too, where there are such."""
    if left is None:
        left = t["abandoned"]
    return differ(name, "abandoned or in flight", s.f["abandoned"] + s.f["in_flight_end"], left)


def check_calls(name, s, t, unknown):
    if not unknown:
        return differ(name, "calls", s.calls, t["calls"]) + \
            differ(name, "errors", s.errors, t["errors"])
    # An unknown one may have been nested, and then there is no call to be missed.
    nested = t["entries"] > t["calls"] + t["abandoned"]
    if s.calls + unknown == t["calls"] or nested and s.calls <= t["calls"] <= s.calls + unknown:
        return []
    return [f"{name}: calls {s.calls} + unknown {unknown}, truth {t['calls']}"]


def check_function(report, name, t, may_be_unknown, left):
    s = Seen(report, name)
    if not s.f:
        return [f"{name}: not in the report"]
    unknown = s.f["unknown_return_site"]
    wrong = differ(name, "entries", s.f["entries"], t["entries"])
    if s.f["off_ns"] and s.f["entries"] <= t["entries"]:
        wrong = []  # its probes were taken off in between, which is said
    if unknown and not may_be_unknown:
        wrong.append(f"{name}: {unknown} calls from unknown return sites")
    wrong += check_calls(name, s, t, unknown)
    wrong += check_ends(name, s, t, left)
    wrong += check_sizes(name, s, t, unknown)
    return wrong


def check_exact(report, lines, may_be_unknown=False, left=None):
    """Everything against the truth; nothing dropped. left: see check_ends()."""
    wrong = check_balance(report)
    if report["coverage"]["dropped"]:
        wrong.append(f"{report['coverage']['dropped']} dropped")
    wrong += [f"drops: {k} {n}" for k, n in report["coverage"]["drops"].items() if n]
    for name, t in parse_truth(lines).items():
        wrong += check_function(report, name, t, may_be_unknown, left)
    return wrong


def describe(report, lines):
    """For whoever reads of a failure."""
    c = report["coverage"]
    out = ["coverage: " + " ".join(f"{k}={v}" for k, v in c.items() if v and k != "drops"),
           "drops: " + " ".join(f"{k}={v}" for k, v in c["drops"].items() if v)]
    for f in report["functions"]:
        calls = Seen(report, f["function"]).calls
        out.append(f"{f['function']}: calls={calls} " + " ".join(
            f"{k}={v}" for k, v in f.items() if isinstance(v, int) and v and k != "vaddr"))
    out += [f"warning: {w}" for w in report["warnings"]]
    return out + [line for line in lines if line.startswith("TRUTH")]


class Measured:
    """One workload from READY to DONE under hbprof, and the same without probes before."""

    def __init__(self, name, *options, probe=True, functions=True):
        self.name = name
        self.plain = unprobed(name)
        extra = ["--functions"] if functions else []
        extra += probe_options(self.plain) if probe else []
        with Workload(name) as w, Hbprof(w.pid, *extra, *options) as h:
            h.wait_measuring()
            w.run()
            self.report = h.report()
            self.changed = text_changes(w.pid)
            self.status = w.finish()
            self.lines = w.lines.seen

    def harm(self):
        """What the measured program has suffered, as lines."""
        wrong = [f"the code was not restored: {c}" for c in self.changed]
        if self.status:
            wrong.append(f"{self.name}: exit status {self.status}")
        want, got = same_lines(self.plain), same_lines(self.lines)
        if got != want + ([] if want[-1] == "DONE" else ["DONE"]):
            wrong += ["other output than without probes:"] + got + ["expected:"] + want
        return wrong

    def judge(self, wrong):
        wrong = wrong + self.harm()
        return wrong + describe(self.report, self.lines) if wrong else []


def exact(name, *options, exit_mode=None, in_flight=None, **allowed):
    """The test of counts: what is wrong, as lines. exit_mode: where all ends must be seen.
    in_flight: calls that are still open at the end, where that is certain."""
    m = Measured(name, *options)
    wrong = check_exact(m.report, m.lines, **allowed)
    if in_flight is not None:
        wrong += differ("in total", "in flight", m.report["coverage"]["in_flight_end"], in_flight)
    for f in m.report["functions"]:
        if exit_mode and f["exit_mode"] != exit_mode:
            wrong.append(f"{f['function']}: exits are seen at {f['exit_mode']}, not {exit_mode}")
    return m.judge(wrong)
