# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""CPU samples: their stacks, names and tags, of programs of which is known where their time goes.

HB_STACKS_N is the number of calls of the comparison with runtime/pprof: more of them compare better.
"""
import os
import re
import subprocess
import time

from live import HBPROF, WORK, Broken, Hbprof, Workload, done, run, skip, test, tmp

SRC = os.environ.get("HB_SRC", os.path.join(os.path.dirname(__file__), "..", ".."))
N = int(os.environ.get("HB_STACKS_N", 200000))
MARSHAL = "encoding/json.Marshal"
WORKER = "main.(*run).workersOf.func1"


class Stacks:
    """Of a capture, as `hbprof flamegraph --folded` prints them: [(frames, samples)]."""

    def __init__(self, capture, *options):
        r = run([HBPROF, "flamegraph", capture, "--folded", *options])
        if r.returncode != 0:
            raise Broken(f"hbprof flamegraph: exit status {r.returncode}: {r.stderr}")
        self.v = []
        for line in r.stdout.splitlines():
            stack, count = line.rsplit(" ", 1)
            self.v.append((stack.split(";"), int(count)))
        self.total = sum(n for _, n in self.v)

    def having(self, *frames):
        """Samples of the stacks that have these frames, in this order."""
        return sum(n for stack, n in self.v if in_order(stack, frames))

    def share(self, *frames):
        return 100 * self.having(*frames) / self.total if self.total else 0

    def some(self, nr=8):
        top = sorted(self.v, key=lambda s: -s[1])[:nr]
        return [f"{n} {';'.join(stack)}" for stack, n in top]


def in_order(stack, frames):
    it = iter(stack)
    return all(any(f == s for s in it) for f in frames)


class Sampled:
    """A workload from READY to DONE, sampled: its report and stacks."""

    def __init__(self, name, *options, argv=None, until_exit=False):
        with Workload(name, argv) as w, Hbprof(w.pid, *options) as h:
            h.wait_measuring()
            w.run()
            if until_exit:
                w.finish()
            self.report = h.report(0 if until_exit else 2)
            self.stacks = Stacks(h.capture)
            self.by_codec = Stacks(h.capture, "--by", "codec")
        self.s = self.report["cpu_sampling"]

    def seen(self):
        return [f"cpu_sampling: {self.s}", *self.report["warnings"], *self.stacks.some()]

    def sane(self, least):
        """What holds of every recording."""
        wrong = []
        if not self.s or self.s["samples"] < least:
            return [f"less than {least} samples"] + self.seen()
        if self.s["samples"] != self.stacks.total or self.stacks.total != self.by_codec.total:
            wrong.append(f"{self.s['samples']} samples, {self.stacks.total} in the stacks")
        if self.s["lost"]:
            wrong.append(f"{self.s['lost']} samples lost")
        outside = self.by_codec.having("[no codec call]")
        if self.s["in_calls"] != self.by_codec.total - outside:
            wrong.append(f"{self.s['in_calls']} samples in calls, but {outside} outside")
        by_func = {r["function"]: r["cpu_samples"] for r in self.report["rows"]}
        if sum(by_func.values()) != self.s["in_calls"]:
            wrong.append(f"{self.s['in_calls']} samples in calls, by function {by_func}")
        return wrong

    def cut_pct(self):
        return 100 * self.s["truncated"] / max(self.s["samples"], 1)


# ---- against the profiler of the Go runtime --------------------------------------------------

def pprof_share(binary, profile, function):
    """The function's cumulated share in percent."""
    go = run([f"{SRC}/tests/find_go.sh"]).stdout.strip()
    r = run([go, "tool", "pprof", "-top", "-cum", "-nodefraction=0", "-nodecount=10000", binary,
             profile], env={**os.environ, "GOTOOLCHAIN": "local"})
    for line in r.stdout.splitlines():
        m = re.match(r"\s*\S+\s+\S+%\s+\S+%\s+\S+\s+(\S+)%\s+(.*)$", line)
        if m and m[2] == function:
            return float(m[1])
    raise Broken(f"go tool pprof knows no {function}:\n{r.stdout[:2000]}{r.stderr}")


def share_as_pprof(bound):
    """Of one and the same run, and of the samples of the goroutines that marshal. Of the others (the
    collector's, the scavenger's) pprof sees less: a thread's timer expires at the scheduler's tick,
    and who runs in bursts between two ticks is not met. pprof takes 100 samples for each second of
    CPU time: the standard deviation of its share is a point or more here."""
    profile = os.path.join(tmp, "cpu.prof")
    binary = f"{WORK}/gojson_plain"
    r = Sampled(f"gojson_plain -mode marshal -size device -g 2 -n {N} -cpuprofile {profile}",
                "--frequency", "499")
    all_theirs = pprof_share(binary, profile, MARSHAL)
    theirs = 100 * all_theirs / pprof_share(binary, profile, WORKER)
    ours = 100 * r.stacks.having(WORKER, MARSHAL) / max(r.stacks.having(WORKER), 1)
    print(f"# share of {MARSHAL} in its goroutines: hbprof {ours:.2f} %, runtime/pprof "
          f"{theirs:.2f} %; in all: {r.stacks.share(MARSHAL):.2f} % of {r.stacks.total} samples, "
          f"{all_theirs:.2f} %; cut {r.cut_pct():.2f} %")
    wrong = r.sane(500)
    if abs(ours - theirs) > bound:
        wrong.append(f"{ours:.2f} % against {theirs:.2f} %: more than {bound} points apart")
    return wrong + r.seen() if wrong else []


