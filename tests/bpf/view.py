# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The live view: what is on the screen after which key, that the terminal is as before at the end,
whatever the end was, and that a terminal that is slow or gone harms no recording.
"""
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time

from live import HBPROF, WORK, Broken, Workload, cpu_ticks, done, skip, start, test, tmp

LOAD = "gojson_plain -mode mixed -size order -g 2 -rate 2000 -n 1000000000"
LOAD_C = "cjson_work -mode parse -rate 2000 -n 1000000000"


class Tmux:
    """A shell in a terminal of its own. The shell is one that leaves the terminal's modes alone."""
    nr = 0

    def __init__(self, width, height, **env):
        Tmux.nr += 1
        self.sock = os.path.join(tmp, f"tmux{Tmux.nr}")
        self.files = os.path.join(tmp, f"pane{Tmux.nr}")
        os.mkdir(self.files)
        env = {"LANG": "C.UTF-8", "LC_ALL": "", "PS1": "% ", **env}
        words = [f"{k}={v}" for k, v in env.items()]
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height),
                  "env", "-u", "COLUMNS", *words, "sh")
        self.until(r"^%", seconds=10)
        self.run("stty -g > before")

    def tmux(self, *args):
        env = {k: v for k, v in os.environ.items() if k != "TMUX"}
        r = subprocess.run(["tmux", "-S", self.sock, *args], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, cwd=self.files, env=env, check=False)
        if r.returncode:
            raise Broken(f"tmux {args}: {r.stderr.decode()}")
        return r.stdout.decode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["tmux", "-S", self.sock, "kill-server"], stderr=subprocess.DEVNULL,
                       check=False)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def keys(self, *names):
        self.tmux("send-keys", *names)

    def run(self, line):
        """A command line of the shell, until its prompt is back."""
        self.type(f"{line}; echo END")
        self.keys("Enter")
        self.until(r"^END$")

    def lines(self, *options):
        return self.tmux("capture-pane", "-p", *options).rstrip("\n").split("\n")

    def until(self, pattern, seconds=20, *options):
        """The lines of the screen when one matches."""
        deadline = time.monotonic() + seconds
        while True:
            lines = self.lines(*options)
            if any(re.search(pattern, line) for line in lines):
                return lines
            if time.monotonic() > deadline:
                raise Broken(f"no '{pattern}' on the screen:\n" + "\n".join(lines))
            time.sleep(0.03)

    def hbprof(self, pid, *options):
        """Starts it, until the view has its second reading."""
        self.capture = f"{self.files}/{pid}.hbp"
        self.type(f"clear; {HBPROF} --pid {pid} -o {self.capture} {' '.join(options)}; "
                  "echo STATUS $?")
        self.keys("Enter")
        return self.until(r"^hbprof.* 0:0[2-9] ")

    def hbprof_pid(self, pid):
        out = subprocess.run(["pgrep", "-f", "-x", f"{HBPROF} --pid {pid} .*"],
                             stdout=subprocess.PIPE, check=True).stdout
        return int(out.split()[0])

    def wrong_afterwards(self, status=0, capture=True):
        """What is not as it was before the view; the shell's prompt is back."""
        lines = self.until(r"^STATUS \d+")
        wrong = []
        if f"STATUS {status}" not in lines:
            wrong += [f"not exit status {status}:"] + lines
        modes = self.tmux("display", "-p", "#{alternate_on} #{cursor_flag} #{wrap_flag}").split()
        if modes != ["0", "1", "1"]:
            wrong.append(f"alternate screen, cursor, wrapping: {modes}, not 0 1 1")
        self.run("stty -g > after")
        before, after = (open(f"{self.files}/{x}").read() for x in ("before", "after"))
        if before != after:
            wrong.append(f"stty before {before}, after {after}")
        if capture:
            wrong += self.wrong_capture()
        return wrong

    def wrong_capture(self, reason=None):
        r = subprocess.run([HBPROF, "report", "--format", "json", self.capture],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if r.returncode:
            return [f"no capture: {r.stderr.decode()}"]
        report = json.loads(r.stdout)
        wrong = [] if report["coverage"]["balanced"] else ["the capture is not balanced"]
        if reason and report["stop_reason"] != reason:
            wrong.append(f"stop reason {report['stop_reason']}, not {reason}")
        return wrong


def column(lines, title):
    """The cells of a column whose numbers stand right-aligned below its title."""
    head = next(i for i, line in enumerate(lines) if re.search(r"\bfunction\b", line))
    at = lines[head].index(title) + len(title)
    cells = []
    for line in lines[head + 1:]:
        if not line.strip() or line.startswith(("machine", "coverage")):
            break
        cells.append(line[:at].split()[-1])
    return cells


NS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9}


