# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""streams.py MODE - a server whose connections are not just questions and answers, and its client, in a
process of its own. Speaks the protocol of tests/workload/README.md; what codec it calls does not matter
here, so that it just has libcjson loaded. Modes:

  upgrade   two requests, the second of which turns the connection into one of WebSocket
  events    the answer is a stream of short messages with time between them
  pause     the answer stops for longer than what counts as a pause
  poll      the answer comes long after the question
  close     HTTP/1.0: the server closes when it has answered
  half      the client has shut its side when it is answered
  reset     the client resets the connection instead of waiting for an answer
  udp       datagrams, and no connection
  reset2    the client does so in the middle of its second answer

LENGTH is how long the server took for a request at least.
"""
import ctypes
import os
import socket
import struct
import sys
import time

CONNECTIONS, EVENTS, EVENT_S, POLL_S, PAUSE_S = 3, 4, 0.03, 0.12, 1.1
ASK = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
ANSWER = HEAD + b"Content-Length: 0\r\n\r\n"
SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"

mode = sys.argv[1]
truth = {"count": 0, "unanswered": 0, "connections": 0, "paused": 0, "upgraded": 0}


def say(*words):
    print(*words, flush=True)


def read_all(sock):
    while sock.recv(4096):
        pass


def reset(sock):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


# ---- the two ends of a connection ------------------------------------------------------------

def client(sock):
    sock.sendall(ASK)
    if mode == "upgrade":
        assert sock.recv(4096) == ANSWER
        sock.sendall(ASK)
        assert sock.recv(4096) == SWITCH
        for _ in range(EVENTS):
            sock.sendall(b"\x81\x05hello")
            assert sock.recv(16)
        return
    if mode == "half":
        sock.shutdown(socket.SHUT_WR)
    if mode == "reset2":
        assert sock.recv(4096) == ANSWER
        sock.sendall(ASK)
        assert sock.recv(len(HEAD)) == HEAD
    if mode.startswith("reset"):
        time.sleep(EVENT_S)
        reset(sock)
        return
    if mode == "close" or mode == "half" or mode == "events":
        read_all(sock)
    else:
        assert sock.recv(4096) == ANSWER or mode == "pause" and sock.recv(4096)


def answered(sock, *parts, wait_s=0.0):
    for nr, part in enumerate(parts):
        time.sleep(wait_s if nr else 0)
        sock.sendall(part)
    truth["count"] += 1


def gone(sock):
    try:
        assert not sock.recv(4096)
    except ConnectionResetError:
        pass


def server(sock):
    assert sock.recv(4096) == ASK
    if mode == "upgrade":
        answered(sock, ANSWER)
        assert sock.recv(4096) == ASK
        answered(sock, SWITCH)
        truth["upgraded"] += 1
        while sock.recv(16):
            sock.sendall(b"\x81\x05hello")
    elif mode == "events":
        answered(sock, HEAD + b"\r\n", *[b"data: x\n\n"] * EVENTS, wait_s=EVENT_S)
    elif mode == "pause":
        answered(sock, HEAD, b"Content-Length: 0\r\n\r\n", wait_s=PAUSE_S)
        truth["paused"] += 1
    elif mode == "poll":
        time.sleep(POLL_S)
        answered(sock, ANSWER)
    elif mode == "half":
        assert not sock.recv(4096)
        answered(sock, ANSWER)
    elif mode == "reset":
        truth["unanswered"] += 1
        gone(sock)
    elif mode == "reset2":
        answered(sock, ANSWER)
        assert sock.recv(4096) == ASK
        answered(sock, HEAD)
        gone(sock)
    else:
        answered(sock, ANSWER)


def datagrams():
    sock = socket.socket(type=socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))
    child = os.fork()
    if not child:
        with socket.socket(type=socket.SOCK_DGRAM) as asks:
            for _ in range(EVENTS):
                asks.sendto(ASK, sock.getsockname())
                assert asks.recv(4096) == ANSWER
        os._exit(0)
    for _ in range(EVENTS):
        ask, back = sock.recvfrom(4096)
        assert ask == ASK
        sock.sendto(ANSWER, back)
        truth["count"] += 1
    os.waitpid(child, 0)


def connections(listener):
    child = os.fork()
    if not child:
        for _ in range(CONNECTIONS):
            with socket.create_connection(listener.getsockname()) as sock:
                client(sock)
        os._exit(0)
    for _ in range(CONNECTIONS):
        with listener.accept()[0] as sock:
            truth["connections"] += 1
            server(sock)
    os.waitpid(child, 0)


LENGTH_S = {"events": EVENTS * EVENT_S, "pause": PAUSE_S, "poll": POLL_S}


def main():
    ctypes.CDLL("libcjson.so.1")
    listener = socket.create_server(("127.0.0.1", 0))
    say(f"PID {os.getpid()}\nREADY")
    sys.stdin.readline()
    if mode == "udp":
        datagrams()
    else:
        connections(listener)
    say("REQUESTS rule=connection " + " ".join(f"{k}={v}" for k, v in truth.items()))
    say(f"LENGTH ns={int(LENGTH_S.get(mode, 0) * 1e9)}\nDONE")
    sys.stdin.readline()


main()
