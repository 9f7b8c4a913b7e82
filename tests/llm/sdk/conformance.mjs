// The test server against the vendors' own clients: plain, streamed, failing and rate-limited exchanges of each protocol.
// What these clients accept, core/llm is then tested against (tests/llm/test_protocols.c).
//
// usage: node conformance.mjs SERVER     (http://127.0.0.1:PORT; copied beside node_modules by conformance.sh)
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { BedrockRuntimeClient, ConverseCommand } from "@aws-sdk/client-bedrock-runtime";
import { NodeHttpHandler } from "@smithy/node-http-handler"; // the test server speaks HTTP/1.1; this client would begin with 2
import OpenAI, { AzureOpenAI } from "openai";

const [server] = process.argv.slice(2);
const TEXT = "Here it is: κ = 1.\n";
const key = "sk-conformance-0000";
const openai = new OpenAI({ apiKey: key, baseURL: `${server}/v1`, maxRetries: 0 });
const anthropic = new Anthropic({ apiKey: key, baseURL: server, maxRetries: 0 });
const azure = new AzureOpenAI({ apiKey: key, endpoint: server, deployment: "mine", apiVersion: "2024-10-21", maxRetries: 0 });
const gemini = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: server } });

async function collect(stream) {
  const events = [];
  for await (const event of await stream) events.push(event);
  return events;
}

async function fails(promise, type, status, message) {
  await assert.rejects(promise, (error) => {
    if (type) assert.ok(error instanceof type, `${error.constructor.name}, not ${type.name}: ${error.message}`);
    if (error.status === undefined) assert.match(error.message, new RegExp(`\\b${status}\\b`)); // Gemini's client for Node 18
    else assert.equal(error.status, status);
    assert.match(error.message, message);
    return true;
  });
}

// Each protocol: how to ask, what whole and streamed replies say, which errors there are.
const chat = {
  name: "OpenAI chat completions",
  ask: (model, more = {}, options = {}) =>
    openai.chat.completions.create({ model, messages: [{ role: "system", content: "Be brief." }, { role: "user", content: "?" }], ...more }, options),
  checkWhole(reply, kind) {
    const { message, finish_reason } = reply.choices[0];
    assert.equal(kind === "refused" ? message.refusal : message.content, TEXT);
    assert.equal(finish_reason, { truncated: "length", filtered: "content_filter" }[kind] ?? "stop");
    assert.deepEqual([reply.usage.prompt_tokens, reply.usage.completion_tokens], [100, 20]);
    assert.equal(reply.usage.prompt_tokens_details.cached_tokens, 40);
    assert.equal(reply.usage.completion_tokens_details.reasoning_tokens, 5);
  },
  async checkStream(model) {
    const events = await collect(this.ask(model, { stream: true, stream_options: { include_usage: true } }));
    assert.equal(events.map((event) => event.choices[0]?.delta.content ?? "").join(""), TEXT);
    assert.equal(events.at(-1).usage.completion_tokens, 20);
    const without = await collect(this.ask(model, { stream: true }));
    assert.ok(without.every((event) => !event.usage));
    const helper = (openai.beta?.chat?.completions?.stream ? openai.beta : openai).chat.completions.stream(
      { model, messages: [{ role: "user", content: "?" }], stream_options: { include_usage: true } });
    this.checkWhole(await helper.finalChatCompletion(), "plain");
  },
  kinds: ["plain", "truncated", "filtered", "refused"],
  errors: OpenAI,
};

const deployments = {
  ...chat,
  name: "Azure OpenAI deployments",
  ask: (model, more = {}, options = {}) =>
    azure.chat.completions.create({ model, messages: [{ role: "user", content: "?" }], ...more }, options),
  async checkStream(model) {
    const events = await collect(this.ask(model, { stream: true, stream_options: { include_usage: true } }));
    assert.equal(events.map((event) => event.choices[0]?.delta.content ?? "").join(""), TEXT);
  },
};