def ns(cell):
    m = re.match(r"~?([0-9.]+)(\D+)$", cell)
    return float(m[1]) * NS[m[2]] if m else -1


def header_time(lines):
    return re.search(r" (\d+:\d\d) ", lines[0])[1]


# ---- what is shown --------------------------------------------------------------------------

def shows_a_table(t, pid):
    lines = t.lines()
    wrong = [] if re.match(rf"hbprof {pid} \S+ .* 0:\d\d +[\d,]+ calls/s$", lines[0]) else \
        [f"header: {lines[0]}"]
    if len(lines) != 20:
        wrong.append(f"{len(lines)} lines")
    for begin in ("coverage  0 lost, entries ", "cost      to the target ", "q quit"):
        if not any(line.startswith(begin) for line in lines):
            wrong.append(f"no line that begins with '{begin}'")
    totals = [ns(x) for x in column(lines, "total")]
    if len(totals) != 5 or totals != sorted(totals, reverse=True):
        wrong.append(f"not five rows by total time: {totals}")
    return wrong + lines if wrong else []


def sorts(t):
    wrong = []
    t.keys("Left")
    lines = t.until("\u25bcmax")
    seen = [ns(x) for x in column(lines, "max")]
    if seen != sorted(seen, reverse=True):
        wrong += ["not by max:"] + lines
    t.type("r")
    lines = t.until("\u25b2max")
    seen = [ns(x) for x in column(lines, "max")]
    if seen != sorted(seen):
        wrong += ["not by max, reversed:"] + lines
    t.type("t")
    t.until("\u25bctotal")
    return wrong


def filters(t):
    t.type("/unmarsh")
    t.until("show rows with: unmarsh")
    t.keys("Enter")
    lines = t.until('1 of 5 rows match "unmarsh"')
    wrong = [] if len(column(lines, "total")) == 1 else lines
    t.type("/zzz")
    t.until("no row matches the filter")
    t.keys("Escape")
    lines = t.until("^since the start, sorted by total")
    return wrong + ([] if len(column(lines, "total")) == 5 else lines)


def pauses(t):
    t.type("p")
    before = t.until("^PAUSED")
    time.sleep(2.2)
    after = t.lines()
    t.type("p")
    t.until("^since the start")
    deadline = time.monotonic() + 5
    while header_time(t.lines()) == header_time(before):
        if time.monotonic() > deadline:
            return ["it does not go on"] + t.lines()
        time.sleep(0.05)
    return [] if before == after else ["it changed:"] + before + after


def resizes(t):
    """While paused: what redraws is the new size alone."""
    t.type("p")
    t.until("^PAUSED")
    wrong = []
    for w, h in ((60, 10), (250, 40), (100, 12), (30, 5), (120, 20)):
        t.tmux("resize-window", "-x", str(w), "-y", str(h))
        began = time.monotonic()
        lines = t.until(r"^hbprof.* calls/s$", 2)
        while len(lines) != h and time.monotonic() < began + 2:
            lines = t.lines()
        if time.monotonic() - began > 0.5:
            wrong.append(f"{w}x{h}: after {time.monotonic() - began:.2f} s")
        if len(lines) != h or len(lines[0]) != w:
            wrong += [f"{w}x{h}: {len(lines)} lines, the first of {len(lines[0])}:"] + lines
    t.type("p")
    t.until("^since the start")
    return wrong


def intervals_and_reset(t):
    wrong = []
    t.type("i")
    lines = t.until(r"^the last (1\.0\d|9\d\d)m?s alone")
    calls = [int(x.replace(",", "")) for x in column(lines, "calls")]
    if len(calls) != 5 or not all(200 <= n <= 600 for n in calls):  # 2000 a second by five
        wrong += [f"calls of the interval: {calls}"] + lines
    t.type("i")
    t.until("^since the start")
    t.type("z")
    t.until("^[0-9.]+s since the reset")
    lines = t.until(r"^(1\.\d+|2\.0\d)s since the reset")
    calls = [int(x.replace(",", "")) for x in column(lines, "calls")]
    if len(calls) != 5 or max(calls) > 1300:
        wrong += [f"calls since the reset: {calls}"] + lines
    t.type("Z")
    t.until("^since the start")
    return wrong


