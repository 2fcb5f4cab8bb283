# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Servers under load: their codecs' calls are counted exactly, and their clients get every answer. How
long requests take is not looked at here.
"""
import re

from exact import Measured, check_exact
from live import Broken, done, test


def requests(lines, rule):
    for line in lines:
        m = re.match(rf"^REQUESTS rule={rule} count=(\d+)", line)
        if m:
            return int(m[1])
    raise Broken(f"no REQUESTS rule={rule}")


def served(name, rule, n):
    m = Measured(name)
    wrong = check_exact(m.report, m.lines)
    got = requests(m.lines, rule)
    if got != n:
        wrong.append(f"{got} requests, not {n}")
    return m.judge(wrong)


for mode in ("rw", "recv", "msg", "vec", "threads", "tail", "short", "unix"):
    test(f"a server in C counts exactly, in mode {mode}", served,
         f"epoll_server -mode {mode} -n 1000 -g 8 -ns 2000", "connection", 1000)
for mode in ("json", "stream", "handoff", "sql", "json -short", "json -unix", "json -tail -g 32"):
    test(f"a server in Go counts exactly, in mode {mode}", served,
         f"goserver -g 8 -n 1000 -ns 2000 -mode {mode}", "connection", 1000)
test("a server in Go counts exactly over TLS", served, "goserver -mode tls -n 500 -g 8", "handler", 500)
done()