const responses = {
  name: "OpenAI responses",
  ask: (model, more = {}, options = {}) => openai.responses.create({ model, input: "?", instructions: "Be brief.", ...more }, options),
  checkWhole(reply, kind) {
    const [part] = reply.output[0].content;
    assert.equal(kind === "refused" ? part.refusal : part.text, TEXT);
    assert.equal(reply.status, ["truncated", "filtered"].includes(kind) ? "incomplete" : "completed");
    assert.equal(reply.incomplete_details?.reason, { truncated: "max_output_tokens", filtered: "content_filter" }[kind]);
    assert.deepEqual([reply.usage.input_tokens, reply.usage.output_tokens], [100, 20]);
  },
  async checkStream(model) {
    assert.equal((await this.ask("plain")).output_text, TEXT);
    const events = await collect(this.ask(model, { stream: true }));
    assert.equal(events.filter((event) => event.type === "response.output_text.delta").map((event) => event.delta).join(""), TEXT);
    assert.equal(events.at(-1).type, "response.completed");
    const helper = openai.responses.stream({ model, input: "?" });
    this.checkWhole(await helper.finalResponse(), "plain");
  },
  kinds: ["plain", "truncated", "filtered", "refused"],
  errors: OpenAI,
};

const messages = {
  name: "Anthropic messages",
  ask: (model, more = {}, options = {}) =>
    anthropic.messages.create({ model, max_tokens: 100, system: "Be brief.", messages: [{ role: "user", content: "?" }], ...more }, options),
  checkWhole(reply, kind) {
    assert.equal(reply.content[0].text, TEXT);
    assert.equal(reply.stop_reason, { truncated: "max_tokens", refused: "refusal" }[kind] ?? "end_turn");
    assert.deepEqual([reply.usage.input_tokens, reply.usage.cache_read_input_tokens, reply.usage.output_tokens], [60, 40, 20]);
  },
  async checkStream(model) {
    const events = await collect(this.ask(model, { stream: true }));
    assert.equal(events.filter((event) => event.type === "content_block_delta").map((event) => event.delta.text).join(""), TEXT);
    assert.equal(events.at(-1).type, "message_stop");
    const helper = anthropic.messages.stream({ model, max_tokens: 100, messages: [{ role: "user", content: "?" }] });
    this.checkWhole(await helper.finalMessage(), "plain");
  },
  kinds: ["plain", "truncated", "refused"],
  errors: Anthropic,
};

const content = {
  name: "Google Gemini",
  ask: (model, more = {}) =>
    gemini.models.generateContent({ model, contents: "?", config: { systemInstruction: "Be brief.", maxOutputTokens: 100 }, ...more }),
  checkWhole(reply, kind) {
    assert.equal(reply.text, TEXT);
    assert.equal(reply.candidates[0].finishReason, { truncated: "MAX_TOKENS", filtered: "SAFETY" }[kind] ?? "STOP");
    const { promptTokenCount, cachedContentTokenCount, candidatesTokenCount, thoughtsTokenCount } = reply.usageMetadata;
    assert.deepEqual([promptTokenCount, cachedContentTokenCount, candidatesTokenCount, thoughtsTokenCount], [100, 40, 15, 5]);
  },
  async checkStream(model) {
    const events = await collect(gemini.models.generateContentStream({ model, contents: "?" }));
    assert.equal(events.map((event) => event.text ?? "").join(""), TEXT);
    assert.equal(events.at(-1).usageMetadata.thoughtsTokenCount, 5);
    assert.equal(events.at(-1).candidates[0].finishReason, "STOP");
  },
  kinds: ["plain", "truncated", "filtered"],
  errors: {},
};

async function checkErrors(protocol) {
  const { errors } = protocol;
  await fails(protocol.ask("error-400"), errors.BadRequestError, 400, /something is wrong/);
  await fails(protocol.ask("unauthorised"), errors.AuthenticationError, 401, /who are you/);
  await fails(protocol.ask("error-500"), errors.InternalServerError, 500, /something is wrong/);
  await fails(protocol.ask("error-529"), errors.OverloadedError ?? errors.InternalServerError, 529, /something is wrong/);
}

