#!/usr/bin/env python3
"""stream_bytes.py PROTOCOL KIND: writes the event stream that the test server answers with, for tests that cut it up.
PROTOCOL is one of the modules beside this file."""
import importlib
import sys

from common import as_bytes

protocol = importlib.import_module(sys.argv[1])
body = {"model": "m", "stream": True, "stream_options": {"include_usage": True}}
for event in protocol.stream(sys.argv[2], body):
    sys.stdout.buffer.write(as_bytes(event))
