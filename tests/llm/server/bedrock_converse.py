"""Amazon Bedrock's Converse as a server speaks it, with both of its keys.  Sources: Amazon Bedrock API reference, 'Converse', 'Common
errors'; IAM user guide, 'Create a signed AWS API request'."""
import hashlib
import hmac
import re
import time
from calendar import timegm
from urllib.parse import quote, unquote

from common import TEXT, USAGE, Refusal, check_keys, need

KNOWN = {"messages", "system", "inferenceConfig", "additionalModelRequestFields", "toolConfig", "guardrailConfig"}
SETTINGS = {"maxTokens", "temperature", "topP", "stopSequences"}
SECRETS = {"AKIAPLANTED": ("a-secret-of-the-tests", ""), "ASIAPLANTED": ("another-secret", "a-token-of-a-session")}


def fits(path):
    return re.fullmatch(r"/model/[^/]+/converse(-stream)?", path)


def kind_of(path, body):
    """A model is named like its behaviour; a version may follow, as in "plain:0"."""
    return unquote(path.split("/")[2]).split(":")[0]


def streams(path, body):
    return False


def digest(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def check_signature(path, headers, raw):
    """Makes the signature again from the request as it came, and compares."""
    fields = dict(re.findall(r"(Credential|SignedHeaders|Signature)=([^,\s]+)", headers["authorization"]))
    identity, day, region, service, last = fields["Credential"].split("/")
    secret, token = SECRETS.get(identity, (None, None))
    need(secret, "The security token included in the request is invalid.", 403)
    need(headers.get("x-amz-security-token", "") == token, "The security token included in the request is invalid.", 403)
    need((service, last) == ("bedrock", "aws4_request"), "Credential should be scoped to correct service: 'bedrock'.", 403)
    when = headers["x-amz-date"]
    need(when.startswith(day) and abs(timegm(time.strptime(when, "%Y%m%dT%H%M%SZ")) - time.time()) < 300,
         "Signature expired", 403)
    names = fields["SignedHeaders"].split(";")
    need({"host", "x-amz-date"} <= set(names) and names == sorted(names), "'host' must be a signed header", 403)
    canonical = "\n".join(["POST", quote(path, safe="/-._~"), ""] + [f"{name}:{headers[name]}" for name in names] +
                          ["", ";".join(names), hashlib.sha256(raw).hexdigest()])
    scope = f"{day}/{region}/{service}/{last}"
    key = ("AWS4" + secret).encode()
    for step in (day, region, service, last):
        key = digest(key, step)
    text = "\n".join(["AWS4-HMAC-SHA256", when, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    need(hmac.compare_digest(digest(key, text).hex(), fields["Signature"]),
         "The request signature we calculated does not match the signature you provided.", 403)


def check(path, headers, body):
    """Raises Refusal for what the service would not take."""
    authorization = headers.get("authorization", "")
    if authorization.startswith("AWS4-HMAC-SHA256 "):
        try:
            check_signature(path, headers, headers["raw body"])
        except (KeyError, ValueError) as error_found:
            raise Refusal("Authorization header is malformed", 403) from error_found
    else:
        need(re.fullmatch(r"Bearer \S+", authorization), "Missing Authentication Token", 403)
    check_keys(body, KNOWN, "Malformed input request: extraneous key ")
    settings = body.get("inferenceConfig", {})
    check_keys(settings, SETTINGS, "Malformed input request: extraneous key ")
    messages = body.get("messages")
    need(isinstance(messages, list) and messages and messages[0].get("role") == "user", "A conversation must start with a user message.")
    for message in messages + [{"content": body.get("system", [{"text": "x"}])}]:
        need(isinstance(message.get("content"), list) and all(block.get("text") for block in message["content"]),
             "The text field in the ContentBlock object is blank.")
    need(settings.get("maxTokens", 1) >= 1, "maxTokens must be positive")
    need(0 <= settings.get("temperature", 1) <= 1 or "anthropic" not in path, "temperature: range: 0..1")


def error(status, message):
    return {"message": message}


def whole(kind, body, text=TEXT):
    reason = {"truncated": "max_tokens", "filtered": "content_filtered"}.get(kind, "end_turn")
    content = [{"reasoningContent": {"reasoningText": {"text": "Well.", "signature": "s"}}}, {"text": text}]
    usage = {"inputTokens": max(USAGE["input"] - USAGE["cached"], 0), "outputTokens": USAGE["output"],
             "totalTokens": USAGE["input"] + USAGE["output"], "cacheReadInputTokens": USAGE["cached"], "cacheWriteInputTokens": 0}
    return {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": reason, "usage": usage,
            "metrics": {"latencyMs": 10}}


def stream(kind, body, text=TEXT):
    """None: a converse-stream is not what these tests ask for."""
    return ()
