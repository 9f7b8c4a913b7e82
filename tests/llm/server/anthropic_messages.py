"""Anthropic messages as a server speaks them.  Source: Anthropic API reference, 'Messages', 'Streaming messages', 'Errors', in
both versions: 2023-06-01, whose key is x-api-key, and 2026-10-21, whose key may be a bearer's."""
from common import TEXT, USAGE, check_keys, need

KNOWN = {"model", "messages", "max_tokens", "system", "stream", "temperature", "thinking", "metadata", "stop_sequences",
         "output_config"}
ERRORS = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error", 413: "request_too_large",
          429: "rate_limit_error", 500: "api_error", 529: "overloaded_error"}


def fits(path):
    return path.split("?")[0].endswith("/v1/messages")


def kind_of(path, body):
    return body.get("model")


def streams(path, body):
    return body.get("stream") is True


def check(path, headers, body):
    version = headers.get("anthropic-version")
    need(version in ("2023-06-01", "2026-10-21"), "anthropic-version: header is required")
    bearer = version != "2023-06-01" and headers.get("authorization", "").startswith("Bearer ")
    need(headers.get("x-api-key") or bearer, "x-api-key header is required", 401)
    check_keys(body, KNOWN, "Extra inputs are not permitted: ")
    need(isinstance(body.get("model"), str), "model: Field required")
    most = body.get("max_tokens")
    need(isinstance(most, int) and most >= 1, "max_tokens: Field required")
    messages = body.get("messages")
    need(isinstance(messages, list) and messages, "messages: Field required")
    for i, message in enumerate(messages):
        need(message.get("role") == ("user", "assistant")[i % 2], "messages: roles must alternate, beginning with user")
        need(isinstance(message.get("content"), (str, list)) and message["content"], "messages: content is required")
    need(version == "2023-06-01" or "temperature" not in body, "temperature: Extra inputs are not permitted")
    need(0 <= body.get("temperature", 1) <= 1, "temperature: range: 0..1")
    thinking = body.get("thinking", {"type": "disabled"})
    need(thinking.get("type") in ("enabled", "disabled", "adaptive"), "thinking.type: Input should be enabled or disabled")
    if thinking["type"] == "enabled":
        need(isinstance(thinking.get("budget_tokens"), int) and 1024 <= thinking["budget_tokens"] < most,
             "thinking.budget_tokens: at least 1024, less than max_tokens")
        need(body.get("temperature", 1) == 1, "`temperature` may only be set to 1 when thinking is enabled")


def error(status, message):
    return {"type": "error", "error": {"type": ERRORS.get(status, "api_error"), "message": message}, "request_id": "req_1"}


def reason(kind):
    return {"truncated": "max_tokens", "refused": "refusal"}.get(kind, "end_turn")


def usage(output):
    return {"input_tokens": USAGE["input"] - USAGE["cached"], "cache_read_input_tokens": USAGE["cached"],
            "cache_creation_input_tokens": 0, "output_tokens": output, "service_tier": "standard"}


def message_of(body, content, end, output):
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": content,
            "stop_reason": end, "stop_sequence": None, "usage": usage(output)}


def whole(kind, body, text=TEXT):
    return message_of(body, [{"type": "text", "text": text, "citations": None}], reason(kind), USAGE["output"])


def stream(kind, body, text=TEXT):
    def event(name, **members):
        return name, {"type": name, **members}

    yield event("message_start", message=message_of(body, [], None, 1))
    yield event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    yield event("ping")
    for part in (text[:5], text[5:]):
        yield event("content_block_delta", index=0, delta={"type": "text_delta", "text": part})
    yield event("content_block_stop", index=0)
    if kind != "no-usage":
        # Older servers repeat no more than the output; newer ones the whole report.
        reported = {"output_tokens": USAGE["output"]} if kind == "refused" else usage(USAGE["output"])
        yield event("message_delta", delta={"stop_reason": reason(kind), "stop_sequence": None}, usage=reported)
    yield event("message_stop")


def stream_error(message):
    return "error", error(529, message)
