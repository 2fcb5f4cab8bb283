# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Drives hbprof against running programs, for the tests of this folder: the workloads and their
protocol (tests/workload/README.md), hbprof itself, TAP. What the counts must be is in exact.py.

Every wait has a deadline, and every process that was started is ended by its pid: at the end of a
`with`, or at the latest when the test exits. A test that breaks off is a failed test, not the end.
"""
import atexit
import ctypes
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

HBPROF = os.environ["HBPROF"]
WORK = os.environ["HB_WORK"]
DEADLINE_S = 60  # for whatever takes a second here
NOBODY = 65534
PR_SET_PDEATHSIG = 1  # linux/prctl.h

tmp = tempfile.mkdtemp(prefix="hbprof-live.")
os.chmod(tmp, 0o755)  # hbprof report is also run by nobody
started = []


class Broken(Exception):
    """What a test needs has not happened, and it cannot go on. Says what, and what was seen."""


# ---- TAP ------------------------------------------------------------------------------------

class Tap:
    nr = failed = 0


def ok(good, sentence, *seen):
    """One result; what was seen is printed when it is a failure."""
    Tap.nr += 1
    Tap.failed += not good
    print(f"{'ok' if good else 'not ok'} {Tap.nr} - {sentence}")
    if not good:
        for text in seen:
            for line in str(text).splitlines():
                print(f"# {line}")
    sys.stdout.flush()
    return good


def equal(got, want, sentence, *seen):
    return ok(got == want, sentence, f"got:      {got!r}", f"expected: {want!r}", *seen)


def skip(sentence, reason):
    Tap.nr += 1
    print(f"ok {Tap.nr} - {sentence} # SKIP {reason}", flush=True)


def test(sentence, body, *args, **kw):
    """Runs one test: body returns what is wrong, as lines; nothing if nothing is."""
    try:
        wrong = body(*args, **kw)
    except Broken as e:
        wrong = [str(e)]
    except Exception:  # the test itself: said, and on with the next
        wrong = [traceback.format_exc()]
    ok(not wrong, sentence, *(wrong or []))


def done():
    print(f"1..{Tap.nr}")
    sys.exit(Tap.failed > 0)


# ---- processes ------------------------------------------------------------------------------

def die_with_parent():
    """Should this script be killed, nothing goes on calling codecs for ever."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def start(argv, **kw):
    p = subprocess.Popen(argv, preexec_fn=die_with_parent, **kw)
    started.append(p)
    return p


def end(p):
    """Ends a process that was started here, if it has not ended yet."""
    if p.poll() is None:
        p.kill()
        p.wait()
    for f in (p.stdin, p.stdout, p.stderr):
        try:
            if f:
                f.close()
        except OSError:
            pass  # a line for a process that has gone
    if p in started:
        started.remove(p)


def cleanup():
    for p in list(started):
        end(p)
    shutil.rmtree(tmp, ignore_errors=True)


atexit.register(cleanup)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


def run(argv, **kw):
    """A command to its end. Text of both outputs; a timeout is an exit status of None."""
    kw.setdefault("stdin", subprocess.DEVNULL)
    kw.setdefault("stdout", subprocess.PIPE)
    p = start(argv, stderr=subprocess.PIPE, **kw)
    try:
        out, err = p.communicate(timeout=DEADLINE_S)
        return subprocess.CompletedProcess(argv, p.returncode, (out or b"").decode(), err.decode())
    except subprocess.TimeoutExpired:
        p.kill()
        out, err = p.communicate()
        return subprocess.CompletedProcess(argv, None, (out or b"").decode(), err.decode())
    finally:
        end(p)


class Lines:
    """Lines of a pipe, each with a deadline."""

    def __init__(self, f, who):
        self.fd, self.who, self.buf, self.seen = f.fileno(), who, b"", []

    def next(self, deadline):
        """None: the end."""
        while b"\n" not in self.buf:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                raise Broken(f"{self.who}: no line in time; so far:\n" + "\n".join(self.seen))
            got = os.read(self.fd, 65536)
            if not got:
                return None
            self.buf += got
        line, self.buf = self.buf.split(b"\n", 1)
        self.seen.append(line.decode(errors="replace"))
        return self.seen[-1]

    def until(self, pattern, seconds=DEADLINE_S):
        """The match of the first line that has it; Broken if the pipe ends before."""
        deadline = time.monotonic() + seconds
        while True:
            line = self.next(deadline)
            if line is None:
                raise Broken(f"{self.who} ended without '{pattern}':\n" + "\n".join(self.seen))
            m = re.search(pattern, line)
            if m:
                return m


