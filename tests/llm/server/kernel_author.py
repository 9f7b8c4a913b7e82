#!/usr/bin/env python3
"""A model server whose behaviour is declared: it answers OpenAI's chat protocol with kernels from files, in a given order of kinds, so that
a whole pipeline can be walked without a model.  Nothing here shows how well any model does.  Standard library alone.

usage: kernel_author.py FOLDER KINDS KERNEL.cu...
  KINDS: words apart by commas, one a proposal, over and over: "right" (the next file, with another tune value each time round), "wrong" (the
  same with its first fused term lost), "duplicate" (the last proposal again), "prose" (no kernel at all).
  Prints its port and serves until its standard input ends.  FOLDER/asked gets a line for each request: what it took it for.
"""
import json
import os
import re
import socketserver
import sys
import threading

import openai_chat
from common import as_bytes

lock = threading.Lock()


def another_tune(text, turn):
    """The same kernel with another default of its first tune parameter, where there is one."""
    found = re.search(r"default: *(\w+), *choices: *\[([^\]]*)\]", text)
    choices = found.group(2).replace(" ", "").split(",") if found else []
    if turn == 0 or not choices:
        return text
    return text[:found.start(1)] + choices[turn % len(choices)] + text[found.end(1):]


class Author:
    def __init__(self, folder, kinds, files):
        self.kinds, self.texts, self.count, self.right, self.last = kinds, [], 0, 0, ""
        self.asked = open(os.path.join(folder, "asked"), "w", encoding="utf-8")
        for name in files:
            with open(name, encoding="utf-8") as file:
                self.texts.append(file.read())

    def kernel(self):
        text = another_tune(self.texts[self.right % len(self.texts)], self.right // len(self.texts))
        self.right += 1
        return text

    def propose(self, kind):
        if kind == "prose":
            return "I would make the loads wider, but give no kernel."
        if kind != "duplicate" or not self.last:
            self.last = self.kernel()
            if kind == "wrong":
                self.last = re.sub(r" \+ eps\b", "", self.last)
        return f"A kernel.\n\n```cuda\n{self.last}\n```\n"

    def answer(self, prompt):
        with lock:
            if "You examine CUDA kernels" in prompt:
                took, text = "judge", 'Nothing speaks against it.\n\n{"verdict": "right", "confidence": 0.8, "line": "", "why": "no fault found"}'
            elif "You keep the notes of a search" in prompt:
                took, text = "notes", "- Loads of 16 bytes made the kernel faster."
            else:
                took = self.kinds[self.count % len(self.kinds)]
                self.count += 1
                text = self.propose(took)
            self.asked.write(took + "\n")
            self.asked.flush()
            return text


class Handler(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def send(self, kind, body):
        self.wfile.write(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        self.wfile.flush()

    def handle(self):
        while True:
            first, length = self.rfile.readline(), 0
            if not first:
                return
            for header in iter(self.rfile.readline, b"\r\n"):
                if not header:
                    return
                if header.lower().startswith(b"content-length:"):
                    length = int(header.split(b":")[1])
            path, body = first.decode().split(" ")[1], self.rfile.read(length)
            if not openai_chat.fits(path):
                self.send("application/json", json.dumps({"object": "list", "data": []}).encode())
                continue
            request = json.loads(body)
            prompt = "\n".join(m["content"] if isinstance(m["content"], str) else json.dumps(m["content"]) for m in request["messages"])
            text = self.server.author.answer(prompt)
            if openai_chat.streams(path, request):
                self.send("text/event-stream", b"".join(as_bytes(e) for e in openai_chat.stream("plain", request, text)))
            else:
                self.send("application/json", json.dumps(openai_chat.whole("plain", request, text)).encode())


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


def serve(author):
    """Prints the port and answers by author.answer(prompt) until standard input ends."""
    server = Server(("127.0.0.1", 0), Handler)
    server.author = author
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    serve(Author(sys.argv[1], sys.argv[2].split(","), sys.argv[3:]))
