# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""hbprof on other kernels than the running one: measured there, read here, compared with the truth.

  kernels.py perf SUITE [ARCH]     a kernel without uprobe_multi links: perf events
  kernels.py multi SUITE [ARCH]    one with them
  kernels.py floor SUITE [ARCH]    one that is too old: a clear refusal

ARCH is amd64, or arm64: programs for it are in $HB_ARM64.
"""
import json
import os
import re
import subprocess
import sys

import vm

sys.path.insert(0, f"{vm.HERE}/../bpf")
from exact import check_exact, describe  # noqa: E402
from followed import goroutines, started, tied  # noqa: E402
from live import HBPROF, WORK, done, equal, ok, skip, test, tmp  # noqa: E402
from reqcheck import said  # noqa: E402

# Name, options of hbprof, workload. Few calls: the machine is emulated. LEFT: entries that no return
# ends, nested ones too, where there are such (tests/bpf/exact.py, check_ends()).
GO = [
    ("mixed", "", "gojson_stripped -mode mixed -n 60 -g 2"),
    ("heartbeat", "", "gojson_stripped -mode marshal -size heartbeat -n 1000 -rate 400"),
    ("recursion", "", "gojson_stripped -mode recursion -n 20"),
    ("threads", "--no-stacks", "gojson_stripped -mode block -n 20 -g 8"),
]
C = [
    ("cjson", "", "cjson_work -mode threads -n 100"),
    ("nested", "--probe codec", "hostile -mode longjmp -n 50"),
    ("requests", "--probe=sockets_answer=encode --requests --follow-go --sched-rates", "sockets -mode dup -n 60"),
]
# Verifying the programs takes 6.1 on arm64 two thousand million instructions, 10 s of an emulated machine: its
# kernels share the runs.
# What it has of its own: returns that are probed, or by return sites when told; a frame's place of the
# return address; return addresses that may be signed; functions that are entered behind the saving of a
# frame, without optimisation.
ARM64 = {
    "perf": [C[0], GO[0],
             ("panics", "", "gojson_stripped -mode panicmix -n 40"),
             ("pac", "--probe codec", "hostile_pac -mode longjmp -n 50")],
    "multi": [("noplt", "", "cjson_noplt -mode threads -n 100"), *GO[1:],
              ("sites", "--exit=site", "gojson_stripped -mode mixed -n 60 -g 2"),
              ("debug", "--probe codec", "hostile_debug -mode longjmp -n 50"),
             ("serve", "--requests --follow-go", "goversions_stripped -serve -n 20 -g 2")],
}
LEFT = {"nested": 50 * 4, "pac": 50 * 4, "debug": 50 * 4, "panics": 40 * 10}
KIND = {"perf": "perf events", "multi": "uprobe_multi"}


class Build:
    """hbprof and the workloads for one architecture."""

    def __init__(self, arch):
        self.arch = arch
        base = os.environ.get("HB_ARM64", "") if arch == "arm64" else ""
        self.hbprof, self.work = (f"{base}/hbprof", f"{base}/workload") if base else (HBPROF, WORK)
        self.has_go = os.path.exists(f"{self.work}/gojson_stripped")

    def workloads(self, what):
        if what == "floor":
            return C[:1]
        runs = ARM64[what] if self.arch == "arm64" else C + GO
        return [r for r in runs if self.has_go or not re.match("gojson|goversions", r[2])]


def script(runs):
    lines = ["echo 0 > /proc/sys/kernel/perf_cpu_time_max_percent",
             "mount -t tracefs tracefs /sys/kernel/tracing"]
    lines += [f"measure {name} '{options}' {command}" for name, options, command in runs]
    lines += ["hbprof check > /out/check.txt", "exit 0"]
    return "\n".join(lines) + "\n"


def counted(m, name):
    """The capture that was made there, read here, against what the workload has printed there."""
    r = subprocess.run([HBPROF, "report", "--format", "json", f"{m.out}/{name}.hbp"],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if r.returncode:
        return [r.stderr, m.text(f"{name}.err"), m.text("test.log")]
    report, lines = json.loads(r.stdout), m.text(f"{name}.lines").splitlines()
    wrong = check_exact(report, lines, left=LEFT.get(name))
    if name == "serve":
        tied(report, lines, 0, wrong)
        goroutines(report, started(lines), wrong)
    if r.stdout != m.text(f"{name}.json"):
        wrong.append("the report was another one there")
    if m.text(f"{name}.status").strip() != "0":
        wrong.append(m.text(f"{name}.err"))
    return wrong + describe(report, lines) if wrong else []


def served(m, name):
    """Requests are exact, at both ends of the connection; programs at system calls are loaded there."""
    report = json.loads(m.text(f"{name}.json") or "{}")
    want = said(m.text(f"{name}.lines").splitlines(), "connection")
    got = {r["side"]: r["count"] for r in report.get("requests") or []}
    wrong = []
    if got != {"server": want["count"], "client": want["count"]}:
        wrong.append(f"requests: {got}, not {want['count']}")
    n = report.get("request_coverage") or {}
    for key in ("accepted", "connected"):
        if n.get(key) != want["connections"]:
            wrong.append(f"{key}: {n.get(key)}, not {want['connections']}")
    if n.get("closed") != 2 * want["connections"] or n.get("tied_calls") != want["count"]:
        wrong.append(f"closed, tied: {n}")
    if [r["queued"] for r in report["requests"] if r["side"] == "server"] != [want["connections"]]:
        wrong.append(f"queued: {report['requests']}")
    if not (report.get("request_processes") or [{}])[0].get("voluntary_switches"):
        wrong.append(f"context switches were not read: {report.get('request_processes')}")
    return wrong and wrong + [m.text(f"{name}.err")]


def attached(m, name, kind):
    got = json.loads(m.text(f"{name}.json"))["attach"]
    return [] if got == kind else [f"attach: {got}"]


def times(m, name):
    """What attaching and detaching took there, for whoever reads the log."""
    said = re.findall(r"attached (\d+) sites in (\S+)|detached in (\S+)", m.text(f"{name}.err"))
    print(f"# {m.release} {name}: " + ", ".join(" ".join(filter(None, s)) for s in said))


def measure_there(m, kind, build, runs):
    for name, _, command in runs:
        test(f"Linux {m.release}: {command}: counted exactly, and read here as there", counted, m,
             name)
        times(m, name)
        if name == "requests":
            test(f"Linux {m.release}: requests are counted exactly there", served, m, name)
    test(f"Linux {m.release}: probes are {kind}", attached, m, runs[0][0], kind)
    got = re.findall(r"^(\w+) +uprobe_multi", m.text("check.txt"), re.M)
    equal(got, ["ok" if kind == "uprobe_multi" else "warn"],
          f"Linux {m.release}: hbprof check says how probes are attached", m.text("check.txt"))
    if not build.has_go:
        skip("Go programs are measured there, too", "not built: no Go >= 1.22")


def refused_there(m):
    err = m.text("cjson.err")
    ok("hbprof needs Linux 5.15 or later" in err and len(err.splitlines()) == 1,
       f"Linux {m.release}: refused in one line that names the least version", err)
    equal(m.text("cjson.status").strip(), "1", f"Linux {m.release}: the exit status is 1")
    equal(re.findall(r"^(\w+) +kernel ", m.text("check.txt"), re.M), ["fail"],
          f"Linux {m.release}: hbprof check fails for the kernel", m.text("check.txt"))


def main(what, suite, arch="amd64"):
    build = Build(arch)
    if not os.path.exists(build.hbprof):
        print("1..0 # SKIP hbprof for arm64 was not built: make build-arm64 says why")
        sys.exit(0)
    runs = build.workloads(what)
    programs = {f"{build.work}/{command.split()[0]}" for _, _, command in runs} | {build.hbprof}
    try:
        image = vm.kernel(suite, arch)
        m = vm.Machine(tmp, sorted(programs), script(runs), arch)
        wrong = m.run(image)
    except vm.Missing as e:
        print(f"1..0 # SKIP {e}")
        sys.exit(0)
    print(f"# Linux {m.release}: {m.seconds:.1f} s, {m.guest_s} s there")
    if not ok(not wrong, f"Linux {m.release} of {suite}: starts, runs the test, and ends", wrong):
        done()
    if what == "floor":
        refused_there(m)
    else:
        measure_there(m, KIND[what], build, runs)
    done()


if __name__ == "__main__":
    main(*sys.argv[1:])
