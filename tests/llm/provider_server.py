#!/usr/bin/env python3
"""A server that speaks the protocols of language model providers and misbehaves on request, for the tests of
core/services/llm.  Standard library alone.  Written from the providers' public API references.

usage: provider_server.py   (prints its port and serves until its standard input ends)

What it does is the model's name: plain, truncated, refused, filtered, limited (429 twice, then plain), limited-for-ever,
error-500, error-529, error-400, unauthorised, dies (mid-stream), dies-early (before a byte), split (every byte of the stream
a piece of its own), no-usage, garbage, bad-utf8, big (50 MB), endless, echo-key (an error that quotes the key)."""
import json
import socket
import socketserver
import sys
import threading

TEXT = "Here it is: κ = 1.\n"
USAGE = (100, 40, 20, 5)  # input, of it cached, output, of it reasoning
seen = {}
lock = threading.Lock()


def openai_end(kind):
    return {"truncated": "length", "filtered": "content_filter"}.get(kind, "stop")


def openai_usage():
    return {"prompt_tokens": USAGE[0], "completion_tokens": USAGE[2], "total_tokens": USAGE[0] + USAGE[2],
            "prompt_tokens_details": {"cached_tokens": USAGE[1]}, "completion_tokens_details": {"reasoning_tokens": USAGE[3]}}


