# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""ways.py MODE - a server that reads and answers in ways that those of tests/workload do not, and its
clients, in a process of their own. Speaks the protocol of tests/workload/README.md; what codec it calls
does not matter here, so that it just has libcjson loaded. Modes:

  tls      OpenSSL reads a record's header, and then the rest. No certificate: ciphers without one
  expect   the client waits for "100 Continue" before it sends the body
  peek     looks at the data before it reads it
  threads  a thread for each connection, which ends with it
  message  HTTP/2's preface and frames, by recvmsg()
  vector2  preadv2() and pwritev2()
  several  recvmmsg() and sendmmsg(), of two messages each
  zerocopy sends by MSG_ZEROCOPY, and asks what has become of that
  mptcp    Multipath TCP at both ends
"""
import ctypes
import os
import resource
import socket
import ssl
import struct
import sys
import threading
import time

CONNECTIONS, REQUESTS = 5, 40
HEAD = b"POST / HTTP/1.1\r\nContent-Length: 8\r\n\r\n"
BODY, ANSWER = b'{"a": 1}', b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

SO_ZEROCOPY, MSG_ZEROCOPY, IPPROTO_MPTCP = 60, 0x4000000, 262

libc = ctypes.CDLL(None, use_errno=True)
mode = sys.argv[1]
count = bytes_in = bytes_out = 0


class Vec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]


class MMsg(ctypes.Structure):
    """struct mmsghdr of sendmmsg(2)."""
    _fields_ = [("name", ctypes.c_void_p), ("namelen", ctypes.c_uint32), ("vec", ctypes.c_void_p),
                ("vecs", ctypes.c_size_t), ("control", ctypes.c_void_p),
                ("controllen", ctypes.c_size_t), ("flags", ctypes.c_size_t), ("len", ctypes.c_size_t)]


def messages(sock, call, buffers):
    """The lengths of what has moved."""
    vecs = [Vec(ctypes.cast(b, ctypes.c_void_p), len(b)) for b in buffers]
    at = (MMsg * len(vecs))(*(MMsg(vec=ctypes.addressof(v), vecs=1) for v in vecs))
    rest = (None,) if call.__name__ == "recvmmsg" else ()
    n = call(sock.fileno(), at, len(vecs), 0x10000 if rest else 0, *rest)  # MSG_WAITFORONE
    assert n > 0
    return [at[i].len for i in range(n)]


def over_tls(sock, side):
    if mode != "tls":
        return sock
    context = ssl.SSLContext(side)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("AECDH-AES256-SHA:@SECLEVEL=0")
    return context.wrap_socket(sock, server_side=side == ssl.PROTOCOL_TLS_SERVER)


def request(sock, nr):
    if mode == "message":
        frame = struct.pack(">IBBI", len(BODY), 0, 0, 1)[1:] + BODY
        sock.sendall((b"" if nr else PREFACE) + frame)
    elif mode == "expect":
        sock.sendall(HEAD)
        assert sock.recv(4096) == CONTINUE
        sock.sendall(BODY)
    else:
        sock.sendall(HEAD + BODY)
    got = b""
    while len(got) < len(ANSWER) and ANSWER.startswith(got):
        got += sock.recv(4096) or b"the end"
    assert got == ANSWER


def tcp_socket():
    return socket.socket(proto=IPPROTO_MPTCP if mode == "mptcp" else 0)


def clients(port):
    for _ in range(CONNECTIONS):
        sock = tcp_socket()
        sock.connect(("127.0.0.1", port))
        sock = over_tls(sock, ssl.PROTOCOL_TLS_CLIENT)
        for nr in range(REQUESTS):
            request(sock, nr)
        sock.close()


def receive(sock):
    global bytes_in
    if mode == "peek":
        sock.recv(16, socket.MSG_PEEK)
    if mode == "vector2":
        bytes_in += (n := os.preadv(sock.fileno(), [bytearray(4096)], -1))
        return n
    if mode == "several":
        got = [ctypes.create_string_buffer(20), ctypes.create_string_buffer(4096)]
        bytes_in += (n := sum(messages(sock, libc.recvmmsg, got)))
        return n
    got = sock.recvmsg(4096)[0] if mode == "message" else sock.recv(4096)
    bytes_in += len(got)
    return got


def answer(sock, text):
    global bytes_out
    if mode == "vector2":
        assert os.pwritev(sock.fileno(), [text[:5], text[5:]], -1) == len(text)
    elif mode == "several":
        parts = [ctypes.create_string_buffer(t, len(t)) for t in (text[:5], text[5:])]
        assert sum(messages(sock, libc.sendmmsg, parts)) == len(text)
    elif mode == "zerocopy":
        sock.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)
        assert sock.send(text, MSG_ZEROCOPY) == len(text)
        try:
            sock.recvmsg(0, 512, socket.MSG_ERRQUEUE)
        except BlockingIOError:  # the client has not read it yet
            pass
    else:
        sock.sendall(text)
    bytes_out += len(text)


def serve_connection(sock):
    global count
    while receive(sock):
        if mode == "expect":
            answer(sock, CONTINUE)
            receive(sock)
        answer(sock, ANSWER)
        count += 1
    sock.close()


def serve(listener):
    for _ in range(CONNECTIONS):
        sock = over_tls(listener.accept()[0], ssl.PROTOCOL_TLS_SERVER)
        if mode == "threads":
            thread = threading.Thread(target=serve_connection, args=(sock,))
            thread.start()
            thread.join()
        else:
            serve_connection(sock)
    print(f"REQUESTS rule=connection count={count} unanswered=0 connections={CONNECTIONS} "
          f"bytes_in={bytes_in} bytes_out={bytes_out}")


def switches():
    """Of all threads, those that have ended included."""
    use = resource.getrusage(resource.RUSAGE_SELF)
    return use.ru_nvcsw, use.ru_nivcsw


def main():
    ctypes.CDLL("libcjson.so.1")
    listener = tcp_socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print(f"PID {os.getpid()}\nREADY", flush=True)
    sys.stdin.readline()
    before = switches()
    child = os.fork()
    if not child:
        clients(listener.getsockname()[1])
        os._exit(0)
    serve(listener)
    os.waitpid(child, 0)
    if mode == "mptcp":
        time.sleep(1)  # the kernel closes these in a worker of its own
    voluntary, involuntary = (e - b for b, e in zip(before, switches()))
    print(f"SWITCHES voluntary={voluntary} involuntary={involuntary}\nDONE", flush=True)
    sys.stdin.readline()


main()
