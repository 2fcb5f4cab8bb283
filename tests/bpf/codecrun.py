# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""One mode of a workload that calls other libraries' codecs, measured and compared with the truth that
it prints: entries, exits, calls, errors, sizes, and the library's version. Used by the tests here and
by the table of tests/bench/codecs.py.
"""
import re

from exact import check_balance, latency, parse_truth
from live import Broken, Hbprof, Workload, text_changes

LIBRARY = re.compile(r"^LIBRARY (\S+) (\S+)$")

# What no register or argument tells at the ends of a call, so that n/a is right there: of an operation,
# or of one function. All else that is missing is a mistake.
NO_SIZE = {
    ("ugorji", "encode"), ("ugorji", "decode"), ("encoding/gob", "encode"), ("encoding/gob", "decode"),
    ("easyjson", "decode"), ("flatbuffers", "encode"), ("msgpack-c", "encode"),
    ("protobuf_C++", "google::protobuf::MessageLite::SerializeToString..."),
    ("protobuf_C++", "google::protobuf::MessageLite::SerializeToArray..."),
    ("nlohmann/json", "decode"), ("RapidJSON", "decode"), ("RapidJSON", "encode"),
    ("protojson", "decode"), ("V8_JSON", "encode"), ("V8_JSON", "decode"),
    ("serde_json", "decode"), ("bincode", "encode"), ("simd-json", "decode"), ("prost", "encode"),
    ("protobuf", "google.golang.org/protobuf/proto.UnmarshalOptions.Unmarshal"),
}
NO_ERRORS = {
    ("easyjson", "decode"), ("flatbuffers", "encode"), ("protobuf-c", "encode"),
    ("protobuf_C++", "encode"), ("protobuf_C++", "decode"), ("nlohmann/json", "decode"),
    ("nlohmann/json", "encode"), ("RapidJSON", "decode"), ("RapidJSON", "encode"),
    ("json-c", "json_tokener_parse_ex"), ("V8_JSON", "encode"), ("V8_JSON", "decode"),
    ("serde_json", "decode"), ("bincode", "encode"), ("simd-json", "decode"), ("prost", "encode"),
}
STREAM = re.compile(r"coder\)\.(En|De)code$")


def same_codec(a, b):
    """TRUTH lines have no blanks in a name."""
    return a == b.replace(" ", "_")


def is_named(name, function):
    """"..." stands for anything: what templates and parameters have there."""
    if "..." not in name:
        return name == function
    return re.fullmatch(".*".join(re.escape(part) for part in name.split("...")), function)


class Run:
    """The run of one mode under hbprof. wrong: what is not as it should be, as lines."""

    def __init__(self, folder, name, *options):
        self.name = name
        program, *flags = name.split()
        with Workload(name, [f"{folder}/{program}", *flags]) as w, \
                Hbprof(w.pid, "--no-stacks", "--functions", *options) as h:
            h.wait_measuring()
            w.run()
            self.report = h.report()
            changed = text_changes(w.pid)
            status = w.finish()
            self.lines = w.lines.seen
        self.truth = parse_truth(self.lines)
        self.outer = next((f for f, t in self.truth.items() if t["calls"]), None)
        if not self.outer:
            raise Broken(f"{name}: no function was called:\n" + "\n".join(self.lines))
        self.t = self.truth[self.outer]
        words = next(x for x in self.lines if x.startswith(f"TRUTH {self.t['codec']} ")).split()
        self.codec, self.op = words[1], words[2]
        self.look()
        self.wrong = self.compare()
        self.wrong += [f"the code was not restored: {c}" for c in changed]
        if status:
            self.wrong.append(f"exit status {status}")

    def mine(self, what):
        return [x for x in self.report[what] if same_codec(self.codec, x["codec"]) and
                x["op"] == self.op]

    def look(self):
        """The counters of the codec's operation, over all functions of it that were entered."""
        self.functions = [f for f in self.mine("functions") if f["entries"]]
        rows = [r for r in self.mine("rows") if r["calls"]]
        self.entries = sum(f["entries"] for f in self.functions)
        self.exits = sum(f["exits"] for f in self.functions)
        self.unknown = sum(f["unknown_return_site"] for f in self.functions)
        self.calls = sum(r["calls"] for r in rows)
        self.errors = sum(r["calls"] for r in rows if r["outcome"] == "error")
        sizes = [r["size"] for r in rows if r["size"]["sum_bytes"] is not None]
        self.size_calls = sum(s["calls"] for s in sizes)
        self.size_sum = sum(s["sum_bytes"] for s in sizes)
        self.size_max = max([s["max_bytes"] for s in sizes], default=None)
        outer = [f for f in self.functions if is_named(self.outer, f["function"])]
        self.has_errors = any(f["has_errors"] for f in outer)
        self.version = outer[0]["library_version"] if outer else None
        main = max(rows, key=lambda r: r["calls"], default=None)
        self.p50 = main["latency"]["p50_ns"] if main else None
        self.note = main["note"] if main else None

    def compare(self):
        wrong = check_balance(self.report)
        c = self.report["coverage"]
        if c["dropped"] or c["abandoned"] or c["in_flight_end"]:
            wrong.append(f"{c['dropped']} dropped, {c['abandoned']} abandoned, "
                         f"{c['in_flight_end']} in flight")
        for name, t in self.truth.items():
            got = [f["entries"] for f in self.functions if is_named(name, f["function"])]
            if got != [t["entries"]]:
                wrong.append(f"{name}: entries {got}, truth {t['entries']}")
        return wrong + self.compare_calls() + self.compare_sizes() + self.compare_version()

    def compare_calls(self):
        """A return address that no call instruction names becomes known by the first call."""
        t, wrong = self.t, []
        if self.unknown > len(self.functions) or self.calls + self.lost() != t["calls"]:
            wrong.append(f"calls {self.calls} and {self.unknown} of unknown return sites, truth "
                         f"{t['calls']}")
        if self.has_errors == self.listed(NO_ERRORS):
            wrong.append(f"errors are {'' if self.has_errors else 'not '}told apart")
        if self.has_errors and self.errors != t["errors"]:
            wrong.append(f"errors {self.errors}, truth {t['errors']}")
        return wrong

    def lost(self):
        """Calls that are missing because their outermost function's return was not known."""
        return sum(f["unknown_return_site"] for f in self.functions
                   if is_named(self.outer, f["function"]))

    def listed(self, table):
        return (self.codec, self.op) in table or (self.codec, self.outer) in table

    def sizeless(self):
        return self.listed(NO_SIZE) or bool(STREAM.search(self.outer))

    def compare_sizes(self):
        if self.sizeless():
            return [] if self.size_max is None else ["sizes from nowhere"]
        mean = self.t["size_sum"] // self.t["calls"]
        if self.size_max != self.t["size_max"]:
            return [f"size_max {self.size_max}, truth {self.t['size_max']}"]
        if not self.t["errors"] and (self.size_sum, self.size_calls) != (mean * self.calls, self.calls):
            return [f"size_sum {self.size_sum} of {self.size_calls}, truth {mean} each"]
        if self.t["errors"] and not self.unknown and self.size_sum != self.t["size_sum"]:
            return [f"size_sum {self.size_sum}, truth {self.t['size_sum']}"]
        return []

    def compare_version(self):
        for line in self.lines:
            m = LIBRARY.match(line)
            if m:
                return [] if m[2] == (self.version or "n/a") else [f"version {self.version}, truth {m[2]}"]
        return [f"{self.name} prints no LIBRARY line"]

    def truth_p50(self):
        return latency(self.lines, self.outer, "p50")