def sizes_and_scrolling(t):
    t.type("s")
    lines = t.until("lines 1-")
    wrong = [] if any(re.match(r"\S* *\S* +(\d+-\d+)K?B ", x) for x in lines) else lines
    t.keys("Down")
    t.until("lines 2-")
    t.keys("NPage")
    t.until("lines [3-9]")
    t.keys("Home")
    t.until("lines 1-")
    t.type("s")
    t.until("^since the start, sorted by total$")
    return wrong


def helps(t):
    t.type("h")
    t.until("any other key goes back")
    t.type("x")
    t.until(r"\btotal$")
    return []


def shows_counters(t):
    t.type("c")
    lines = t.until(r"\bcounted\b")
    calls, counted = ([int(x.replace(",", "")) for x in column(lines, title)]
                      for title in ("calls", "counted"))
    wrong = []
    if len(calls) != 5 or not all(0 < n <= of for n, of in zip(counted, calls)):
        wrong += ["calls with counters:"] + lines
    if not any(line.startswith("counters    means over") for line in lines):
        wrong += ["no word on the counters:"] + lines
    t.type("c")
    t.until(r"\btrend\b")
    return wrong


def shows_the_machine(t):
    wrong = []
    model = next(x for x in open("/proc/cpuinfo") if x.startswith(("model name", "CPU part")))
    t.type("m")
    lines = t.until("^meanwhile ")
    if model.split(":")[0].startswith("model") and \
            not any(line.startswith(f"host        cpu model {model.split(': ')[1].strip()}"[:60])
                    for line in lines):
        wrong += ["no CPU by name:"] + lines
    t.keys("End")
    t.until("^cost +to the target: ")
    t.type("x")
    t.until(r"\btotal$")
    return wrong


def processes_apart():
    with Workload(load) as a, Workload(load) as b, Tmux(120, 20) as t:
        a.go()
        b.go()
        wrong = []
        t.hbprof(a.pid, "--pid", str(b.pid))
        lines = t.until("processes together")
        rows = len(column(lines, "total"))
        t.type("b")
        lines = t.until("a row for each process")
        if len(column(lines, "total")) != 2 * rows:
            wrong.append("not a row for each process")
        for w in (a, b):
            if not any(f" {w.pid} " in line for line in lines[3:]):
                wrong.append(f"no row of {w.pid}")
        t.type("q")
        t.until(r"^STATUS 0")
        return wrong + lines if wrong else []


# ---- ends -----------------------------------------------------------------------------------

def ends_by(finish, status=0, capture=True, reason=None):
    """finish(tmux, workload, pid of hbprof) ends it."""
    with Workload(load) as w, Tmux(120, 20) as t:
        w.go()
        t.hbprof(w.pid)
        finish(t, w, t.hbprof_pid(w.pid))
        wrong = t.wrong_afterwards(status, capture)
        if capture and reason:
            wrong += t.wrong_capture(reason)
        if capture and not any("shows it again" in x for x in t.lines("-J", "-S", "-200")):
            wrong += ["no report:"] + t.lines("-J", "-S", "-200")
        return wrong


def killed(w):
    w.p.kill()
    w.p.wait()


def stopped_and_continued():
    with Workload(load) as w, Tmux(100, 20) as t:
        w.go()
        t.hbprof(w.pid)
        t.keys("C-z")
        # The shell's `echo STATUS` belongs to the same list; what counts is that it is the shell.
        t.until("Stopped|STATUS")
        modes = t.tmux("display", "-p", "#{alternate_on} #{cursor_flag} #{wrap_flag}").split()
        wrong = [] if modes == ["0", "1", "1"] else [f"stopped with the modes {modes}"]
        t.run("stty -g > stopped")
        if open(f"{t.files}/before").read() != open(f"{t.files}/stopped").read():
            wrong.append("stopped with other terminal settings")
        t.type("clear; fg; echo STATUS $?")
        t.keys("Enter")
        t.until(r"^hbprof.* calls/s$")
        t.type("q")
        return wrong + t.wrong_afterwards()


def plain_and_ascii():
    with Workload(load) as w, Tmux(120, 20, LANG="C", NO_COLOR="1") as t:
        w.go()
        t.hbprof(w.pid)
        wrong = [x for x in t.lines() if not x.isascii()]
        coloured = [x for x in t.lines("-e") if re.search(r"\033\[[0-9;]*3[0-7]", x)]
        t.type("q")
        return wrong + coloured + t.wrong_afterwards()


