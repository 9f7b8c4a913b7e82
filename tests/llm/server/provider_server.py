#!/usr/bin/env python3
"""A server that speaks the protocols of language model providers and misbehaves on request, for the tests of
core/llm.  Standard library alone.  Written from the providers' public API references (see the modules beside it);
requests that a service would turn away are turned away.

usage: provider_server.py FOLDER [FIXTURES]
  Writes FOLDER/cert.pem and FOLDER/key.pem, prints one line, "port tls-port", and serves until its standard input ends.
  FOLDER/asked gets a line for each request.

What it does is the model's name; see answer().  "file-NAME" gives the head and body of FIXTURES/NAME (test_compatible.c)."""
import json
import os
import socket
import socketserver
import ssl
import subprocess
import sys
import threading

import anthropic_messages
import azure_openai
import bedrock_converse
import gemini
import openai_chat
import openai_embeddings
import openai_responses
from common import TEXT, USAGE, Refusal, as_bytes

PROTOCOLS = (azure_openai, bedrock_converse, openai_embeddings, openai_chat, openai_responses, gemini, anthropic_messages)
limited = {}
# What a server may claim that no question and reply of this size can have used.
IMPOSSIBLE = {"usage-huge": {"input": 10 ** 12}, "usage-immense": {"input": 2 ** 62}, "usage-long": {"output": 10 ** 9},
              "usage-nothing": {"input": 0, "cached": 0, "output": 0, "reasoning": 0}, "usage-few": {"input": 1, "cached": 0},
              "usage-silent": {"output": 0, "reasoning": 0}}

lock = threading.Lock()


