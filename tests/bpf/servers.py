# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Servers under load: their codecs' calls are counted exactly, and their clients get every answer. How
long requests take is not looked at here.
"""
import os
import re
import subprocess

from exact import Measured, check_exact
from live import WORK, Broken, done, ok, skip, test

HERE = os.path.dirname(os.path.abspath(__file__))
OTHERS = os.path.join(WORK, "codecs")


def requests(lines, rule):
    for line in lines:
        m = re.match(rf"^REQUESTS rule={rule} count=(\d+)", line)
        if m:
            return int(m[1])
    raise Broken(f"no REQUESTS rule={rule}")


def served(name, rule, n, **allowed):
    m = Measured(name)
    wrong = check_exact(m.report, m.lines, **allowed)
    got = requests(m.lines, rule)
    if got != n:
        wrong.append(f"{got} requests, not {n}")
    return m.judge(wrong)


def build_others():
    """What went wrong; nothing if nothing has."""
    p = subprocess.run([f"{HERE}/../workload/codecs.sh", OTHERS, "servers"], stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900)
    return p.stdout.decode() if p.returncode else ""


def test_others():
    failed = build_others()
    if failed and os.environ.get("HB_CI") == "1":
        ok(False, "the servers in frameworks build", failed)
    # gin calls its decoder through an interface: the first calls' return site is not known.
    for mode, what, handlers, unknown in (
            ("gin", "gin", 800, True), ("echo", "echo", 800, False),
            ("grpc", "gRPC", 800, False), ("grpcstream", "gRPC's streams", 8, False)):
        sentence = f"a server of {what} counts exactly"
        if failed:
            skip(sentence, failed.splitlines()[-1])
            continue
        test(sentence, served, f"codecs/goservers -mode {mode} -n 800 -g 8 -ns 2000 -tail", "handler",
             handlers, may_be_unknown=unknown)


for mode in ("rw", "recv", "msg", "vec", "threads", "tail", "short", "unix"):
    test(f"a server in C counts exactly, in mode {mode}", served,
         f"epoll_server -mode {mode} -n 1000 -g 8 -ns 2000", "connection", 1000)
for mode in ("json", "stream", "handoff", "sql", "json -short", "json -unix", "json -tail -g 32"):
    test(f"a server in Go counts exactly, in mode {mode}", served,
         f"goserver -g 8 -n 1000 -ns 2000 -mode {mode}", "connection", 1000)
test("a server in Go counts exactly over TLS", served, "goserver -mode tls -n 500 -g 8", "handler", 500)
test_others()
done()