def switched_off():
    wrong = []
    with Workload(load) as w, Tmux(100, 20) as t:
        w.go()
        for option in ("--no-live", "--quiet", "--no-live -v"):
            t.type(f"clear; {HBPROF} --pid {w.pid} -o {t.files}/x -d 1500ms {option}; "
                   "echo STATUS $?")
            t.keys("Enter")
            time.sleep(1)
            if t.tmux("display", "-p", "#{alternate_on}").strip() != "0":
                wrong.append(f"a view in spite of {option}")
            t.until("^STATUS 0")
    return wrong


# A Python that calls cJSON from code without a file: hbprof says so at -vv, when it happens.
JIT = """
import ctypes, mmap, os, sys, time
c = ctypes.CDLL("libcjson.so.1")
c.cJSON_Delete.argtypes = [ctypes.c_void_p]
parse = ctypes.cast(c.cJSON_Parse, ctypes.c_void_p).value
code = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
                 mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
# push rbp; mov rbp, rsp; mov rax, parse; call rax; pop rbp; ret
code.write(bytes.fromhex("554889e548b8") + parse.to_bytes(8, "little") + bytes.fromhex("ffd05dc3"))
call = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)(
    ctypes.addressof(ctypes.c_char.from_buffer(code)))
print("PID", os.getpid()); print("READY", flush=True)
sys.stdin.readline()
while True:
    c.cJSON_Delete(call(b"[1,2,3]"))
    time.sleep(0.01)
"""


def messages_follow():
    """Two messages: one that is logged, and a warning of the recording, which is the last."""
    with Workload("a JIT", [sys.executable, "-c", JIT]) as w, Tmux(100, 20) as t:
        t.hbprof(w.pid, "-vv")
        w.go()
        lines = t.until(r"\(2 messages; all follow at the end\)$")
        wrong = []
        if not lines[0].startswith("hbprof ") or not lines[19].startswith("cJSON_Parse is called"):
            wrong += ["disturbed:"] + lines
        t.until("^q quit")  # it goes after some seconds
        t.type("q")
        wrong += t.wrong_afterwards()
        lines = t.lines("-J", "-S", "-500")
        for begin in ("hbprof: debug: return address 0x", "WARNING     cJSON_Parse is called"):
            if not any(line.startswith(begin) for line in lines):
                wrong += [f"no '{begin}' afterwards:"] + lines
        return wrong


# ---- a terminal that is slow, or goes -------------------------------------------------------

class Pty:
    """hbprof on a terminal that this test is the other end of."""

    def __init__(self, pid, *options, ignore_hup=False, width=200, height=60):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self.capture = os.path.join(tmp, f"pty-{pid}-{time.monotonic_ns()}.hbp")

        env = {**os.environ, "TERM": "xterm", "LANG": "C.UTF-8"}
        # It becomes the terminal's own process, by exec: the pid stays.
        words = ["setsid", "--ctty", "sh", "-c", ignore_hup * "trap '' HUP; " + 'exec "$@"', "sh",
                 HBPROF, "--pid", str(pid), "-o", self.capture, *options]
        self.p = start(words, stdin=slave, stdout=slave, stderr=slave, env=env)
        os.close(slave)
        self.seen = b""

    def until(self, what, seconds=20):
        deadline = time.monotonic() + seconds
        while what not in self.seen:
            if time.monotonic() > deadline:
                raise Broken(f"no {what!r} in {self.seen[-3000:]!r}")
            self.seen += os.read(self.master, 65536)

    def drain(self):
        try:
            while True:
                got = os.read(self.master, 65536)
                if not got:
                    return
                self.seen += got
        except OSError:
            pass  # EIO: the other end is closed

    def wait_capture(self, seconds):
        deadline = time.monotonic() + seconds
        while not os.path.exists(self.capture):
            if time.monotonic() > deadline:
                raise Broken("no capture in time")
            time.sleep(0.02)

    def wrong_capture(self, least_s, reason=None):
        r = subprocess.run([HBPROF, "report", "--format", "json", self.capture],
                           stdout=subprocess.PIPE, check=True)
        report = json.loads(r.stdout)
        wrong = [] if report["coverage"]["balanced"] else ["not balanced"]
        if reason and report["stop_reason"] != reason:
            wrong.append(f"stop reason {report['stop_reason']}, not {reason}")
        seconds = report["coverage"]["wall_ns"] / 1e9
        if seconds < least_s:
            wrong.append(f"only {seconds} s recorded, not {least_s}")
        return wrong


def gone_with_hangup():
    with Workload(load) as w:
        w.go()
        h = Pty(w.pid)
        h.until(b"calls/s")
        os.close(h.master)
        h.p.wait(20)
        return h.wrong_capture(0, "interrupted")