def openai_stream(kind):
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    said = "refusal" if kind == "refused" else "content"
    yield None, {**head, "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]}
    for part in (TEXT[:5], TEXT[5:]):
        yield None, {**head, "choices": [{"index": 0, "delta": {said: part}, "finish_reason": None}]}
    yield None, {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": openai_end(kind)}]}
    if kind != "no-usage":
        yield None, {**head, "choices": [], "usage": openai_usage()}
    yield None, "[DONE]"


def openai_whole(kind):
    message = {"role": "assistant", "content": None if kind == "refused" else TEXT, "refusal": TEXT if kind == "refused" else None}
    return {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "usage": openai_usage(),
            "choices": [{"index": 0, "message": message, "finish_reason": openai_end(kind)}]}


def anthropic_end(kind):
    return {"truncated": "max_tokens", "refused": "refusal"}.get(kind, "end_turn")


def anthropic_usage():
    return {"input_tokens": USAGE[0] - USAGE[1], "cache_read_input_tokens": USAGE[1], "cache_creation_input_tokens": 0}


def anthropic_stream(kind):
    message = {"id": "m1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None,
               "stop_sequence": None, "usage": {**anthropic_usage(), "output_tokens": 1}}
    yield "message_start", {"type": "message_start", "message": message}
    yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    yield "ping", {"type": "ping"}
    for part in (TEXT[:5], TEXT[5:]):
        yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": part}}
    yield "content_block_stop", {"type": "content_block_stop", "index": 0}
    if kind != "no-usage":
        yield "message_delta", {"type": "message_delta", "delta": {"stop_reason": anthropic_end(kind), "stop_sequence": None},
                                "usage": {"output_tokens": USAGE[2]}}
    yield "message_stop", {"type": "message_stop"}


def anthropic_whole(kind):
    return {"id": "m1", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": TEXT}],
            "stop_reason": anthropic_end(kind), "stop_sequence": None, "usage": {**anthropic_usage(), "output_tokens": USAGE[2]}}


def gemini_end(kind):
    return {"truncated": "MAX_TOKENS", "filtered": "SAFETY"}.get(kind, "STOP")


def gemini_part(text, kind, last):
    candidate = {"index": 0, "content": {"role": "model", "parts": [{"text": text}]}}
    if last:
        candidate["finishReason"] = gemini_end(kind)
    reply = {"candidates": [candidate], "modelVersion": "m"}
    if last and kind != "no-usage":
        reply["usageMetadata"] = {"promptTokenCount": USAGE[0], "cachedContentTokenCount": USAGE[1],
                                  "candidatesTokenCount": USAGE[2] - USAGE[3], "thoughtsTokenCount": USAGE[3],
                                  "totalTokenCount": USAGE[0] + USAGE[2]}
    return reply


def gemini_stream(kind):
    yield None, gemini_part(TEXT[:5], kind, False)
    yield None, gemini_part(TEXT[5:], kind, True)


def gemini_whole(kind):
    return gemini_part(TEXT, kind, True)


def responses_whole(kind):
    incomplete = {"truncated": "max_output_tokens", "filtered": "content_filter"}.get(kind)
    part = {"type": "refusal", "refusal": TEXT} if kind == "refused" else {"type": "output_text", "text": TEXT, "annotations": []}
    reply = {"id": "r1", "object": "response", "created_at": 1, "model": "m", "status": "incomplete" if incomplete else "completed",
             "incomplete_details": {"reason": incomplete} if incomplete else None, "error": None,
             "output": [{"type": "message", "id": "i1", "role": "assistant", "status": "completed", "content": [part]}]}
    if kind != "no-usage":
        reply["usage"] = {"input_tokens": USAGE[0], "output_tokens": USAGE[2], "total_tokens": USAGE[0] + USAGE[2],
                          "input_tokens_details": {"cached_tokens": USAGE[1]}, "output_tokens_details": {"reasoning_tokens": USAGE[3]}}
    return reply


def responses_stream(kind):
    whole = responses_whole(kind)
    if kind != "refused":
        for part in (TEXT[:5], TEXT[5:]):
            yield "response.output_text.delta", {"type": "response.output_text.delta", "item_id": "i1", "output_index": 0,
                                                 "content_index": 0, "delta": part}
    end = "response.incomplete" if whole["status"] == "incomplete" else "response.completed"
    yield end, {"type": end, "response": whole}


PROTOCOLS = {"openai": (openai_stream, openai_whole), "anthropic": (anthropic_stream, anthropic_whole),
             "gemini": (gemini_stream, gemini_whole), "openai-responses": (responses_stream, responses_whole)}


def as_bytes(event):
    kind, data = event
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return ((f"event: {kind}\n" if kind else "") + f"data: {text}\n\n").encode()


class Handler(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def head(self, status, kind, length=None, extra=""):
        size = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
        self.wfile.write(f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n{size}\r\n{extra}\r\n".encode())

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def whole(self, status, value, extra=""):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.head(status, "application/json", len(body), extra)
        self.wfile.write(body)

    def error(self, status, message, extra=""):
        self.whole(status, {"type": "error", "error": {"type": "some_error", "message": message, "code": None}}, extra)

    def stream(self, events, pieces):
        self.head(200, "text/event-stream")
        for event in events:
            data = as_bytes(event)
            step = 1 if pieces else len(data)
            for i in range(0, len(data), step):
                self.chunk(data[i:i + step])
        self.chunk(b"")

    def read_request(self):
        line = self.rfile.readline().decode()
        length, key = 0, ""
        for header in iter(self.rfile.readline, b"\r\n"):
            if not header:
                return None
            name, _, value = header.decode().partition(":")
            if name.lower() == "content-length":
                length = int(value)
            if name.lower() in ("authorization", "x-api-key", "x-goog-api-key"):
                key = value.strip()
        return (line.split(" ")[1], key, json.loads(self.rfile.read(length))) if line else None

    def answer(self, path, key, body):
        if "/chat/completions" in path:
            protocol = "openai"
        elif "/responses" in path:
            protocol = "openai-responses"
        elif "/v1beta/models/" in path:
            protocol = "gemini"
        else:
            protocol = "anthropic"
        if protocol == "gemini":
            kind, streams = path.split("/models/")[1].split(":")[0], "alt=sse" in path
        else:
            kind, streams = body["model"], body.get("stream", False)
        stream, whole = PROTOCOLS[protocol]
        if kind == "limited":
            with lock:
                seen[protocol] = seen.get(protocol, 0) + 1
                turned_away = seen[protocol] % 3 != 0
            if turned_away:
                return self.error(429, "slow down", "retry-after-ms: 20\r\n")
        if kind == "limited-for-ever":
            return self.error(429, "slow down", "Retry-After: 0\r\n")
        if kind.startswith("error-"):
            return self.error(int(kind[6:]), "something is wrong")
        if kind == "unauthorised":
            return self.error(401, "who are you?")
        if kind == "echo-key":
            return self.error(400, "this key is no good: " + key)
        if kind == "garbage":
            return self.whole(200, b"<html>not JSON at all</html>")
        if kind == "bad-utf8":
            return self.whole(200, b'{"choices": [{"message": {"content": "\xff\xfe"}}], "type": "message", "content": [{"type": "text", '
                                   b'"text": "\xff"}], "candidates": [{"content": {"parts": [{"text": "\xff"}]}}]}')
        if kind == "big":
            self.head(200, "application/json")
            for _ in range(50):
                self.chunk(b" " * 1048576)
            return self.chunk(b"")
        if kind == "dies-early":
            return self.connection.shutdown(socket.SHUT_RDWR)
        if kind in ("dies", "endless"):
            self.head(200, "text/event-stream")
            self.chunk(as_bytes(next(iter(stream("plain")))))
            while kind == "endless":
                self.chunk(b": still here\n\n")
                threading.Event().wait(0.02)
            return self.connection.shutdown(socket.SHUT_RDWR)
        if streams:
            return self.stream(stream(kind), kind == "split")
        return self.whole(200, whole(kind))

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


with Server(("127.0.0.1", 0), Handler) as server:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()