async function checkRateLimit(protocol) {
  const { errors } = protocol;
  await fails(protocol.ask("limited-for-ever"), errors.RateLimitError, 429, /slow down/);
  await fails(protocol.ask("limited"), errors.RateLimitError, 429, /slow down/);
  if (protocol === content) await fails(protocol.ask("limited"), undefined, 429, /slow down/); // this client leaves retrying to its user
  const began = Date.now();
  protocol.checkWhole(await protocol.ask("limited", {}, { maxRetries: 1 }), "plain");
  if (protocol !== content) assert.ok(Date.now() - began >= 20, "retry-after-ms was not waited for");
}

async function checkBrokenStreams(protocol) {
  const stream = (model) =>
    protocol === content ? gemini.models.generateContentStream({ model, contents: "?" }) : protocol.ask(model, { stream: true });
  await assert.rejects(collect(stream("dies")), undefined, "dies");
  const ending = await collect(stream("overloaded-mid-stream")).catch((error) => [error]);
  const last = ending.at(-1); // older clients hand the error on as an event, or (Gemini's) just end without a reason
  const unended = protocol === content && !last.candidates?.[0]?.finishReason;
  assert.ok(last instanceof Error || last.type === "error" || unended, "overloaded-mid-stream");
}

for (const protocol of [chat, deployments, responses, messages, content]) {
  for (const kind of protocol.kinds) protocol.checkWhole(await protocol.ask(kind), kind);
  for (const kind of ["plain", "split"]) await protocol.checkStream(kind);
  await checkErrors(protocol);
  await checkRateLimit(protocol);
  await checkBrokenStreams(protocol);
  console.log(`${protocol.name}: plain, streamed, error and rate-limit exchanges satisfy the vendor's client`);
}

// Bedrock: what the server makes of signatures is what Amazon's own client signs; core/llm's signatures are then tried on the server.
async function checkBedrock() {
  const client = (accessKeyId, secretAccessKey, sessionToken) =>
    new BedrockRuntimeClient({ region: "eu-west-1", endpoint: server, maxAttempts: 1, requestHandler: new NodeHttpHandler(), credentials: { accessKeyId, secretAccessKey, sessionToken } });
  const converse = (from, modelId) =>
    from.send(new ConverseCommand({ modelId, system: [{ text: "Be brief." }], messages: [{ role: "user", content: [{ text: "?" }] }],
                                    inferenceConfig: { maxTokens: 100, temperature: 0.5 } }));
  const whole = client("AKIAPLANTED", "a-secret-of-the-tests");
  for (const from of [whole, client("ASIAPLANTED", "another-secret", "a-token-of-a-session")]) {
    for (const [kind, stop] of [["plain", "end_turn"], ["truncated", "max_tokens"], ["filtered", "content_filtered"]]) {
      const reply = await converse(from, `${kind}:0`);
      assert.equal(reply.output.message.content.at(-1).text, TEXT);
      assert.equal(reply.stopReason, stop);
      assert.deepEqual([reply.usage.inputTokens, reply.usage.cacheReadInputTokens, reply.usage.outputTokens], [60, 40, 20]);
    }
  }
  const refused = (from, model, status, message) =>
    assert.rejects(converse(from, model), (error) => error.$metadata?.httpStatusCode === status && message.test(error.message));
  await refused(client("AKIAPLANTED", "not-the-secret-of-it"), "plain:0", 403, /signature/);
  await refused(whole, "error-400", 400, /something is wrong/);
  await refused(whole, "limited-for-ever", 429, /slow down/);
  await refused(whole, "error-500", 500, /something is wrong/);
  console.log("Amazon Bedrock converse: signed, failing and rate-limited exchanges satisfy the vendor's client");
}

await checkBedrock();
process.exit(0);