class Handler(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def setup(self):
        if self.server.context:
            self.request = self.server.context.wrap_socket(self.request, server_side=True)
        super().setup()

    def head(self, status, kind, length=None, extra=""):
        size = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
        self.wfile.write(f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n{size}\r\n{extra}\r\n".encode())

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def whole(self, status, value, extra="", kind="application/json"):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.head(status, kind, len(body), extra)
        self.wfile.write(body)

    def stream(self, events, pieces=None):
        self.head(200, "text/event-stream")
        for event in events:
            data = event if isinstance(event, bytes) else as_bytes(event)
            step = pieces or len(data)
            for i in range(0, len(data), step):
                self.chunk(data[i:i + step])
        self.chunk(b"")

    def drop(self):
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)

    def read_request(self):
        line = self.rfile.readline().decode()
        headers = {}
        for header in iter(self.rfile.readline, b"\r\n"):
            if not header:
                return None
            name, _, value = header.decode().partition(":")
            headers[name.lower()] = value.strip()
        if not line:
            return None
        body = headers["raw body"] = self.rfile.read(int(headers.get("content-length", 0)))  # no header has a blank in its name
        headers["method"] = line.split(" ")[0]
        return line.split(" ")[1], headers, json.loads(body or b"{}")

    def models(self, path, headers):
        """GET of the models: a list, or one by its name.  "no-such" and "plaim" are unknown, all others are known, "plain"
        and "other" listed; "wrong" is no key."""
        keys = [headers.get(name, "") for name in ("authorization", "x-api-key", "x-goog-api-key", "api-key")]
        with lock:
            self.server.asked.write(f"GET {path} {'with a key' if any(keys) else 'without a key'}\n")
            self.server.asked.flush()
        if any("wrong" in key for key in keys):
            return self.whole(401, {"error": {"message": "who are you?"}})
        if "/models" not in path or path.startswith("/silent"):
            return self.whole(404, {"error": {"message": "Resource not found"}})
        if path.endswith("/models"):
            return self.whole(200, {"object": "list", "data": [{"id": "plain", "object": "model"}, {"id": "other", "object": "model"}]})
        known = not path.endswith(("/no-such", "/plaim"))
        return self.whole(200 if known else 404, {"id": path.rsplit("/", 1)[1]} if known else {"error": {"message": "not found"}})

    def fixture(self, name):
        """A file of FIXTURES: lines "name: value", an empty line, the body."""
        with open(os.path.join(self.server.fixtures, name), "rb") as file:
            head, _, body = file.read().partition(b"\n\n")
        about = dict(line.split(": ", 1) for line in head.decode().splitlines())
        self.whole(int(about["status"]), body, kind=about["type"])

    def faulty_key(self, protocol, kind, key, body, streams):
        """Replies that quote the key, where a careless client would keep it."""
        if kind == "echo-key":
            return self.whole(400, protocol.error(400, "this key is no good: " + key))
        if kind == "echo-key-cut":  # where a message is cut, in the middle of the key
            return self.whole(400, protocol.error(400, "x" * 587 + " key " + key))
        if kind == "echo-key-page":  # not JSON, cut at another length
            return self.whole(403, (b"<p>" + b"x" * 187 + key.encode() + b"</p>"), kind="text/html")
        if kind == "echo-key-retried":
            return self.whole(500, protocol.error(500, "no: " + key))
        if kind == "echo-key-stream":
            first = next(iter(protocol.stream("plain", body)))
            return self.stream([first, protocol.stream_error("x" * 590 + key)])
        if kind == "echo-key-event":  # no JSON, in an event
            return self.stream([b"data: " + key.encode() + b"\n\n"])
        said = "refused" if kind == "echo-key-refused" else "plain"  # else echo-key-reply
        if streams:
            return self.stream(protocol.stream(said, body, key + "\n"))
        return self.whole(200, protocol.whole(said, body, key + "\n"))

    def answer(self, path, headers, body):
        if headers["method"] == "GET":
            return self.models(path, headers)
        protocol = next(protocol for protocol in PROTOCOLS if protocol.fits(path))
        kind, streams = protocol.kind_of(path, body), protocol.streams(path, body)
        key = (headers.get("authorization", "").removeprefix("Bearer ") or headers.get("x-api-key") or
               headers.get("x-goog-api-key") or headers.get("api-key") or "")
        with lock:
            self.server.asked.write(f"{kind}\n")
            self.server.asked.flush()
        if kind.startswith("file-"):
            return self.fixture(kind[5:])
        try:
            protocol.check(path, headers, body)
        except Refusal as refusal:
            return self.whole(refusal.status, protocol.error(refusal.status, refusal.message))
        if kind == "limited":  # twice, then plain
            with lock:
                limited[protocol] = limited.get(protocol, 0) + 1
                turned_away = limited[protocol] % 3 != 0
            if turned_away:
                # Gemini says so in the body alone.
                after = "" if protocol is gemini else "retry-after-ms: 20\r\n"
                return self.whole(429, protocol.error(429, "slow down"), after)
        if kind == "limited-for-ever":
            return self.whole(429, protocol.error(429, "slow down"), "Retry-After: 0\r\n")
        if kind.startswith("error-"):
            return self.whole(int(kind[6:]), protocol.error(int(kind[6:]), "something is wrong"))
        if kind == "unauthorised":
            return self.whole(401, protocol.error(401, "who are you?"))
        if kind.startswith("echo-key"):
            return self.faulty_key(protocol, kind, key, body, streams)
        if kind in IMPOSSIBLE:
            with lock:
                honest = dict(USAGE)
                USAGE.update(IMPOSSIBLE[kind])
                events, reply = list(protocol.stream("plain", body)), protocol.whole("plain", body)
                USAGE.update(honest)
            return self.stream(events) if streams else self.whole(200, reply)
        if kind == "overloaded-mid-stream":
            return self.stream([next(iter(protocol.stream("plain", body))), protocol.stream_error("overloaded")])
        if kind == "fails-without-words":
            return self.stream([next(iter(protocol.stream("plain", body))), protocol.stream_error("")])
        if kind == "garbage":
            return self.whole(200, b"<html>not JSON at all</html>")
        if kind == "bad-utf8":
            return self.whole(200, json.dumps(protocol.whole("plain", body), ensure_ascii=False).encode().replace(b"\xce\xba", b"\xff\xfe"))
        if kind == "bad-utf8-stream":
            return self.stream(as_bytes(event).replace(b"\xce\xba", b"\xff\xfe") for event in protocol.stream("plain", body))
        if kind == "big":  # 50 MB
            self.head(200, "application/json")
            for _ in range(50):
                self.chunk(b" " * 1048576)
            return self.chunk(b"")
        if kind == "big-stream":  # 50 MB of an answer
            events = [as_bytes(event) for event in protocol.stream("plain", body)]
            long = [as_bytes(event) for event in protocol.stream("no-usage", body, TEXT[:5] + "x" * 65536)]
            more = next(event for event in long if len(event) > 65536)
            return self.stream(events[:1] + [more] * 800)
        if kind == "dies-early":
            return self.drop()
        if kind == "dies-whole":
            data = json.dumps(protocol.whole("plain", body)).encode()
            self.head(200, "application/json", len(data))
            self.wfile.write(data[:len(data) // 2])
            return self.drop()
        if kind in ("dies", "endless", "stalls"):
            self.head(200, "text/event-stream")
            self.chunk(as_bytes(next(iter(protocol.stream("plain", body)))))
            self.wfile.flush()
            while kind == "endless":
                self.chunk(b": still here\n\n")
                threading.Event().wait(0.02)
            if kind == "stalls":
                self.rfile.read(1)  # until the client closes
            return self.drop()
        if streams:
            return self.stream(protocol.stream(kind, body), 1 if kind == "split" else None)
        return self.whole(200, protocol.whole(kind, body))

    def handle(self):
        try:
            while True:
                request = self.read_request()
                if not request:
                    return
                self.answer(*request)
                self.wfile.flush()
        except (OSError, ValueError):
            pass


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128
    context = None

    def handle_error(self, request, client_address):
        """Handshakes that fail are what some tests are about."""


def certificate(folder):
    chain, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", key, "-out", chain, "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, key)
    return context


def listen(folder, asked, context=None):
    server = Server(("127.0.0.1", 0), Handler)
    server.context, server.asked = context, asked
    server.fixtures = sys.argv[2] if len(sys.argv) > 2 else folder
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def main():
    folder = sys.argv[1]
    with open(os.path.join(folder, "asked"), "w", encoding="utf-8") as asked:
        print(listen(folder, asked), listen(folder, asked, certificate(folder)), flush=True)
        sys.stdin.read()
    os._exit(0)


main()
