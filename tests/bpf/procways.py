# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""procways.py MODE - servers whose processes do not do all of a connection themselves, and their clients, in
a process of their own. Speaks the protocol of tests/workload/README.md; what codec it calls does not
matter here, so that it just has libcjson loaded. Modes:

  queue      connections stand in the listener's queue for a known time before they are accepted

What a process served is printed as REQUESTS with its pid; how long connections stood in the queue as QUEUED.
"""
import ctypes
import os
import socket
import sys
import time

HEAD = b"POST / HTTP/1.1\r\nContent-Length: 8\r\n\r\n"
BODY, ANSWER = b'{"a": 1}', b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
QUEUED, QUEUE_S = 8, 0.02

mode = sys.argv[1]


def say(*words):
    print(*words, flush=True)


def serve(sock):
    """All requests of a connection; how many there were."""
    count = 0
    while sock.recv(4096):
        sock.sendall(ANSWER)
        count += 1
    sock.close()
    return count


def ask(sock, requests):
    for _ in range(requests):
        sock.sendall(HEAD + BODY)
        assert sock.recv(4096) == ANSWER
    sock.close()


def queue(listener):
    """Server and clients are one process here, so that one clock has read both ends of each wait."""
    made, waits, count = [], [], 0
    for _ in range(QUEUED):
        client = socket.create_connection(listener.getsockname())
        made.append((client, time.monotonic_ns()))
        time.sleep(QUEUE_S)
    for client, since in made:
        sock = listener.accept()[0]
        waits.append(time.monotonic_ns() - since)
        client.sendall(HEAD + BODY)
        assert sock.recv(4096)
        sock.sendall(ANSWER)
        client.close()
        sock.close()
        count += 1
    say(f"REQUESTS rule=connection count={count} connections={QUEUED}")
    say(f"QUEUED connections={QUEUED} sum_ns={sum(waits)} max_ns={max(waits)}")


MODES = {"queue": queue}


def main():
    ctypes.CDLL("libcjson.so.1")
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    say(f"PID {os.getpid()}\nREADY")
    sys.stdin.readline()
    MODES[mode](listener)
    say("DONE")
    sys.stdin.readline()


main()
