#!/usr/bin/env python3
"""A small HTTP server that misbehaves on request, for the HTTP client's tests and benchmark.  Standard library alone.

usage: http_server.py FOLDER   (writes FOLDER/cert.pem and FOLDER/key.pem; prints one line, "plain-port tls-port silent-port",
and serves until its standard input ends)"""
import os
import socket
import ssl
import subprocess
import sys
import threading
import time

open_connections = 0
lock = threading.Lock()


def head(status, headers):
    return "".join([f"HTTP/1.1 {status}\r\n"] + [f"{name}: {value}\r\n" for name, value in headers] + ["\r\n"]).encode()


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


EVENTS = head("200 OK", [("Content-Type", "text/event-stream"), ("Transfer-Encoding", "chunked")])


def event(number):
    return b"data: event %d\n\n" % number


def whole(body, status="200 OK", headers=()):
    return head(status, [("Content-Length", len(body)), *headers]) + body


def pause_until_closed(connection):
    connection.settimeout(60)
    try:
        while connection.recv(4096):
            pass
    except OSError:
        pass


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    connection.close()


def answer(connection, path, request):
    """Sends the reply; false when the connection is of no more use."""
    name, _, argument = path.lstrip("/").partition("/")
    number = int(argument) if argument.isdigit() else 0
    send = connection.sendall
    if name == "ok":
        send(whole(b'{"ok": true}', headers=[("Content-Type", "application/json"), ("X-Name", "Some Value")]))
    elif name == "echo":
        send(whole(request))
    elif name == "status":
        send(whole(b"not now", f"{number} Status", [("Retry-After", "7")]))
    elif name == "redirect":
        send(whole(b"", "302 Found", [("Location", "/ok")]))
    elif name == "connections":
        send(whole(b"%d" % open_connections))
    elif name == "interim":
        send(b"HTTP/1.1 100 Continue\r\nX-Interim: 1\r\n\r\n" + whole(b"after", headers=[("X-Final", "1")]))
    elif name == "big":
        send(head("200 OK", [("Content-Length", number << 20)]))
        for _ in range(number):
            send(b"x" * (1 << 20))
    elif name == "chunked":
        send(head("200 OK", [("Transfer-Encoding", "chunked")]))
        for i in range(number):
            send(chunk(b"piece %d;" % i))
        send(chunk(b""))
    elif name == "events":  # each event in two pieces
        send(EVENTS)
        for i in range(number):
            send(chunk(event(i)[:7]))
            send(chunk(event(i)[7:]))
        send(chunk(b"data: [DONE]\n\n") + chunk(b""))
    elif name == "paced":  # events at 20 a second
        send(EVENTS)
        for i in range(number):
            send(chunk(event(i)))
            time.sleep(0.05)
        send(chunk(b"data: [DONE]\n\n") + chunk(b""))
    elif name == "events-until-close":
        send(head("200 OK", [("Content-Type", "text/event-stream; charset=utf-8"), ("Connection", "close")]))
        send(b"".join(event(i) for i in range(number)) + b"data: cut o")
        return False
    elif name == "one-event-then-silence":
        send(EVENTS + chunk(event(0)))
        pause_until_closed(connection)
        return False
    elif name == "silence":
        pause_until_closed(connection)
        return False
    elif name == "trickle":  # never idle, never done
        send(head("200 OK", [("Transfer-Encoding", "chunked")]))
        while True:
            send(chunk(b"."))
            time.sleep(0.02)
    elif name == "never-ending":
        send(EVENTS)
        i = 0
        while True:
            send(chunk(event(i) * 1000))
            i += 1
    elif name == "dies":  # in the middle of a length
        send(head("200 OK", [("Content-Length", 1000)]) + b"x" * 100)
        return False
    elif name == "dies-in-events":
        send(EVENTS + chunk(event(0)))
        time.sleep(0.05)
        reset(connection)
        return False
    elif name == "closes":
        return False
    elif name == "garbage":
        send(b"\x00\x01\x02 this is no HTTP at all\r\n\r\n" * 10)
        return False
    elif name == "many-headers":
        send(b"HTTP/1.1 200 OK\r\n")
        for i in range(2000):
            send(b"X-%d: %s\r\n" % (i, b"v" * 60))
        send(b"Content-Length: 0\r\n\r\n")
    elif name == "long-header":
        send(b"HTTP/1.1 200 OK\r\nX: ")
        for _ in range(64):
            send(b"v" * 65536)
        return False
    else:
        send(whole(b"no such path", "404 Not Found"))
    return True


def read_request(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return None, None
        data += more
        if data[:1] == b"\x16":  # a TLS handshake on the plain port
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            return None, None
    top, _, body = data.partition(b"\r\n\r\n")
    length = 0
    for line in top.split(b"\r\n")[1:]:
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    while len(body) < length:
        more = connection.recv(65536)
        if not more:
            return None, None
        body += more
    path = top.split(b" ")[1].decode()
    if path.startswith("http://"):  # asked as a proxy
        path = "/echo"
    return path, top + b"\r\n\r\n" + body


def serve(connection, context):
    global open_connections
    with lock:
        open_connections += 1
    try:
        if context:
            connection = context.wrap_socket(connection, server_side=True)
        while True:
            path, request = read_request(connection)
            if path is None or not answer(connection, path, request):
                break
    except OSError:
        pass
    finally:
        with lock:
            open_connections -= 1
        connection.close()


def listen(context, silent=False):
    server = socket.create_server(("127.0.0.1", 0), backlog=1024)

    def accept():
        kept = []
        while True:
            connection, _ = server.accept()
            if silent:
                kept.append(connection)
                continue
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=serve, args=(connection, context), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return server.getsockname()[1]


def main():
    folder = sys.argv[1]
    certificate, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    threading.stack_size(256 << 10)
    print(listen(None), listen(context), listen(None, silent=True), flush=True)
    sys.stdin.read()
    os._exit(0)


main()
