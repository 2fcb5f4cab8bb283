# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""How far hbprof's percentiles are from those of the program itself. The truth is what the same program
measures in itself while it is not probed: with probes it would measure them, too.
"""
from measure import Bare, Probed, Sample, field, pairs, pct, ratios, say, table

CODECS = [("gojson_plain", mode, "encoding/json." + fn, size)
          for mode, fn in (("marshal", "Marshal"), ("unmarshal", "Unmarshal"))
          for size in ("heartbeat", "order", "device")]
CODECS += [("cjson_work", mode, fn, size)
           for mode, fn in (("parse", "cJSON_Parse"), ("print", "cJSON_Print"))
           for size in ("heartbeat", "order", "device")]
CALLS = {"heartbeat": 30000, "order": 8000, "device": 2500}

PACES = ((0, 20000), (15000, 15000), (5000, 5000), (1000, 1500))
HEAD = ["function", "case", "P50 truth", "P50 hbprof", "error %", "raw", "raw error %", "P99 truth",
        "P99 hbprof", "error %", "truth's own spread, P50, P99, %"]


def own_spread(values):
    s = Sample(values)
    return f"{100 * (s.v[-1] - s.v[0]) / s.median:.1f}"


def compare(case, function, name, *options):
    """A row. Raw is what would be shown without the correction: the bias is subtracted from each call
    by itself, so that the percentiles of both differ by just that; with other probes inside the call
    by more, and by how much is not known."""
    bare, probed = pairs(lambda: Bare(name), lambda: Probed(name, *options))
    truth = {q: [b.latency(function)[q] for b in bare] for q in ("p50", "p99")}
    seen = {q: [p.row(function)["latency"][q + "_ns"] for p in probed] for q in ("p50", "p99")}
    raw = [v + p.bias(function) for v, p in zip(seen["p50"], probed)]
    alone = not any(p.report["coverage"]["nested"] for p in probed)
    return [
        f"`{function}`", case, Sample(truth["p50"]).text(), Sample(seen["p50"]).text(),
        pct(ratios(seen["p50"], truth["p50"]).median), Sample(raw).text() if alone else "n/a",
        pct(ratios(raw, truth["p50"]).median) if alone else "n/a", Sample(truth["p99"]).text(),
        Sample(seen["p99"]).text(), pct(ratios(seen["p99"], truth["p99"]).median),
        own_spread(truth["p50"]) + ", " + own_spread(truth["p99"]),
    ]


def spin_iters(program, ns):
    m = field(Bare(f"{program} -mode spin -n 1 -ns {ns}").lines, r"SPIN iters=(\d+)")
    return int(m[1])


def spins():
    for us in (1, 2, 5, 10, 20, 100):
        n = 20000 if us <= 10 else 4000
        name = f"gojson_plain -mode spin -iters {spin_iters('gojson_plain', us * 1000)} -n {n}"
        yield compare(f"{us} us", "main.Spin", name, "--probe=main.Spin")
    for us in (1, 10):
        iters = spin_iters("spin", us * 1000)
        for mode in ("push", "endbr", "lea"):
            yield compare(f"{us} us", f"spin_{mode}", f"spin -mode {mode} -iters {iters} -n 10000",
                          f"--probe=spin_{mode}")


def paced():
    """Spins of a microsecond by programs that sleep between them: what a loop knows is not in the caches."""
    for program, mode, function in (("gojson_plain", "spin", "main.Spin"), ("spin", "push", "spin_push")):
        iters = spin_iters(program, 1000)
        for rate, n in PACES:
            name = f"{program} -mode {mode} -iters {iters} -n {n}" + (f" -rate {rate}" if rate else "")
            bare, probed = pairs(lambda: Bare(name), lambda: Probed(name, f"--probe={function}"))
            truth = [b.latency(function)["p50"] for b in bare]
            seen = [p.row(function)["latency"]["p50_ns"] for p in probed]
            own = [p.latency(function)["p50"] for p in probed]
            cold = [100 * p.report["coverage"]["cold"] / p.report["coverage"]["entries"] for p in probed]
            yield [f"`{function}`", f"{rate:,}/s" if rate else "flat out", Sample(truth).text(),
                   Sample(seen).text(), Sample([b - a for a, b in zip(truth, seen)]).text("{:+,.0f}"),
                   Sample([b - a for a, b in zip(truth, own)]).text("{:+,.0f}"), Sample(cold).text()]


def codecs():
    for program, mode, function, size in CODECS:
        yield compare(size, function, f"{program} -mode {mode} -size {size} -n {CALLS[size]}")


def exclusive():
    """main.Outer calls main.Spin twice. Its own time: its latency less twice that of main.Spin."""
    for us in (0, 2, 20):
        iters = spin_iters("gojson_plain", 2000)
        own = iters * us // 2
        work = f"gojson_plain -iters {iters} -n 10000"

        def truth(work=work, own=own):
            outer = Bare(f"{work} -mode spinouter -own {own}").latency("main.Outer")["p50"]
            return outer - 2 * Bare(f"{work} -mode spin").latency("main.Spin")["p50"]

        def seen(work=work, own=own):
            p = Probed(f"{work} -mode spinouter -own {own}", "--probe=main.Spin",
                       "--probe=main.Outer")
            return p.row("main.Outer")["exclusive"]["p50_ns"]

        a, b = pairs(truth, seen)
        diff = Sample([y - x for x, y in zip(a, b)])
        yield [f"{us} us", Sample(a).text(), Sample(b).text(), diff.text("{:+,.0f}")]


def run():
    say("## How exact the latencies are")
    say("\nns, median (least..largest) of the runs; error: median over the pairs.")
    table(HEAD, spins())
    table(HEAD, codecs())
    say("By how long the program sleeps between its calls (P50, ns):")
    table(["function", "calls", "truth", "hbprof", "difference", "added to the program", "cold entries, %"],
          paced())
    say("Exclusive time of a function that calls another measured one twice (2 us each), P50, ns:")
    table(["own work", "truth", "hbprof", "difference"], exclusive())
