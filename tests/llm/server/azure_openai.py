"""Azure OpenAI's deployments as a server speaks them: OpenAI's chat completions at another address, with another key.
Source: Azure OpenAI REST API reference, 'Chat completions', 'Authentication'."""
import re
from urllib.parse import parse_qs, urlsplit

import openai_chat
from common import need
from openai_chat import error, kind_of, stream, stream_error, streams, whole  # noqa: F401, pylint: disable=unused-import


def fits(path):
    return path.startswith("/openai/deployments/")


def check(path, headers, body):
    """Raises Refusal for what the service would not take."""
    url = urlsplit(path)
    need(re.fullmatch(r"/openai/deployments/[^/]+/chat/completions", url.path), "Resource not found", 404)
    need(re.fullmatch(r"\d{4}-\d\d-\d\d(-preview)?", parse_qs(url.query).get("api-version", [""])[0]), "Resource not found", 404)
    bearer = headers.get("authorization", "").startswith("Bearer eyJ")
    need(bool(headers.get("api-key")) != bearer, "Access denied due to invalid subscription key or wrong API endpoint.", 401)
    openai_chat.check(path, {"authorization": "Bearer " + headers.get("api-key", "token")}, body)
