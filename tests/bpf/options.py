# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The options of a recording, and that its capture shows the same report again, to anyone."""
import gzip
import json
import os
import signal
import time

from exact import Seen, check_balance, check_exact, describe, exact, parse_truth
from live import (HBPROF, WORK, Broken, Hbprof, Workload, as_nobody, done, parse_report,
                  run, skip, test, text_changes, tmp)

SPIN = "spin -mode spin -n 500 -iters 100"
SPIN_PROBES = ["--probe", "spin_push", "--probe", "spin_endbr", "--probe", "spin_lea"]
ENDLESS = "spin -mode push -n 1000000000 -iters 1000"


def recorded(name, *options, out="json", stop=signal.SIGINT, **kw):
    """(status, stdout, stderr), lines of the workload: measured from READY to DONE."""
    with Workload(name) as w, Hbprof(w.pid, *options, out=out, **kw) as h:
        h.wait_measuring()
        w.run()
        r = h.stop(stop)
        wrong = text_changes(w.pid)
        if wrong:
            raise Broken("\n".join(wrong))
        return r, w.lines.seen


# ---- replay ---------------------------------------------------------------------------------

def replay(name, probes, out):
    """What was printed live, and again by nobody, byte for byte; but for the last line, that tells
    where the capture is."""
    path = f"{tmp}/replay.hbp"
    env = dict(os.environ, COLUMNS="120")
    (status, live, err), _ = recorded(name, "-o", path, *probes, out=out, env=env)
    os.chmod(path, 0o644)
    if status:
        return [err]
    wrong = []
    if out == "table":
        live, tail = live.rsplit("\ncapture: ", 1)
        if path not in tail:
            wrong.append(f"the last line does not name the capture: {tail}")
    r = as_nobody([HBPROF, "report", "--format", out, path], env=env, cwd="/")
    if r.returncode or r.stdout != live:
        wrong += [f"exit status {r.returncode}: {r.stderr}", "live:", live, "again:", r.stdout]
    return wrong


def capture_is_gzip(name):
    path = f"{tmp}/gzip.hbp"
    recorded(name, "-o", path, *SPIN_PROBES)
    r = run(["gzip", "-t", "-S", ".hbp", path])
    wrong = [r.stderr] if r.returncode else []
    with gzip.open(path) as f:
        json.load(f)
    return wrong


def capture_on_stdout(name):
    """-o -: the capture, and nothing else."""
    path = f"{tmp}/piped.hbp"
    with Workload(name) as w, open(path, "wb") as f:
        with Hbprof(w.pid, "-o", "-", *SPIN_PROBES, out=None, stdout=f) as h:
            h.wait_measuring()
            w.run()
            status, _, err = h.stop()
        if status:
            return [err]
        report = parse_report(*triple(run([HBPROF, "report", "--format", "json", path])))
        return check_exact(report, w.lines.seen)


def triple(r):
    return r.returncode, r.stdout, r.stderr


# ---- how it ends, what it prints ------------------------------------------------------------

def ends_by_itself():
    with Workload(ENDLESS) as w:
        w.go()
        with Hbprof(w.pid, "-d", "1s", "--probe", "spin_push") as h:
            report = h.report(0)
    wrong = check_balance(report)
    if report["stop_reason"] != "duration" or not report["coverage"]["exits"]:
        wrong.append(f"stop reason {report['stop_reason']}, {report['coverage']['exits']} exits")
    if not 1e9 <= report["duration_ns"] < 2e9:
        wrong.append(f"it took {report['duration_ns']} ns")
    return wrong


def ends_by(sig, reason):
    (status, out, err), lines = recorded(SPIN, *SPIN_PROBES, stop=sig)
    report = parse_report(status, out, err)
    wrong = check_exact(report, lines)
    if report["stop_reason"] != reason:
        wrong.append(f"stop reason {report['stop_reason']}")
    return wrong


def across_intervals():
    """Snapshots each second and a new calibration lose nothing and count nothing twice."""
    name = "spin -mode push -n 17500 -rate 5000 -iters 200"
    (status, out, err), lines = recorded(name, "--probe", "spin_push")
    report = parse_report(status, out, err)
    wrong = check_exact(report, lines)
    if report["probe"]["calibrations"] < 2:
        wrong.append(f"{report['probe']['calibrations']} calibrations")
    return wrong


def interrupted_early(seconds):
    """Ctrl-C before the first call is measured: in order, or at once if nothing was begun."""
    with Workload(ENDLESS) as w:
        w.go()
        with Hbprof(w.pid, "--probe", "spin_push") as h:
            time.sleep(seconds)
            status, out, err = h.stop()
        wrong = text_changes(w.pid)
    if status == -signal.SIGINT and not err:
        return wrong
    report = parse_report(status, out, err)
    if report["stop_reason"] != "interrupted":
        wrong.append(f"stop reason {report['stop_reason']}")
    return wrong + check_balance(report)


def quiet():
    path = f"{tmp}/quiet.hbp"
    with Workload(ENDLESS) as w:
        w.go()
        r = run([HBPROF, "--pid", str(w.pid), "--quiet", "-d", "100ms", "--probe", "spin_push",
                 "-o", path])
    wrong = [] if triple(r) == (0, "", "") else [f"{triple(r)}"]
    report = parse_report(*triple(run([HBPROF, "report", "--format", "json", path])))
    return wrong + check_balance(report)


