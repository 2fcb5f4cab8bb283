# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""procways.py MODE - servers whose processes do not do all of a connection themselves, and their clients, in
a process of their own. Speaks the protocol of tests/workload/README.md; what codec it calls does not
matter here, so that it just has libcjson loaded. Modes:

  queue      connections stand in the listener's queue for a known time before they are accepted
  fork       a child for each connection, which ends with it
  prefork    children that accept, on the listener that they have inherited
  reuseport  children that each listen on the same port
  killed     a child that is killed in the middle of a request, and another one in its place, on the same port
  passed     the parent accepts and passes the descriptor to a child that was there before (SCM_RIGHTS)

What a process served is printed as REQUESTS with its pid; how long connections stood in the queue as QUEUED.
"""
import ctypes
import os
import select
import signal
import socket
import sys
import time

HEAD = b"POST / HTTP/1.1\r\nContent-Length: 8\r\n\r\n"
BODY, ANSWER = b'{"a": 1}', b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
QUEUED, QUEUE_S = 8, 0.02
FORKED, WORKERS, CONNECTIONS, REQUESTS, KILLED = 100, 3, 30, 3, 4

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


def said_by(pid, count, connections):
    say(f"SERVED pid={pid} count={count} connections={connections}")


def clients(port, connections):
    """A process that asks; the other end of its life is the returned pid's."""
    pid = os.fork()
    if not pid:
        for _ in range(connections):
            ask(socket.create_connection(("127.0.0.1", port)), REQUESTS)
        os._exit(0)
    return pid


def fork(listener):
    load = clients(listener.getsockname()[1], FORKED)
    for _ in range(FORKED):
        sock = listener.accept()[0]
        pid = os.fork()
        if not pid:
            os._exit(serve(sock))
        sock.close()
        said_by(pid, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 1)
    os.waitpid(load, 0)


def workers(serve_all):
    """Children that each serve until they are told to stop, and then say how much that was."""
    made = []
    for nr in range(WORKERS):
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if not pid:
            ours.close()
            count, connections = serve_all(nr, theirs)
            theirs.sendall(f"{count} {connections}".encode())
            os._exit(0)
        theirs.close()
        made.append((pid, ours))
    return made


def tell_workers(made):
    for pid, sock in made:
        sock.shutdown(socket.SHUT_WR)
        said_by(pid, *map(int, sock.recv(64).split()))
        os.waitpid(pid, 0)


def accepting(listener, control):
    """Accepts and serves until the other end of control is shut."""
    count = connections = 0
    while True:
        ready, _, _ = select.select([listener, control], [], [])
        if control in ready:
            return count, connections
        try:
            sock = listener.accept()[0]
        except BlockingIOError:  # another one was first
            continue
        sock.setblocking(True)
        count += serve(sock)
        connections += 1


def prefork(listener):
    listener.setblocking(False)
    made = workers(lambda _, control: accepting(listener, control))
    os.waitpid(clients(listener.getsockname()[1], CONNECTIONS), 0)
    tell_workers(made)


def reuseport(_):
    at = [socket.create_server(("127.0.0.1", 0), backlog=512, reuse_port=True)]
    at += [socket.create_server(at[0].getsockname(), backlog=512, reuse_port=True)
           for _ in range(1, WORKERS)]
    for sock in at:
        sock.setblocking(False)
    made = workers(lambda nr, control: accepting(at[nr], control))
    os.waitpid(clients(at[0].getsockname()[1], CONNECTIONS), 0)
    tell_workers(made)


def passed(listener):
    def receiving(_, control):
        count = connections = 0
        while True:
            data, fds, _, _ = socket.recv_fds(control, 1, 1)
            if not data:
                return count, connections
            count += serve(socket.socket(fileno=fds[0]))
            connections += 1
            control.sendall(b"x")

    made = workers(receiving)
    load = clients(listener.getsockname()[1], CONNECTIONS)
    for nr in range(CONNECTIONS):
        sock = listener.accept()[0]
        control = made[nr % WORKERS][1]
        socket.send_fds(control, [b"x"], [sock.fileno()])
        sock.close()
        assert control.recv(1) == b"x"
    os.waitpid(load, 0)
    tell_workers(made)


def killed(listener):
    """The client is this process, as it knows what was answered when the server is killed."""
    for _ in range(KILLED):
        pid = os.fork()
        if not pid:
            sock = listener.accept()[0]
            while len(sock.recv(4096)) > len(HEAD):
                sock.sendall(ANSWER)
            time.sleep(60)
        sock = socket.create_connection(listener.getsockname())
        for _ in range(REQUESTS):
            sock.sendall(HEAD + BODY)
            assert sock.recv(4096) == ANSWER
        sock.sendall(HEAD)
        time.sleep(0.05)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        try:
            assert not sock.recv(4096)
        except ConnectionResetError:
            pass
        sock.close()
        said_by(pid, REQUESTS, 1)
    say(f"UNANSWERED count={KILLED}")


MODES = {"queue": queue, "killed": killed, "fork": fork, "prefork": prefork, "reuseport": reuseport, "passed": passed}


def main():
    ctypes.CDLL("libcjson.so.1")
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    say(f"PID {os.getpid()}\nREADY")
    sys.stdin.readline()
    MODES[mode](listener)
    say("DONE")
    sys.stdin.readline()


main()
