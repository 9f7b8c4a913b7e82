"""Google Gemini's generateContent as a server speaks it.  Source: Gemini API reference, 'Generating content',
'Troubleshooting'; google.rpc.Status and google.rpc.RetryInfo for errors."""
from common import TEXT, USAGE, check_keys, need

KNOWN = {"contents", "systemInstruction", "generationConfig", "safetySettings", "tools", "toolConfig", "cachedContent"}
SETTINGS = {"temperature", "maxOutputTokens", "thinkingConfig", "candidateCount", "topP", "topK", "stopSequences",
            "responseMimeType", "seed"}
ERRORS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
          429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE"}


def fits(path):
    return "/v1beta/models/" in path or "/v1/models/" in path


def kind_of(path, body):
    return path.split("/models/")[1].split(":")[0]


def streams(path, body):
    return ":streamGenerateContent" in path


def check(path, headers, body):
    need(headers.get("x-goog-api-key"), "Method doesn't allow unregistered callers.", 403)
    method = path.split("/models/")[1].split(":")[1]
    need(method in ("generateContent", "streamGenerateContent?alt=sse"), "no such method", 404)
    check_keys(body, KNOWN, "Invalid JSON payload received. Unknown name ")
    settings = body.get("generationConfig", {})
    check_keys(settings, SETTINGS, "Invalid JSON payload received. Unknown name at 'generation_config': ")
    contents = body.get("contents")
    need(isinstance(contents, list) and contents, "contents is not specified")
    for content in contents:
        need(content.get("role", "user") in ("user", "model"), "Please use a valid role: user, model.")
        need(isinstance(content.get("parts"), list) and content["parts"], "contents.parts must not be empty")
    need(0 <= settings.get("temperature", 1) <= 2, "temperature must be in the range [0.0, 2.0]")
    need(settings.get("maxOutputTokens", 1) >= 1, "max_output_tokens must be positive")
    thinking = settings.get("thinkingConfig", {})
    need(not ("thinkingBudget" in thinking and "thinkingLevel" in thinking),
         "You can only set only one of thinking budget and thinking level.")


def error(status, message):
    value = {"code": status, "message": message, "status": ERRORS.get(status, "UNKNOWN")}
    if status == 429:
        value["details"] = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.02s"}]
    return {"error": value}


def reason(kind):
    return {"truncated": "MAX_TOKENS", "filtered": "SAFETY"}.get(kind, "STOP")


def part_of(kind, body, text, last):
    candidate = {"index": 0, "content": {"role": "model", "parts": [{"text": text}]}}
    reply = {"candidates": [candidate], "modelVersion": "m", "responseId": "r1"}
    reported = {"promptTokenCount": USAGE["input"], "totalTokenCount": USAGE["input"]}  # every chunk has one so far
    if last:
        candidate["finishReason"] = reason(kind)
        reported = {"promptTokenCount": USAGE["input"], "cachedContentTokenCount": USAGE["cached"],
                    "candidatesTokenCount": USAGE["output"] - USAGE["reasoning"],
                    "thoughtsTokenCount": USAGE["reasoning"], "totalTokenCount": USAGE["input"] + USAGE["output"]}
    if kind != "no-usage":
        reply["usageMetadata"] = reported
    return reply


def whole(kind, body, text=TEXT):
    return part_of(kind, body, text, True)


def stream(kind, body, text=TEXT):
    yield None, part_of(kind, body, text[:5], False)
    yield None, part_of(kind, body, text[5:], True)


def stream_error(message):
    return None, error(503, message)
