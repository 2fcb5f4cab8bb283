# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What hbprof cannot do: each has its exit status and a line that says why, and what to do."""
import json
import os
import re
import shutil
import subprocess
import tempfile

from exact import check_exact
from live import (HBPROF, WORK, Broken, Hbprof, Workload, as_nobody, done, end, run, skip,
                  start, test, text_changes, tmp)

GO = "gojson_plain -mode marshal -n 100"
C = "hostile -mode plain -n 100"


def say(r, status, *patterns):
    """What is wrong with a refusal: its exit status, output on stdout, a line that is missing."""
    wrong = []
    if r.returncode != status:
        wrong.append(f"exit status {r.returncode}, expected {status}")
    if r.stdout:
        wrong.append(f"on stdout: {r.stdout[:200]}")
    wrong += [f"nothing like '{p}' on stderr" for p in patterns if not re.search(p, r.stderr)]
    return wrong + [r.stderr] if wrong else []


def refused(sentence, argv, status, *patterns):
    test(sentence, lambda: say(run([HBPROF, *argv]), status, *patterns))


# ---- no such target -------------------------------------------------------------------------

def dead_pid():
    p = start(["true"])
    p.wait()
    end(p)
    return p.pid


def is_kernel_thread(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return int(f.read().rsplit(")", 1)[1].split()[6]) & 0x200000 != 0
    except OSError:
        return False


def thread_of(pid):
    return [int(t) for t in os.listdir(f"/proc/{pid}/task") if int(t) != pid][0]


def test_targets():
    pid = dead_pid()
    refused("a process that is not there is nothing to trace", ["--pid", str(pid)], 3,
            f"no process {pid}")
    if is_kernel_thread(2):
        refused("a kernel thread is nothing to trace", ["--pid", "2"], 3, "kernel thread")
    else:
        skip("a kernel thread is nothing to trace", "none can be seen here")
    zombie = start(["true"])
    os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
    refused("a zombie is nothing to trace", ["--pid", str(zombie.pid)], 3, f"{zombie.pid}")
    end(zombie)
    sleeper = start(["sleep", "1000"])
    refused("a program without a codec is nothing to trace", ["--pid", str(sleeper.pid)], 3,
            "looked for .*encoding/json.*cJSON")
    end(sleeper)
    if os.path.exists(f"{WORK}/gojson_plain"):
        with Workload(GO) as w:
            tid = thread_of(w.pid)
            refused("the id of a thread is not one of a process", ["--pid", str(tid)], 3,
                    f"{tid} is a thread", "Tgid")


def test_functions():
    test("code that differs from its file is not touched, and nothing is left to trace", code_differs)
    with Workload(C) as w:
        pid = str(w.pid)
        refused("a function that is not there is named", ["--pid", pid, "--probe", "no_such"], 3,
                "no_such")
        refused("a function that was inlined is not there",
                ["--pid", pid, "--probe", "truth_enter"], 3, "truth_enter.*inlined")
        refused("one of two functions that is not there is named",
                ["--pid", pid, "--probe", "codec", "--probe", "no_such"], 3, "no_such")
        refused("an empty name of a function is a usage error", ["--pid", pid, "--probe", ""], 2,
                "--probe")
        refused("a C program without a codec is nothing to trace", ["--pid", pid], 3,
                "looked for .*cJSON")


def code_differs():
    """The process has other code in place of the function than its file has."""
    with Workload(C) as w:
        vaddr = next(int(x.split()[0], 16) for x in run(["nm", f"{WORK}/hostile"]).stdout.splitlines()
                     if x.endswith(" T codec"))
        with open(f"/proc/{w.pid}/maps") as f:
            base = int(f.readline().split("-")[0], 16)
        with open(f"/proc/{w.pid}/mem", "r+b", buffering=0) as mem:
            mem.seek(base + vaddr)
            mem.write(b"\x90" * 16)
        return say(run([HBPROF, "--pid", str(w.pid), "--probe", "codec"]), 3,
                   "codec is not measured: its code in memory differs")


# ---- bad usage ------------------------------------------------------------------------------

USAGE = [
    ([], "--pid"),
    (["--pid", "x"], "'x'"),
    (["--pid", "0"], "'0'"),
    (["--pid", "-1"], "'-1'"),
    (["--pid", "99999999999999999999"], "9999"),
    (["--pid", "1,x"], "'x'"),
    (["--wait"], "which process"),
    (["--name", ""], "need a text"),
    (["--pid", "1", "-d", "10"], "'10'"),
    (["--pid", "1", "-d", "0s"], "'0s'"),
    (["--pid", "1", "-d", "-1s"], "'-1s'"),
    (["--pid", "1", "--exit=never"], "never"),
    (["--pid", "1", "--format=xml"], "xml"),
    (["--pid", "1", "--max-tasks=0"], "'0'"),
    (["--pid", "1", "--max-rows=many"], "many"),
    (["--pid", "1", "--nonsense"], "nonsense"),
    (["--pid", "1", "stray"], "stray"),
]


def test_usage():
    for argv, pattern in USAGE:
        refused(f"'hbprof {' '.join(argv)}' is a usage error", argv, 2, pattern)


# ---- not permitted --------------------------------------------------------------------------

def test_not_root():
    if not shutil.which("setpriv"):
        skip("without root there is a clear line", "no setpriv")
        return
    with Workload(C) as w:
        test("without root a process of root's cannot be measured",
             lambda: say(as_nobody([HBPROF, "--pid", str(w.pid), "--probe", "codec"], cwd="/tmp"),
                         1, "root|CAP_"))
    mine = start(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                  f"{WORK}/hostile", "-mode", "plain", "-n", "1"],
                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    mine.stdout.readline()
    test("without root one's own process cannot be measured, either",
         lambda: say(as_nobody([HBPROF, "--pid", str(mine.pid), "--probe", "codec"], cwd="/tmp"),
                     1, "root|CAP_"))
    end(mine)


def own_pid_namespace(inner):
    """As in a container: the kernel knows processes by other ids than hbprof does there."""
    script = f"""{inner} {WORK}/spin -mode push -n 4000 -iters 100 -nowait -rate 1000 >&2 &
        sleep 0.2
        {HBPROF} --pid $(pgrep -x spin) --probe spin_push -d 500ms -o {tmp}/ns.hbp --format json
        s=$?; kill $! 2>/dev/null; exit $s"""
    return run(["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", script],
               cwd=tmp)


def measures_in_its_namespace():
    r = own_pid_namespace("")
    if r.returncode:
        return [f"exit {r.returncode}: {r.stderr}"]
    fn = json.loads(r.stdout)["functions"][0]
    if not 0 < fn["entries"] <= 4000 or fn["entries"] != fn["exits"] + fn["in_flight_end"]:
        return [f"entries {fn['entries']}, exits {fn['exits']}"]
    return []


def refuses_a_namespace_inside():
    return say(own_pid_namespace("unshare --pid --fork --kill-child"), 1, "PID namespace", "outside")


# ---- output that cannot be written ----------------------------------------------------------

class SmallDisk:
    """A file system with room for next to nothing."""

    def __init__(self, options):
        self.path = tempfile.mkdtemp(dir=tmp)
        mount = run(["mount", "-t", "tmpfs", "-o", options, "none", self.path])
        self.mounted = mount.returncode == 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.mounted:
            run(["umount", self.path])


def recorded(*options, seconds="100ms", **kw):
    """A short recording of a workload that calls all the time: (status, stdout, stderr)."""
    with Workload("spin -mode push -n 1000000000 -iters 1000") as w:
        w.go()
        argv = ["--probe", "spin_push", "-d", seconds, *options]
        with Hbprof(w.pid, *argv, **kw) as h:
            r = h.wait()
        wrong = text_changes(w.pid)
        if wrong:
            raise Broken("\n".join(wrong))
        return r


def full_disk():
    with SmallDisk("size=4k") as disk:
        if not disk.mounted:
            raise Broken("cannot mount a tmpfs")
        with open(f"{disk.path}/other", "wb") as f:
            f.write(b"x" * 4096)
        status, out, err = recorded("-o", f"{disk.path}/a.hbp")
        wrong = [f"left behind: {f}" for f in os.listdir(disk.path) if f != "other"]
        if status != 1 or "a.hbp" not in err or "No space left" not in err:
            wrong.append(f"exit status {status}: {err}")
        if '"rows"' not in out:
            wrong.append("no report of what was measured")
        return wrong


def said_before(path, why):
    """A capture that cannot be written is no surprise at the end of a long recording."""
    status, out, err = recorded("-o", path)
    wrong = []
    if status != 1 or path not in err or why not in err:
        wrong.append(f"exit status {status}: {err}")
    if "measuring" in err or out:
        wrong.append(f"it was measured first: {err}")
    return wrong


def read_only_disk():
    with SmallDisk("size=64k,ro") as disk:
        if not disk.mounted:
            raise Broken("cannot mount a tmpfs")
        return said_before(f"{disk.path}/a.hbp", "Read-only")


def through_symlink():
    """A capture neither overwrites what a link in its place leads to nor the link."""
    folder = tempfile.mkdtemp(dir=tmp)
    with open(f"{folder}/victim", "w") as f:
        f.write("precious")
    os.symlink("victim", f"{folder}/a.hbp")
    wrong = said_before(f"{folder}/a.hbp", "symbolic link")
    with open(f"{folder}/victim") as f:
        wrong += [] if f.read() == "precious" else ["the file behind the link was overwritten"]
    if not os.path.islink(f"{folder}/a.hbp"):
        wrong.append("the link has gone")
    left = sorted(os.listdir(folder))
    return wrong + ([] if left == ["a.hbp", "victim"] else [f"left behind: {left}"])


def stdout_is(how):
    """The report cannot be written: that is said, and the capture is there all the same."""
    path = f"{tmp}/stdout.hbp"
    with Workload("spin -mode push -n 1000000000 -iters 1000") as w:
        w.go()
        r = run(["bash", "-o", "pipefail", "-c", f'"$@" {how}', "bash", HBPROF, "--pid", str(w.pid),
                 "--probe", "spin_push", "-d", "100ms", "-o", path])
        wrong = text_changes(w.pid)
    said = [x for x in r.stderr.splitlines() if "error:" in x]
    if r.returncode != 1 or len(said) != 1 or "standard output" not in said[0]:
        wrong.append(f"exit status {r.returncode}: {r.stderr}")
    if run([HBPROF, "report", path]).returncode:
        wrong.append("no capture was written")
    return wrong


def cut_captures():
    path, wrong = f"{tmp}/whole.hbp", []
    status, _, err = recorded("-o", path)
    if status:
        return [err]
    with open(path, "rb") as f:
        whole = f.read()
    for length in (0, 1, 10, len(whole) // 2, len(whole) - 9, len(whole) - 1):
        with open(f"{tmp}/cut.hbp", "wb") as f:
            f.write(whole[:length])
        r = run([HBPROF, "report", f"{tmp}/cut.hbp"])
        wrong += [f"{length} bytes: {x}" for x in say(r, 1, "cut.hbp")]
    return wrong


def test_output():
    test("a full disk is said, and the report is printed", full_disk)
    test("a disk that is read only is said before anything is measured", read_only_disk)
    test("a folder that is not there is said before anything is measured", said_before,
         f"{tmp}/none/a.hbp", "No such file")
    test("a folder in the capture's place is said before anything is measured", said_before, tmp,
         "directory")
    test("a symbolic link in the capture's place is left alone", through_symlink)
    test("a closed stdout is said, and the capture is written", stdout_is, ">&-")
    test("a full stdout is said, and the capture is written", stdout_is, ">/dev/full")
    test("a reader of stdout that has gone does not cost the capture", stdout_is, "| true")
    test("a capture that was cut is refused by name", cut_captures)


def unharmed():
    """After all of this the same kind of target is still measured exactly."""
    with Workload(C) as w, Hbprof(w.pid, "--probe", "codec") as h:
        h.wait_measuring()
        w.run()
        return check_exact(h.report(), w.lines.seen)


def main():
    test_targets()
    test_functions()
    test_usage()
    test_not_root()
    test("in a PID namespace of its own, as in a container, hbprof counts", measures_in_its_namespace)
    test("a target in a namespace inside that one is refused with the remedy",
         refuses_a_namespace_inside)
    test_output()
    test("after all refusals the same program is measured exactly", unharmed)
    done()


if __name__ == "__main__":
    main()
