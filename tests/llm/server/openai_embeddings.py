"""OpenAI embeddings.  Source: OpenAI API reference, 'Embeddings'."""
from common import Refusal


def fits(path):
    return path.split("?")[0].endswith("/embeddings")


def kind_of(path, body):
    return body["model"]


def streams(path, body):
    return False


def check(path, headers, body):
    if not isinstance(body.get("input"), str) or body.get("encoding_format") != "float" or set(body) != {"model", "input", "encoding_format"}:
        raise Refusal(400, "input is one text, encoding_format is float, and there is nothing else")


def error(status, message):
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}


def whole(kind, body, text=None):
    return {"object": "list", "model": body["model"], "usage": {"prompt_tokens": 5, "total_tokens": 5},
            "data": [{"object": "embedding", "index": 0, "embedding": [0.25, -0.5, 1.0]}]}