def gone_without_hangup():
    with Workload(load) as w:
        w.go()
        h = Pty(w.pid, ignore_hup=True)
        h.until(b"calls/s")
        os.close(h.master)
        time.sleep(3)
        if h.p.poll() is not None:
            return [f"it has ended: {h.p.returncode}"]
        ticks = cpu_ticks(h.p.pid)
        time.sleep(1)
        ticks = cpu_ticks(h.p.pid) - ticks
        h.p.send_signal(signal.SIGINT)
        h.p.wait(20)
        return h.wrong_capture(3.5) + ([f"busy: {ticks} ticks in a second"] if ticks > 50 else [])


def not_read():
    """The terminal's buffer is full after the first frames. Nothing waits for it but the report."""
    with Workload(load) as w:
        w.go()
        h = Pty(w.pid, "-d", "4s")
        h.until(b"calls/s")
        for i in range(30):  # each a whole frame of 12,000 characters
            fcntl.ioctl(h.master, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 190 + i % 10, 0, 0))
            time.sleep(0.02)
        h.wait_capture(8)
        h.drain()
        h.p.wait(20)
        wrong = h.wrong_capture(3.9)
        if not h.seen.rstrip().endswith(b"shows it again)"):
            wrong.append(f"no report: {h.seen[-500:]!r}")
        if h.seen.rfind(b"\033[?1049l") < h.seen.rfind(b"\033[?1049h"):
            wrong.append("the screen was not given back")
        return wrong


def main():
    on_screen = [
        ("the view shows target, rows by total time, coverage and cost",
         lambda t, w: shows_a_table(t, w.pid)),
        ("keys sort by another column and reverse the order", lambda t, w: sorts(t)),
        ("a filter is typed, kept and dropped", lambda t, w: filters(t)),
        ("the view pauses and goes on", lambda t, w: pauses(t)),
        ("a new size of the terminal is drawn at once", lambda t, w: resizes(t)),
        ("the last interval alone, and counts since a reset", lambda t, w: intervals_and_reset(t)),
        ("size classes are shown, and what does not fit is scrolled to",
         lambda t, w: sizes_and_scrolling(t)),
        ("help is shown and left", lambda t, w: helps(t)),
        ("counters have columns of their own", lambda t, w: shows_counters(t)),
        ("a page tells the machine, the probes and the cost", lambda t, w: shows_the_machine(t)),
    ]
    if load == LOAD:
        with Workload(load) as w, Tmux(120, 20) as t:
            w.go()
            t.hbprof(w.pid)
            for sentence, body in on_screen:
                test(sentence, body, t, w)
            t.type("q")
            test("q ends it: report, capture, and a terminal as before", t.wrong_afterwards)
    else:
        for sentence, _ in on_screen:
            skip(sentence, "no Go >= 1.22")
    test("processes are together until a key tells them apart", processes_apart)
    test("Ctrl-C ends it: report, capture, and a terminal as before", ends_by,
         lambda t, w, pid: t.keys("C-c"), reason="interrupted")
    test("a target that is killed ends it, and the terminal is as before", ends_by,
         lambda t, w, pid: killed(w), reason="target exited")
    for sig, reason in ((signal.SIGTERM, "terminated"), (signal.SIGHUP, "interrupted")):
        test(f"{sig.name} leaves report, capture, and a terminal as before", ends_by,
             lambda t, w, pid, s=sig: os.kill(pid, s), reason=reason)
    for sig in (signal.SIGSEGV, signal.SIGABRT, signal.SIGQUIT):
        test(f"a crash by {sig.name} leaves the terminal as before", ends_by,
             lambda t, w, pid, s=sig: os.kill(pid, s), 128 + sig, False)
    test("Ctrl-Z gives the terminal back until fg", stopped_and_continued)
    test("without UTF-8 and with NO_COLOR all is ASCII without colours", plain_and_ascii)
    test("options switch the view off", switched_off)
    if os.uname().machine == "x86_64":
        test("messages stand on the last line, and are printed afterwards", messages_follow)
    else:
        skip("messages stand on the last line, and are printed afterwards", "its code is x86-64")
    test("a terminal that is closed ends the recording in order", gone_with_hangup)
    test("a terminal that disappears without a signal ends the view, not the recording",
         gone_without_hangup)
    test("a terminal that nobody reads holds up nothing", not_read)
    done()


load = LOAD if os.path.exists(f"{WORK}/gojson_plain") else LOAD_C

if __name__ == "__main__":
    main()
