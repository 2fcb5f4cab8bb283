# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""hbprof check against what can be done: as root, and with each set of file capabilities that
docs/man/hbprof-check.1.scd names."""
import json
import os
import shutil
import time

import live
from live import Broken, Hbprof, Workload, done, run, skip, test

CALLS = 1000  # of gojson_plain -mode marshal
BASE = ("cap_bpf", "cap_perfmon")
PTRACE, DAC, CKPT = "cap_sys_ptrace", "cap_dac_read_search", "cap_checkpoint_restore"
ALL = BASE + (PTRACE, DAC, CKPT)
NOBODY = dict(user=live.NOBODY, group=live.NOBODY, extra_groups=[])
ROOT_HBPROF = live.HBPROF

home = os.path.join(live.tmp, "caps")  # where nobody may write its captures
os.mkdir(home)
os.chown(home, live.NOBODY, live.NOBODY)


def copy(path, name, mode=0o755):
    to = os.path.join(live.tmp, f"{name}-{time.monotonic_ns()}")
    shutil.copy(path, to)
    os.chmod(to, mode)
    return to


def with_caps(caps):
    """A copy of hbprof that has these file capabilities."""
    path = copy(ROOT_HBPROF, "hbprof")
    if caps:
        r = run(["setcap", ",".join(caps) + "+ep", path])
        if r.returncode:
            raise Broken(f"setcap: {r.stderr}")
    return path


def check(path, **kw):
    r = run([path, "check", "--json"], **kw)
    return r, json.loads(r.stdout)


def results(doc):
    return {c["name"]: c["result"] for c in doc["checks"]}


# ---- as root --------------------------------------------------------------------------------

def root_can_measure():
    r, doc = check(ROOT_HBPROF)
    got = results(doc)
    wrong = [f"{n}: {got[n]}" for n in ("kernel", "btf", "bpf_load", "uprobe_multi", "ring_buffer")
             if got[n] != "ok"]
    if r.returncode or not doc["can_measure"]:
        wrong.append(f"exit status {r.returncode}: {r.stdout}")
    return wrong


def other_tracers_are_seen():
    with Workload("gojson_plain -mode marshal") as w, Hbprof(w.pid) as hb:
        hb.wait_measuring()
        during = next(c for c in check(ROOT_HBPROF)[1]["checks"] if c["name"] == "bpf_links")
        hb.stop()
    wrong = [] if during["result"] == "warn" and "with uprobes" in during["detail"] else [during]
    return wrong


# ---- with file capabilities -----------------------------------------------------------------

class Target(Workload):
    """gojson_plain as a process of `own` (nobody's) or root, from a file of its own."""

    def __init__(self, own, mode=0o755, deleted=False):
        self.exe = copy(f"{live.WORK}/gojson_plain", "target")
        argv = [self.exe, "-mode", "marshal"]
        if own:
            os.chown(self.exe, live.NOBODY, live.NOBODY)
            argv = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] + argv
        super().__init__("gojson_plain -mode marshal", argv)
        os.chmod(self.exe, mode)
        if deleted:
            os.unlink(self.exe)


TARGETS = {
    "a process of the same user": dict(own=True),
    "the same with its file deleted": dict(own=True, deleted=True),
    "a process of another user": dict(own=False),
    "one whose file the user may not read": dict(own=False, mode=0o700),
    "another user's with its file deleted": dict(own=False, deleted=True),
}
SAME, GONE, OTHER, CLOSED, OTHER_GONE = TARGETS

# What measures what: exactly as in the table of the manual page.
MATRIX = [
    ((), {SAME: False}),
    (("cap_bpf",), {SAME: False}),
    (("cap_perfmon",), {SAME: False}),
    (BASE, {SAME: True, GONE: False, OTHER: False}),
    (BASE + (CKPT,), {GONE: True, OTHER: False}),
    (BASE + (PTRACE,), {OTHER: True, CLOSED: False, OTHER_GONE: False}),
    (BASE + (PTRACE, DAC), {CLOSED: True, OTHER_GONE: False}),
    (BASE + (PTRACE, CKPT), {OTHER_GONE: False}),
    (ALL, {SAME: True, GONE: True, OTHER: True, CLOSED: True, OTHER_GONE: True}),
    (("cap_sys_admin",), {SAME: True, GONE: True, OTHER: False}),
]


def measured(path, target):
    """What is wrong with measuring it; None if it is refused with a reason and no report."""
    live.HBPROF = path
    out = os.path.join(home, "x.hbp")
    with Target(**TARGETS[target]) as w, Hbprof(w.pid, "-o", out, **NOBODY) as hb:
        try:
            hb.wait_measuring()
        except Broken:
            status, report, said = hb.wait()
            if status in (1, 3) and "error: " in said and not report and w.alive():
                return None
            return [f"exit status {status}: {said}{report}"]
        w.run()
        status, report, said = hb.stop()
        if status:
            return [f"exit status {status}: {said}"]
        doc = json.loads(report)
        calls = [r["calls"] for r in doc["rows"]]
        bad = [] if calls == [CALLS] else [f"calls: {calls}, expected {CALLS}"]
        if not doc["coverage"]["balanced"] or doc["coverage"]["lost"]:
            bad.append(f"coverage: {doc['coverage']}")
        return bad


def needs(path, target, enough):
    got = measured(path, target)
    if enough:
        return ["refused"] if got is None else got
    return [] if got is None else ["it was measured"] + got


def check_agrees(path, expected):
    """can_measure is about the processes of the user that asks."""
    r, doc = check(path, **NOBODY)
    wrong = [] if doc["can_measure"] == expected and r.returncode == (not expected) else [r.stdout]
    if results(doc)["uprobe_multi"] != ("ok" if expected else "unknown"):
        wrong.append(f"uprobe_multi: {results(doc)['uprobe_multi']}")
    return wrong


def capabilities_work():
    """Why they cannot be tested here, or None."""
    for tool in ("setcap", "setpriv"):
        if not shutil.which(tool):
            return f"{tool} is not installed"
    try:
        r, doc = check(with_caps(BASE), **NOBODY)
    except (Broken, OSError, ValueError) as e:
        return str(e)
    if results(doc)["cap_bpf"] != "ok":
        return "file capabilities have no effect here (nosuid, no_new_privs)"
    if not os.path.exists(f"{live.WORK}/gojson_plain"):
        return "the Go workload was not built"
    return None


test("root can measure, and the probe that was tried is hit", root_can_measure)
if os.path.exists(f"{live.WORK}/gojson_plain"):
    test("the probes of another hbprof are seen", other_tracers_are_seen)
else:
    skip("the probes of another hbprof are seen", "the Go workload was not built")
why = capabilities_work()
if why:
    skip("file capabilities suffice as the manual page says", why)
else:
    for caps, expected in MATRIX:
        path = with_caps(caps)
        named = ", ".join(caps) or "no capability"
        if SAME in expected:
            test(f"hbprof check knows what {named} can do", check_agrees, path, expected[SAME])
        for target, enough in expected.items():
            test(f"{named}: {target} is {'' if enough else 'not '}measured", needs, path, target,
                 enough)
        os.unlink(path)
done()
