"""OpenAI responses as a server speaks them.  Source: OpenAI API reference, 'Responses', 'Streaming events'."""
from common import TEXT, USAGE, check_keys, need
from openai_chat import EFFORTS, error

KNOWN = {"model", "input", "instructions", "stream", "store", "max_output_tokens", "temperature", "reasoning", "text", "tools"}


def fits(path):
    return path.endswith("/responses")


def kind_of(path, body):
    return body.get("model")


def streams(path, body):
    return body.get("stream") is True


def check(path, headers, body):
    need(headers.get("authorization", "").startswith("Bearer "), "You didn't provide an API key.", 401)
    check_keys(body, KNOWN, "Unknown parameter: ")
    need(isinstance(body.get("model"), str), "Missing required parameter: 'model'.")
    need(isinstance(body.get("input"), (str, list)) and body["input"], "Missing required parameter: 'input'.")
    need(body.get("max_output_tokens", 16) >= 16, "Invalid 'max_output_tokens': integer below minimum value.")
    need(0 <= body.get("temperature", 1) <= 2, "Invalid 'temperature'.")
    need(body.get("reasoning", {}).get("effort", "low") in EFFORTS, "Invalid value for 'reasoning.effort'.")


def part_of(kind, text):
    if kind == "refused":
        return {"type": "refusal", "refusal": text}
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def item_of(content, status):
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": status, "content": content}


def response(kind, body, status, output):
    incomplete = {"truncated": "max_output_tokens", "filtered": "content_filter"}.get(kind)
    done = status == "completed"
    reply = {"id": "resp_1", "object": "response", "created_at": 1700000000, "model": body["model"],
             "status": "incomplete" if done and incomplete else status, "error": None, "instructions": body.get("instructions"),
             "incomplete_details": {"reason": incomplete} if done and incomplete else None, "metadata": {},
             "output": output, "parallel_tool_calls": True, "temperature": 1, "tool_choice": "auto", "tools": [], "top_p": 1,
             "usage": None}
    if done and kind != "no-usage":
        reply["usage"] = {"input_tokens": USAGE["input"], "input_tokens_details": {"cached_tokens": USAGE["cached"]},
                          "output_tokens": USAGE["output"], "output_tokens_details": {"reasoning_tokens": USAGE["reasoning"]},
                          "total_tokens": USAGE["input"] + USAGE["output"]}
    return reply


def whole(kind, body, text=TEXT):
    return response(kind, body, "completed", [item_of([part_of(kind, text)], "completed")])


def stream(kind, body, text=TEXT):
    number = iter(range(100))
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    said, member = ("refusal", "refusal") if kind == "refused" else ("output_text", "text")

    def event(name, **members):
        return name, {"type": name, "sequence_number": next(number), **members}

    yield event("response.created", response=response(kind, body, "in_progress", []))
    yield event("response.in_progress", response=response(kind, body, "in_progress", []))
    yield event("response.output_item.added", output_index=0, item=item_of([], "in_progress"))
    yield event("response.content_part.added", part=part_of(kind, ""), **place)
    for part in (text[:5], text[5:]):
        yield event(f"response.{said}.delta", delta=part, logprobs=[], **place)
    yield event(f"response.{said}.done", logprobs=[], **{member: text}, **place)
    yield event("response.content_part.done", part=part_of(kind, text), **place)
    yield event("response.output_item.done", output_index=0, item=item_of([part_of(kind, text)], "completed"))
    last = whole(kind, body, text)
    yield event("response." + last["status"], response=last)


def stream_error(message):
    return "error", {"type": "error", "sequence_number": 1, "code": "server_error", "message": message, "param": None}
