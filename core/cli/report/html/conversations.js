// Conversations with language models, and the cost of each.

function showConversations() {
  const calls = part("calls");
  if (!calls || !calls.length) return;
  const place = section("conversations", "Conversations with language models");
  const columns = part("candidates"), made = new Map();
  columns.number.forEach((id, at) => made.set(columns.request[at], [...(made.get(columns.request[at]) || []), id]));
  const total = calls.reduce((sum, call) => sum + call.usd, 0);
  place.append(element("p", {class: "note"}, `${calls.length} calls, ${total.toFixed(4)} USD.`));
  let shown = 0;
  const more = element("button", {type: "button", click: () => add()}, "more");
  const add = () => {
    calls.slice(shown, shown + PAGE).forEach(call => more.before(drawCall(call, made.get(call.request) || [])));
    shown += PAGE;
    more.hidden = shown >= calls.length;
  };
  place.append(more);
  add();
}

function drawCall(call, candidates) {
  const tokens = call.input_tokens === null ? "" : `, ${call.input_tokens} tokens in and ${call.output_tokens ?? "?"} out`;
  return fold(`${call.stage} asked ${call.model}: ${call.outcome || call.state}, ${call.usd.toFixed(4)} USD${tokens}` +
    `${call.seconds === null ? "" : ", " + seconds(call.seconds)}`, () => {
    const texts = call.texts === null ? null : part(`calls-${call.texts}`)[call.id];
    return [
      candidates.length ? element("p", {}, "candidates of this request: ", candidates.flatMap(id => [candidateLink(id), " "])) : "",
      call.error ? element("p", {class: "reject"}, call.error) : "",
      ...(texts ? [element("h3", {}, "Prompt"), element("pre", {class: "prompt"}, texts.prompt ?? "-"), element("h3", {}, "Reply"),
        element("pre", {class: "reply"}, texts.reply ?? "-")] : [element("p", {class: "note"}, "Its texts are left out of this page; the archive has them.")]),
    ];
  }, {class: "call"});
}
