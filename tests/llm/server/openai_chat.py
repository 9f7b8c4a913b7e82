"""OpenAI chat completions as a server speaks them.  Source: OpenAI API reference, 'Create chat completion', 'The chat
completion chunk object', 'Error codes'."""
from common import TEXT, USAGE, Refusal, check_keys, need

ROLES = {"developer", "system", "user", "assistant", "tool"}
EFFORTS = {"none", "minimal", "low", "medium", "high", "xhigh"}
KNOWN = {"model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens", "temperature",
         "reasoning_effort", "n", "tools", "store"}
ERRORS = {400: "invalid_request_error", 401: "invalid_request_error", 429: "requests"}


def fits(path):
    return path.endswith("/chat/completions")


def kind_of(path, body):
    return body.get("model")


def streams(path, body):
    return body.get("stream") is True


def check(path, headers, body):
    """Raises Refusal for what the service would not take."""
    need(headers.get("authorization", "").startswith("Bearer "), "You didn't provide an API key.", 401)
    check_keys(body, KNOWN, "Unrecognized request argument supplied: ")
    need(isinstance(body.get("model"), str), "you must provide a model parameter")
    messages = body.get("messages")
    need(isinstance(messages, list) and messages, "Missing required parameter: 'messages'.")
    for message in messages:
        need(message.get("role") in ROLES, "Invalid value for 'messages[].role'.")
        need(isinstance(message.get("content"), (str, list)), "Invalid type for 'messages[].content'.")
    need(not ("max_tokens" in body and "max_completion_tokens" in body), "max_tokens and max_completion_tokens are both set")
    need("stream_options" not in body or streams(path, body), "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
    need(0 <= body.get("temperature", 1) <= 2, "Invalid 'temperature'.")
    need(body.get("reasoning_effort", "low") in EFFORTS, "Invalid value for 'reasoning_effort'.")


def error(status, message):
    return {"error": {"message": message, "type": ERRORS.get(status, "server_error"), "param": None, "code": None}}


def reason(kind):
    return {"truncated": "length", "filtered": "content_filter"}.get(kind, "stop")


def usage():
    return {"prompt_tokens": USAGE["input"], "completion_tokens": USAGE["output"],
            "total_tokens": USAGE["input"] + USAGE["output"],
            "prompt_tokens_details": {"cached_tokens": USAGE["cached"], "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": USAGE["reasoning"], "audio_tokens": 0,
                                          "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0}}


def whole(kind, body, text=TEXT):
    refused = kind == "refused"
    message = {"role": "assistant", "content": None if refused else text, "refusal": text if refused else None, "annotations": []}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1700000000, "model": body["model"],
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": reason(kind)}],
            "usage": usage(), "service_tier": "default", "system_fingerprint": None}


def stream(kind, body, text=TEXT):
    asked = (body.get("stream_options") or {}).get("include_usage") is True and kind != "no-usage"
    said = "refusal" if kind == "refused" else "content"

    def chunk(choices, reported=None):
        event = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1700000000, "model": body["model"],
                 "service_tier": "default", "system_fingerprint": None, "choices": choices}
        if asked:
            event["usage"] = reported  # null in all chunks but the last
        return None, event

    def choice(delta, end=None):
        return [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": end}]

    yield chunk(choice({"role": "assistant", "content": "", "refusal": None}))
    for part in (text[:5], text[5:]):
        yield chunk(choice({said: part}))
    yield chunk(choice({}, reason(kind)))
    if asked:
        yield chunk([], usage())
    yield None, "[DONE]"


def stream_error(message):
    return None, error(500, message)
