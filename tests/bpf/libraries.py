# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Calls of other libraries' codecs, with all that is known of them: entries, exits, errors, sizes,
version. All codecs, all sizes and the times are in docs/codecs.md, by tests/bench/codecs.sh; these are
the ones that build in seconds.
"""
import os
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
SENTENCE = "each call of a go test binary is counted: b.N, b.Loop and RunParallel"
if os.path.exists(f"{OUT}/gobench.test"):
    live.test(SENTENCE, benchmarked)
else:
    live.skip(SENTENCE, failed.splitlines()[-1] if failed else "not built")
live.done()
