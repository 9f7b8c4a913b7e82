"""What the protocols of the test server share."""
import json

TEXT = "Here it is: κ = 1.\n"
USAGE = {"input": 100, "cached": 40, "output": 20, "reasoning": 5}  # cached is part of input, reasoning of output


def as_bytes(event):
    kind, data = event
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return ((f"event: {kind}\n" if kind else "") + f"data: {text}\n\n").encode()


class Refusal(Exception):
    """A request that the service would turn away."""

    def __init__(self, message, status):
        super().__init__(message)
        self.message, self.status = message, status


def need(holds, message, status=400):
    if not holds:
        raise Refusal(message, status)


def check_keys(body, known, message):
    for key in body:
        need(key in known, message + key)