# ---- what stacks must have --------------------------------------------------------------------

def check_go(r, least, function=MARSHAL):
    wrong = r.sane(least)
    if r.cut_pct() > 5:
        wrong.append(f"{r.cut_pct():.1f} % of the stacks are cut")
    if r.stacks.share("runtime.goexit", WORKER, function) < 30:
        wrong.append(f"{function} is not in the stacks")
    tagged = r.by_codec.having("encoding/json encode")
    if tagged and r.by_codec.having("encoding/json encode", function) < 0.9 * tagged:
        wrong.append("samples in calls of a function whose stacks do not have it")
    if tagged < 0.2 * r.stacks.total:
        wrong.append(f"only {tagged} samples are in calls")
    nameless = [s for s, _ in r.stacks.v if any(re.match(r"\[gojson", f) for f in s)]
    wrong += [f"no name: {';'.join(s)}" for s in nameless[:5]]
    return wrong + r.seen() if wrong else []


def go_program(build, until_exit=False):
    r = Sampled(f"gojson_{build} -mode marshal -size order -n 150000", "--frequency", "499",
                until_exit=until_exit)
    wrong = check_go(r, 100)
    if until_exit and r.report["stop_reason"] != "target exited":
        wrong.append(f"ended: {r.report['stop_reason']}")
    return wrong


def ends_in_its_first_second():
    """Before anybody has looked at its mappings a second time."""
    begin = time.monotonic()
    r = Sampled("gojson_plain -mode marshal -size order -n 20000", "--frequency", "2000",
                until_exit=True)
    print(f"# {time.monotonic() - begin:.2f} s in all")
    return check_go(r, 20)


def kernel_frames():
    """Every probe hit is a trap: that is in the kernel, below the function that is probed."""
    r = Sampled("gojson_plain -mode marshal -size tiny -n 150000", "--frequency", "499")
    wrong = r.sane(100)
    kernel = [(s, n) for s, n in r.stacks.v if any(f.endswith("_[k]") for f in s)]
    if sum(n for _, n in kernel) < 0.05 * r.stacks.total:
        wrong.append("hardly any sample has kernel frames")
    for s, _ in kernel:
        first = [f.endswith("_[k]") for f in s].index(True)
        if not all(f.endswith("_[k]") for f in s[first:]):
            wrong.append(f"user frames inside of kernel frames: {';'.join(s)}")
    if not any(not s[0].endswith("_[k]") for s, _ in kernel):
        wrong.append("no kernel frame has user frames around it")
    if not any(re.match(r"(asm_exc_int3|\w*uprobe\w*)_\[k\]$", f) for s, _ in kernel for f in s):
        wrong.append("no frame is the trap of a probe; perhaps kernel names are missing")
    return wrong + r.seen() if wrong else []


def c_with_frame_pointers():
    exe = os.path.join(tmp, "spin_fp")
    c = f"{SRC}/tests/workload/c"
    cc = os.environ.get("CC", "gcc").split()
    subprocess.run([*cc, "-std=gnu11", "-O2", "-fno-omit-frame-pointer", "-D_GNU_SOURCE", "-o", exe,
                    f"{c}/spin.c", f"{c}/stubs.S", "-lpthread"], check=True)
    r = Sampled("spin -mode push", "--frequency", "499", "--probe=spin_push",
                argv=[exe, "-mode", "push", "-n", "3000", "-iters", "300000"])
    wrong = r.sane(100)
    if r.cut_pct() > 10:
        wrong.append(f"{r.cut_pct():.1f} % of the stacks are cut")
    if r.stacks.share("spin_push") < 90:
        wrong.append("spin_push is not in the stacks")
    if r.by_codec.share("spin_push", "spin_push") < 90:
        wrong.append("the samples are not in calls of spin_push")
    return wrong + r.seen() if wrong else []


def without_samples():
    with Workload("gojson_plain -mode marshal -n 100") as w, Hbprof(w.pid, "--no-stacks") as h:
        h.wait_measuring()
        w.run()
        report = h.report()
        r = run([HBPROF, "flamegraph", h.capture, "--folded"])
    wrong = []
    if report["cpu_sampling"] is not None or report["rows"][0]["cpu_samples"] is not None:
        wrong.append("samples were taken")
    if r.returncode != 1 or "--no-stacks" not in r.stderr:
        wrong.append(f"flamegraph: exit status {r.returncode}: {r.stderr}")
    return wrong


def main():
    if os.path.exists(f"{WORK}/gojson_plain"):
        test("json.Marshal has the share of CPU samples that runtime/pprof gives it",
             share_as_pprof, 5)
        test("stacks of a stripped Go binary have names", go_program, "stripped")
        test("stacks of a position independent Go binary have names", go_program, "pie")
        test("a program that ends while it is sampled keeps its stacks", go_program, "plain", True)
        test("a program that ends in its first second keeps its stacks", ends_in_its_first_second)
        test("kernel frames are there, inside of user frames", kernel_frames)
        test("without --stacks there are none, and flamegraph says so", without_samples)
    else:
        skip("CPU samples of Go programs", "not built: no Go >= 1.22")
    test("stacks of a C program with frame pointers reach from main to the probed function",
         c_with_frame_pointers)
    done()


if __name__ == "__main__":
    main()