class Workload:
    """A program of tests/workload, stopped at READY. name: 'gojson_plain -mode marshal'."""

    def __init__(self, name, argv=None):
        words = name.split()
        self.name = name
        self.p = start(argv or [f"{WORK}/{words[0]}"] + words[1:], stdin=subprocess.PIPE,
                       stdout=subprocess.PIPE)
        self.lines = Lines(self.p.stdout, name)
        self.pid = int(self.lines.until(r"^PID (\d+)$")[1])
        self.lines.until("^READY$")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        end(self.p)

    def newline(self):
        try:
            self.p.stdin.write(b"\n")
            self.p.stdin.flush()
        except OSError as e:
            raise Broken(f"{self.name} is gone: {e}, exit status {self.p.poll()}")

    def go(self):
        self.newline()

    def run(self):
        """From READY to DONE."""
        self.go()
        self.lines.until("^DONE$")

    def finish(self):
        """The exit status after DONE."""
        self.newline()
        try:
            return self.p.wait(DEADLINE_S)
        except subprocess.TimeoutExpired:
            raise Broken(f"{self.name} does not end after DONE")

    def alive(self):
        return self.p.poll() is None


def unprobed(name):
    """The lines of a run without probes, to its end. It need not wait between its calls: -rate is for
    those that look at the program meanwhile."""
    words = re.sub(r" -rate \S+", "", name).split()
    r = run([f"{WORK}/{words[0]}"] + words[1:] + ["-nowait"])
    if r.returncode != 0:
        raise Broken(f"{name}: exit status {r.returncode} without probes: {r.stderr}")
    return r.stdout.splitlines()


class Hbprof:
    """hbprof measuring a process."""

    def __init__(self, pid, *options, out="json", **kw):
        self.capture = os.path.join(tmp, f"{pid}-{time.monotonic_ns()}.hbp")
        argv = [HBPROF, "--pid", str(pid), "-v", *options]
        if "-o" not in options:
            argv += ["-o", self.capture]
        if out:
            argv += ["--format", out]
        kw.setdefault("stdout", subprocess.PIPE)
        self.p = start(argv, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, **kw)
        self.err = Lines(self.p.stderr, "hbprof")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        end(self.p)
        if os.path.lexists(self.capture):
            os.unlink(self.capture)

    def wait_measuring(self):
        self.err.until(r"measuring \d+ functions")
        return self

    def wait(self):
        """(exit status, stdout, all of stderr) of its end."""
        try:
            out, err = self.p.communicate(timeout=DEADLINE_S)
        except subprocess.TimeoutExpired:
            end(self.p)
            raise Broken("hbprof does not end:\n" + "\n".join(self.err.seen))
        seen = "\n".join(self.err.seen + [(self.err.buf + err).decode(errors="replace")])
        return self.p.returncode, (out or b"").decode(), seen

    def stop(self, sig=signal.SIGINT):
        self.p.send_signal(sig)
        return self.wait()

    def report(self, sig=signal.SIGINT):
        """Stops it; the report as a dict. sig 0: it ends by itself."""
        status, out, err = self.stop(sig) if sig else self.wait()
        return parse_report(status, out, err)


def parse_report(status, out, err):
    if status != 0:
        raise Broken(f"hbprof: exit status {status}\n{err}")
    try:
        return json.loads(out)
    except ValueError as e:
        raise Broken(f"hbprof: no JSON on stdout: {e}\n{out[:2000]}\n{err}")


def as_nobody(argv, **kw):
    return run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *argv], **kw)


# ---- the code of a process ------------------------------------------------------------------

def text_changes(pid):
    """Where the executable mappings of files differ from the files: 'FILE+0x12: cc is not 55'."""
    wrong = []
    with open(f"/proc/{pid}/maps") as f:
        maps = [line.split(None, 5) for line in f]
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as mem:
        for m in maps:
            if "x" not in m[1] or len(m) < 6 or not m[5].startswith("/"):
                continue
            lo, hi = (int(x, 16) for x in m[0].split("-"))
            wrong += range_changes(mem, m[5].strip(), lo, hi - lo, int(m[2], 16))
    return wrong


def range_changes(mem, path, addr, size, off):
    with open(path, "rb") as f:
        f.seek(off)
        want = f.read(size)
    mem.seek(addr)
    got = mem.read(len(want))
    if got == want:
        return []
    at = [i for i in range(min(len(got), len(want))) if got[i] != want[i]]
    return [f"{path}+{off + i:#x}: {got[i]:02x} is not {want[i]:02x}" for i in at[:10]]


def wait_text_original(pid, seconds):
    """What of the code is still changed after some time, as lines."""
    deadline = time.monotonic() + seconds
    while True:
        wrong = text_changes(pid)
        if not wrong or time.monotonic() > deadline:
            return wrong
        time.sleep(0.02)


def cpu_ticks(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def wait_running(pid, seconds=5):
    """Whether the process still uses CPU time."""
    before, deadline = cpu_ticks(pid), time.monotonic() + seconds
    while time.monotonic() < deadline:
        if cpu_ticks(pid) > before:
            return True
        time.sleep(0.02)
    return False