def default_name():
    folder = os.path.join(tmp, "cwd")
    os.mkdir(folder)
    with Workload(ENDLESS) as w:
        w.go()
        r = run([HBPROF, "--pid", str(w.pid), "-d", "100ms", "--probe", "spin_push"], cwd=folder)
        want = [f"hbprof-{w.pid}.hbp"]
    wrong = [r.stderr] if r.returncode else []
    return wrong + ([] if os.listdir(folder) == want else [f"{os.listdir(folder)}, not {want}"])


def two_probes():
    (status, out, err), lines = recorded(SPIN, *SPIN_PROBES[:4])
    report = parse_report(status, out, err)
    names = sorted(f["function"] for f in report["functions"])
    wrong = [] if names == ["spin_endbr", "spin_push"] else [f"functions: {names}"]
    lines = [x for x in lines if "spin_lea" not in x]
    return wrong + check_exact(report, lines)


def probe_with_operation():
    (status, out, err), lines = recorded(SPIN, "--probe", "spin_push=encode", "--probe",
                                         "spin_lea=decode")
    report = parse_report(status, out, err)
    ops = {r["function"]: r["op"] for r in report["rows"]}
    want = {"spin_push": "encode", "spin_lea": "decode"}
    wrong = [] if ops == want else [f"operations: {ops}, expected {want}"]
    return wrong + check_exact(report, [x for x in lines if "spin_endbr" not in x])


# ---- limits ---------------------------------------------------------------------------------

def few_tasks():
    """16 of 1,000 goroutines can be followed. The calls of the others are dropped, and counted so;
    those that were followed have their own times: the blocked ones, that are longer than all
    others together, are no more than there were."""
    (status, out, err), lines = recorded("gojson_plain -mode goroutines -g 1000 -n 2",
                                         "--max-tasks=16")
    report = parse_report(status, out, err)
    wrong = check_balance(report)
    c, s = report["coverage"], Seen(report, "encoding/json.Marshal")
    t = parse_truth(lines)["encoding/json.Marshal"]
    if not c["dropped"] or c["dropped"] != c["drops"]["frames_full"]:
        wrong.append(f"{c['dropped']} dropped, {c['drops']['frames_full']} for that reason")
    if s.calls + c["dropped"] != t["calls"] or s.f["entries"] != t["entries"]:
        wrong.append(f"{s.calls} calls and {c['dropped']} dropped of {t['calls']}")
    if not s.calls or s.size_sum > t["size_sum"] or s.f["abandoned"] or s.f["in_flight_end"]:
        wrong.append("wrong samples")
    return wrong + describe(report, lines) if wrong else []


def full_for_long():
    """The room is full of calls that sleep when the probes' cost is to be measured again: hbprof's
    own calls find none, and the measurement goes on all the same."""
    with Workload("gojson_plain -mode block -g 60 -ns 300000000 -procs 4 -n 1000000") as w, \
            Hbprof(w.pid, "--max-tasks=8", "-d", "8s") as h:
        h.wait_measuring()
        w.go()
        report = h.report(0)
    c = report["coverage"]
    return check_balance(report) + ([] if c["dropped"] and c["exits"] else [f"coverage: {c}"])


def few_rows():
    """Five functions, four sizes: what finds no row of its own is together in one, and counted."""
    (status, out, err), lines = recorded("gojson_plain -mode mixed -n 500", "--max-rows=2")
    report = parse_report(status, out, err)
    wrong = check_balance(report)
    c = report["coverage"]
    over = sum(r["calls"] for r in report["rows"] if r["overflow"])
    calls = sum(r["calls"] for r in report["rows"])
    want = sum(t["calls"] for t in parse_truth(lines).values())
    if not over or over != c["drops"]["rows_full"]:
        wrong.append(f"{over} calls in the overflow row, {c['drops']['rows_full']} counted")
    if calls != want:
        wrong.append(f"{calls} calls in all rows, truth {want}")
    return wrong + describe(report, lines) if wrong else []


def main():
    go = os.path.exists(f"{WORK}/gojson_plain")
    if go:
        for out in ("json", "table", "csv"):
            test(f"a capture of a Go program shows nobody the same {out} again", replay,
                 "gojson_plain -mode mixed -n 500", [], out)
    for out in ("json", "table", "csv"):
        test(f"a capture of a C program shows nobody the same {out} again", replay, SPIN,
             SPIN_PROBES, out)
    test("a capture is gzip of JSON", capture_is_gzip, SPIN)
    test("a capture can be written to stdout", capture_on_stdout, SPIN)
    test("a recording of one second ends by itself", ends_by_itself)
    for sig, reason in ((signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")):
        test(f"{sig.name} ends a recording in order", ends_by, sig, reason)
    for seconds in (0.02, 0.05, 0.1):
        test(f"SIGINT {seconds * 1000:.0f} ms after the start ends a recording in order",
             interrupted_early, seconds)
    test("snapshots and calibrations while recording change no count", across_intervals)
    test("--quiet writes the capture and prints nothing", quiet)
    test("the capture is named by the pid", default_name)
    test("two functions are measured, and no other", two_probes)
    test("a function is shown with the operation that was given", probe_with_operation)
    test("--max-tasks 1 follows one thread", exact, "hostile -mode plain -n 1000", "--max-tasks=1")
    test("--max-tasks 4 follows four threads", exact, "hostile -mode threads -n 500",
         "--max-tasks=4")
    if go:
        test("calls that fill --max-tasks for long do not end the measurement", full_for_long)
        test("more goroutines than --max-tasks are dropped and counted", few_tasks)
        test("more rows than --max-rows are counted together", few_rows)
    else:
        skip("limits are kept", "no Go >= 1.22")
    done()


if __name__ == "__main__":
    main()
