# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Calls of other libraries' codecs, with all that is known of them: entries, exits, errors, sizes,
version. All codecs, all sizes and the times are in docs/codecs.md, by tests/bench/codecs.sh; these are
the ones that build in seconds.
"""
import os
import re
import subprocess

import codecrun
import exact
import live

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(live.WORK, "codecs")
PROGRAMS = {
    "codecs_jansson": "jansson", "codecs_json_c": "json-c", "codecs_yajl": "yajl",
    "codecs_msgpack_c": "msgpack-c", "codecs_libcbor": "libcbor", "codecs_protobuf_c": "protobuf-c",
    "gocodecs_quick": "four Go codecs",
}


def build():
    """What went wrong; nothing if nothing has."""
    p = subprocess.run([f"{HERE}/../workload/codecs.sh", OUT, "quick"], stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    return p.stdout.decode() if p.returncode else ""


def benchmarked():
    """All of Go's kinds of benchmarks, one goroutine and several."""
    flags = ["-test.bench", ".", "-test.benchtime", "500x", "-size", "order"]
    with live.Workload("gobench.test", [f"{OUT}/gobench.test", *flags]) as w:
        with live.Hbprof(w.pid, "--no-stacks") as h:
            h.wait_measuring()
            w.run()
            wrong = exact.check_exact(h.report(), w.lines.seen)
        lines = w.lines.seen
        if w.finish():
            wrong.append("the benchmarks failed")
    kinds = [k for k in ("N", "Loop", "Parallel")
             if not any(x.startswith(f"BenchmarkMarshal{k}") for x in lines)]
    return wrong + [f"no benchmark of the kind {k} was run" for k in kinds]


def codecs_benchmarked():
    """Benchmarks of several codecs over three documents: b.Run in a test binary. Where a codec is called
    through an interface, the first call's return site is not known."""
    flags = ["-test.bench", ".", "-test.benchtime", "50x"]
    with live.Workload("gocodecs.test", [f"{OUT}/gocodecs.test", *flags]) as w:
        with live.Hbprof(w.pid, "--no-stacks") as h:
            h.wait_measuring()
            w.run()
            wrong = exact.check_exact(h.report(), w.lines.seen, may_be_unknown=True)
        lines = w.lines.seen
        if w.finish():
            wrong.append("the benchmarks failed")
    run = {m[1] for m in (re.match(r"^Benchmark(\w+/\w+/\w+)", x) for x in lines) if m}
    missing = {f"{op}/{codec}/{doc}" for op in ("Encode", "Decode")
               for codec in ("json", "jsoniter", "cbor", "msgpack", "protobuf")
               for doc in ("heartbeat", "order", "device")} - run
    return wrong + [f"no benchmark {name} was run" for name in sorted(missing)]


def modes(program):
    return live.run([f"{OUT}/{program}", "-modes"]).stdout.split()


def counted(program):
    """Modes with failures in the smallest document: they may end anywhere in a larger one's parts."""
    wrong = []
    for mode in modes(program):
        size = "heartbeat" if mode.endswith("err") else "order"
        run = codecrun.Run(OUT, f"{program} -mode {mode} -size {size} -n 300")
        wrong += [f"{mode}: {w}" for w in run.wrong]
    return wrong


failed = build()
if failed and os.environ.get("HB_CI") == "1":
    live.ok(False, "the programs that call other libraries build", failed)
for name, what in PROGRAMS.items():
    sentence = f"each call of {what} is counted, with its size, outcome and the library's version"
    if os.path.exists(f"{OUT}/{name}"):
        live.test(sentence, counted, name)
    else:
        live.skip(sentence, failed.splitlines()[-1] if failed else "not built")
for name, body, sentence in (
        ("gobench.test", benchmarked,
         "each call of a go test binary is counted: b.N, b.Loop and RunParallel"),
        ("gocodecs.test", codecs_benchmarked,
         "each call of five codecs' benchmarks over three documents is counted")):
    if os.path.exists(f"{OUT}/{name}"):
        live.test(sentence, body)
    else:
        live.skip(sentence, failed.splitlines()[-1] if failed else "not built")
live.done()
