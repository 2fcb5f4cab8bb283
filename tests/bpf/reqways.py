# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Requests by all the ways that a server may read and answer: other system calls, protocols, connections that
do not live like a question and an answer. Against what ways.py, streams.py, gotls and gowire say of themselves.
"""
import os
import re
import sys

from exact import check_exact
from live import WORK, Broken, Hbprof, Workload, done, skip, test
from reqcheck import balance, rows, said

HERE = os.path.dirname(os.path.abspath(__file__))


class Run:
    """A program from READY to DONE: what it says, and the report."""

    def __init__(self, name, argv=None):
        self.wrong = []
        with Workload(name, argv) as w, Hbprof(w.pid, "--requests", "--no-children",
                                               "--functions") as h:
            h.wait_measuring()
            w.run()
            self.report = h.report()
            w.finish()
            self.lines = w.lines.seen
        self.truth, self.n = said(self.lines, "connection"), self.report["request_coverage"]
        balance(self.report, self.wrong)

    def row(self, side):
        """The row of the port, as the truth names things; without requests: zeros."""
        got = rows(self.report, side)
        if len(got) > 1:
            self.wrong.append(f"{len(got)} rows of the {side}")
        return got[0] if got else {"count": 0, "unanswered": 0, "paused": 0, "tls": 0}

    def same(self, got, *keys):
        for key in keys:
            if got[key] != self.truth[key]:
                self.wrong.append(f"{key}: {got[key]}, not {self.truth[key]}")

    def is_(self, what, got, want):
        if got != want:
            self.wrong.append(f"{what}: {got}, not {want}")


def script(name, mode):
    return Run(f"{name} {mode}", [sys.executable, os.path.join(HERE, name), mode])


def way(mode, bytes_too=True):
    """ways.py. Over TLS, bytes are those of the records, which it does not know."""
    r = script("ways.py", mode)
    r.is_("accepted", r.n["accepted"], r.truth["connections"])
    r.is_("closed", r.n["closed"], r.truth["connections"])
    r.is_("found open", r.n["found_open"], 0)
    if mode == "message":
        r.is_("connections with HTTP/2", r.n["multiplexed"], r.truth["connections"])
        r.is_("exchanges", r.n["begun"], 0)
        return r.wrong
    r.same(r.row("server"), "count")
    if bytes_too:
        r.same(r.row("server"), "bytes_in", "bytes_out")
    return r.wrong


def stream(mode):
    r = script("streams.py", mode)
    row = r.row("server")
    r.same(row, "count", "unanswered", "paused")
    r.same(r.n, "upgraded")
    r.is_("accepted", r.n["accepted"], r.truth["connections"])
    for line in r.lines:
        m = re.match(r"^LENGTH ns=(\d+)", line)
        if m and int(m[1]) and not int(m[1]) <= row["latency"]["min_ns"]:
            r.wrong.append(f"{row['latency']}: each took {m[1]} ns at least")
    return r.wrong


def datagrams():
    """Nothing but UDP: no connection, no request, and how much was not looked at."""
    r = script("streams.py", "udp")
    r.is_("rows", r.report["requests"], [])
    r.is_("connections", [r.n[k] for k in ("accepted", "connected", "found_open")], [0, 0, 0])
    r.is_("system calls with datagrams", r.n["datagram"], 2 * r.truth["count"])
    return r.wrong


def over_tls(mode):
    r = Run(f"gotls -mode {mode} -n 30 -g 4")
    r.wrong += check_exact(r.report, r.lines)
    for side in ("server", "client"):
        row = r.row(side)
        if mode == "h2":
            r.is_(f"requests of the {side}", row["count"], 0)
            continue
        r.is_(f"requests of the {side}", row["count"], r.truth["count"])
        r.is_("over TLS", row["tls"], r.truth["count"])
        r.is_("in doubt", row["tls_doubt"], r.truth["count"] if mode == "offered" else 0)
        r.is_("with a pause", row["paused"], 0)
        if side == "server":
            r.is_("codec calls in them", row["codec_calls"], 2 * r.truth["count"])
    # The client has its answer before the handler that made it returns.
    handlers = {x["function"]: x["count"] for x in rows(r.report, "handler")}
    for f in r.report["functions"]:
        if f["function"] in handlers:
            r.is_(f"calls of {f['function']}",
                  handlers[f["function"]] + f["in_flight_end"] + f["abandoned"], r.truth["count"])
    r.is_("handlers", sum("runHandler" in name for name in handlers), int(mode == "h2"))
    r.is_("HTTP/2", r.n["multiplexed"], 2 * r.truth["connections"] if mode == "h2" else 0)
    return r.wrong


def on_the_wire(mode):
    r = Run(f"gowire -mode {mode} -n 40 -g 2")
    r.wrong += check_exact(r.report, r.lines)
    for side in ("server", "client"):
        row = r.row(side)
        r.is_(f"requests of the {side}", row["count"], r.truth["count"])
        # Each takes 2 ms of sleep, and what is decoded and encoded are some bytes.
        if row["codec_share_pct"] > 40:
            r.wrong.append(f"{row['codec_share_pct']} % of the {side}'s requests are in codecs")
    if mode == "decoder":
        r.is_("codec calls in requests", r.row("server")["codec_calls"], 2 * r.truth["count"])
    else:
        r.is_("codec calls in requests", r.row("server")["codec_calls"], r.truth["connections"])
    return r.wrong


for name, sentence in (
        ("tls", "the handshake of OpenSSL, which reads records in two parts, is no request"),
        ("expect", "an answer 100 Continue does not end a request"),
        ("peek", "a look at data does not count it"),
        ("message", "HTTP/2 is told where messages are read"),
        ("vector2", "requests by preadv2 and pwritev2 are counted exactly"),
        ("several", "and those by recvmmsg and sendmmsg"),
        ("zerocopy", "and those by MSG_ZEROCOPY"),
        ("mptcp", "and those over Multipath TCP")):
    test(sentence, way, name, bytes_too=name != "tls")
for name, sentence in (
        ("upgrade", "messages of a WebSocket are no requests"),
        ("events", "a stream of events is one request, until its last byte"),
        ("pause", "a pause in an answer is said"),
        ("poll", "a long poll lasts until it is answered"),
        ("close", "a server that closes after each answer is counted exactly"),
        ("half", "and one whose client has shut its side"),
        ("reset", "a request whose client resets the connection has no answer"),
        ("reset2", "one whose answer is cut by a reset has one")):
    test(sentence, stream, name)
test("datagrams are counted and make no requests", datagrams)
for name, sentence in (
        ("h2", "HTTP/2 inside of TLS makes requests of handlers alone"),
        ("offered", "HTTP/1 of clients that offer HTTP/2 is counted exactly, with a doubt"),
        ("plain", "HTTP/1 of others without one"),
        ("idle", "that a server closes an idle TLS connection does not make its last request longer")):
    if os.path.exists(f"{WORK}/gotls"):
        test(sentence, over_tls, name)
    else:
        skip(sentence, "gotls is not built")
for name, sentence in (
        ("decoder", "what decoders on connections wait is no part of requests"),
        ("handed", "who hands a connection on has no part in its later requests")):
    if os.path.exists(f"{WORK}/gowire"):
        test(sentence, on_the_wire, name)
    else:
        skip(sentence, "gowire is not built")
done()
