# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""ways.py MODE - a server that reads and answers in ways that those of tests/workload do not, and its
clients, in a process of their own. Speaks the protocol of tests/workload/README.md; what codec it calls
does not matter here, so that it just has libcjson loaded. Modes:

  tls      OpenSSL reads a record's header, and then the rest. No certificate: ciphers without one
  expect   the client waits for "100 Continue" before it sends the body
  peek     looks at the data before it reads it
  message  HTTP/2's preface and frames, by recvmsg()
"""
import ctypes
import os
import socket
import ssl
import struct
import sys

CONNECTIONS, REQUESTS = 5, 40
HEAD = b"POST / HTTP/1.1\r\nContent-Length: 8\r\n\r\n"
BODY, ANSWER = b'{"a": 1}', b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

mode = sys.argv[1]
bytes_in = bytes_out = 0


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
    assert sock.recv(4096) == ANSWER


def clients(port):
    for _ in range(CONNECTIONS):
        sock = over_tls(socket.create_connection(("127.0.0.1", port)), ssl.PROTOCOL_TLS_CLIENT)
        for nr in range(REQUESTS):
            request(sock, nr)
        sock.close()


def receive(sock):
    global bytes_in
    if mode == "peek":
        sock.recv(16, socket.MSG_PEEK)
    got = sock.recvmsg(4096)[0] if mode == "message" else sock.recv(4096)
    bytes_in += len(got)
    return got


def answer(sock, text):
    global bytes_out
    sock.sendall(text)
    bytes_out += len(text)


def serve(listener):
    count = 0
    for _ in range(CONNECTIONS):
        sock = over_tls(listener.accept()[0], ssl.PROTOCOL_TLS_SERVER)
        while receive(sock):
            if mode == "expect":
                answer(sock, CONTINUE)
                receive(sock)
            answer(sock, ANSWER)
            count += 1
        sock.close()
    print(f"REQUESTS rule=connection count={count} unanswered=0 connections={CONNECTIONS} "
          f"bytes_in={bytes_in} bytes_out={bytes_out}")


def main():
    ctypes.CDLL("libcjson.so.1")
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"PID {os.getpid()}\nREADY", flush=True)
    sys.stdin.readline()
    child = os.fork()
    if not child:
        clients(listener.getsockname()[1])
        os._exit(0)
    serve(listener)
    os.waitpid(child, 0)
    print("DONE", flush=True)
    sys.stdin.readline()


main()
