// Candidates: the list of all candidates, and a view of one candidate with its verdicts, measurements, schedule, source and descent.

const PAGE = 50;

function candidateLink(id) {
  return element("button", {type: "button", class: "link", click: () => showCandidate(id)}, `${id}`);
}

// The columns of the part "candidates", and values that are computed from them.
function readCandidates() {
  const columns = part("candidates");
  columns.place = new Map(columns.number.map((id, at) => [id, at]));
  columns.accepted = {at: [], value: []};
  let evaluations = 0;
  columns.number.forEach((id, at) => {
    if (columns.duplicate[at]) return;
    evaluations++;
    if (columns.standings[columns.standing[at]] === "accept" && columns.objective[at] !== null) {
      columns.accepted.at.push(evaluations);
      columns.accepted.value.push(columns.objective[at]);
    }
  });
  return columns;
}

function detail(id) {
  const columns = part("candidates"), at = columns.place.get(id);
  const chunk = at === undefined ? null : part(`details-${Math.floor(at / columns.chunk)}`);
  return chunk ? chunk[id] : null;
}

// The source of a candidate; null when the page leaves it out.
function sourceOf(id) {
  const found = detail(id), chunk = found && part("sources").chunks[found.source];
  return chunk === undefined || chunk === null ? null : part(`sources-${chunk}`)[found.source] ?? null;
}

function facts(id) {
  const columns = part("candidates"), at = columns.place.get(id);
  return at === undefined ? null : {id, operator: columns.operators[columns.operator[at]], standing: columns.standings[columns.standing[at]],
    reason: columns.reasons[columns.reason[at]], objective: columns.objective[at], duplicate: columns.duplicate[at],
    parents: columns.parents[at] || [], request: columns.request[at], note: columns.note[at] || ""};
}

function showCandidates(report) {
  const columns = part("candidates"), place = section("candidates", "All candidates");
  let shown = [], from = 0, order = "number", wanted = "", text = "";
  const body = element("tbody"), status = element("span", {class: "note"});
  const keep = () => {
    shown = [];
    for (let at = 0; at < columns.number.length; at++) {
      const kind = columns.duplicate[at] ? "duplicate" : columns.standings[columns.standing[at]];
      if (wanted && kind !== wanted) continue;
      if (text && !`${columns.number[at]} ${columns.operators[columns.operator[at]]} ${columns.reasons[columns.reason[at]]} ${columns.note[at] || ""}`.includes(text)) continue;
      shown.push(at);
    }
    if (order === "value") shown.sort((a, b) => (columns.objective[a] ?? Infinity) - (columns.objective[b] ?? Infinity) || a - b);
    from = 0;
    drawRows();
  };
  const drawRows = () => {
    body.replaceChildren(...shown.slice(from, from + PAGE).map(at => {
      const one = facts(columns.number[at]);
      return row([String(one.id), one.operator, one.duplicate ? `as ${one.duplicate}` : standing(one.standing), one.reason, number(one.objective),
        columns.note[at] || ""], {class: "pick", "data-candidate": one.id, click: () => showCandidate(one.id)});
    }));
    status.textContent = shown.length ? `${from + 1} to ${Math.min(from + PAGE, shown.length)} of ${shown.length}` : "none";
  };
  const turn = by => {
    if (from + by >= 0 && from + by < shown.length) from += by;
    drawRows();
  };
  const kinds = ["", "accept", "suspect", "unknown", "reject", "duplicate"];
  place.append(element("div", {class: "controls"},
    element("select", {"aria-label": "standing", change: event => { wanted = event.target.value; keep(); }},
      kinds.map(kind => element("option", {value: kind}, kind || "all"))),
    element("select", {"aria-label": "order", change: event => { order = event.target.value; keep(); }},
      element("option", {value: "number"}, "oldest first"), element("option", {value: "value"}, "best first")),
    element("input", {type: "search", placeholder: "operator, reason, note", input: event => { text = event.target.value; keep(); }}),
    element("button", {type: "button", click: () => turn(-PAGE)}, "back"), element("button", {type: "button", click: () => turn(PAGE)}, "on"), status));
  place.append(element("div", {class: "scroll"}, element("table", {class: "all"}, element("thead", {}, element("tr", {},
    ["number", "made by", "standing", "reason", report.run.objective, "note"].map((heading, at) => element("th", {class: at === 4 ? null : "left"}, heading)))), body)));
  keep();
}

// A few source lines around the place that a verdict names.
function sourceLines(source, line) {
  const lines = source.split("\n"), first = Math.max(1, line - 3);
  return element("pre", {class: "source"}, lines.slice(first - 1, line + 2).map((text, at) =>
    element("span", {class: first + at === line ? "here" : null}, `${String(first + at).padStart(5)}  ${text}`)));
}

function drawVerdict(verdict, source) {
  const made = element("div", {class: "verdict", "data-stage": verdict.stage}, element("strong", {}, verdict.stage), " ", standing(verdict.standing),
    verdict.reason ? ` ${verdict.reason}` : "", verdict.shadow ? " (shadow)" : "");
  if (verdict.message) made.append(element("div", {}, verdict.message));
  const evidence = verdict.evidence;
  if (!evidence || typeof evidence !== "object") return made;
  if (source && Number.isInteger(evidence.line) && evidence.line > 0 && (!evidence.file || /(^|\/)candidate\.cu$/.test(evidence.file)))
    made.append(sourceLines(source, evidence.line));
  made.append(table(["witness", ""], Object.entries(evidence).map(([key, value]) =>
    row([key, typeof value === "object" ? JSON.stringify(value) : String(value)])), {class: "witness"}));
  return made;
}

// The decisions from which a kernel was written, read from its manifest; null: the manifest has none.
function scheduleOf(source) {
  const found = /^schedule:\n((?:[ \t].*\n)+)/m.exec((source || "").split("*/")[0] + "\n");
  return found ? found[1].replace(/\s+$/, "") : null;
}

function showCandidate(id) {
  const place = document.getElementById("candidate");
  drawCandidate(id, place);
  place.scrollIntoView({block: "start"});
}

function drawCandidate(id, place) {
  const one = facts(id), more = detail(id), source = sourceOf(id);
  place.replaceChildren(element("h2", {}, `Candidate ${id}`));
  place.dataset.candidate = id;
  if (!one || !more) {
    place.append(element("p", {class: "note"}, "It is not on this page."));
    return;
  }
  place.append(element("p", {}, `made by ${one.operator}`, one.note ? `: ${one.note}` : "", "; ", standing(one.standing),
    one.reason ? ` ${one.reason}` : "", one.objective !== null ? `; value ${number(one.objective)}` : "", more.limiter ? `; limited by ${more.limiter}` : "",
    one.duplicate ? element("span", {}, "; duplicate of ", candidateLink(one.duplicate)) : null));
  if (more.tune && Object.keys(more.tune).length)
    place.append(element("p", {class: "tune"}, `tune values: ${Object.entries(more.tune).map(([key, value]) => `${key}=${value}`).join(" ")}`));
  place.append(element("h3", {}, "Verdicts"), ...more.verdicts.map(verdict => drawVerdict(verdict, source)));
  if (!more.verdicts.length) place.append(element("p", {class: "note"}, "None: it is a duplicate, or the run has not come so far."));
  if (more.measurements.length)
    place.append(fold(`Measurements (${more.measurements.length})`, () => table(["name", "case", "value", "unit", "spread"], more.measurements.map(
      ([name, on, value, unit, spread]) => row([name, on || "", number(value), unit === "1" ? "" : unit, spread === null ? "" : `+- ${number(spread, 3)}`])))));
  const schedule = scheduleOf(source);
  if (schedule) place.append(element("h3", {}, "Schedule"), element("pre", {class: "schedule"}, schedule));
  place.append(source === null ? element("p", {class: "note"}, `Its source is left out of this page: rkb show DIR ${id} prints it.`)
    : fold("Source", () => element("pre", {class: "source"}, source)));
  place.append(element("h3", {}, "How it came about"), drawDescent(id, 0));
}

// Steps from a first candidate to this one along the first parents.  Each opens into its difference from its parent; a second parent's
// own descent opens inside.
function drawDescent(id, depth) {
  const line = [];
  for (let at = id; at && line.length < 1000;) {
    const one = facts(at);
    if (!one) break;
    line.unshift(one);
    at = one.parents[0];
  }
  const drawn = (from, to) => line.slice(from, to).map((one, i) => {
    const parent = from + i > 0 ? line[from + i - 1] : null;
    const gain = parent && parent.objective && one.objective ? ` (x${(parent.objective / one.objective).toFixed(3)})` : "";
    return fold(`${one.id}: ${one.operator}, ${one.objective === null ? one.standing : number(one.objective)}${gain}${one.note ? " - " + one.note : ""}`,
      () => drawStep(one, parent, depth), {class: "step", "data-candidate": one.id});
  });
  const hidden = Math.max(0, line.length - SHOWN);
  return element("div", {class: "tree"}, hidden ? fold(`the first ${hidden} steps`, () => drawn(0, hidden)) : null, drawn(hidden, line.length));
}

function drawStep(one, parent, depth) {
  const more = detail(one.id);
  const made = [element("div", {}, candidateLink(one.id), " ", standing(one.standing))];
  const source = sourceOf(one.id), before = parent ? sourceOf(parent.id) : null;
  if (parent && source !== null && before !== null) made.push(drawDifference(before, source));
  else if (!parent && source !== null) made.push(fold("Source", () => element("pre", {class: "source"}, source)));
  else made.push(element("p", {class: "note"}, "The sources are left out of this page."));
  const was = parent && detail(parent.id);
  if (was && more) {
    const keys = [...new Set([...Object.keys(was.tune || {}), ...Object.keys(more.tune || {})])].filter(key => (was.tune || {})[key] !== (more.tune || {})[key]);
    if (keys.length) made.push(element("p", {class: "tune"}, keys.map(key => `${key}: ${(was.tune || {})[key] ?? "-"} to ${(more.tune || {})[key] ?? "-"}`).join(", ")));
  }
  if (depth < 8)
    one.parents.slice(1).forEach(other => made.push(fold(`the other parent, ${other}`, () => drawDescent(other, depth + 1))));
  return made;
}

// A table that compares the decisions of the best candidates.
function showSchedules() {
  const columns = part("candidates");
  const best = columns.number.map((id, at) => at).filter(at => !columns.duplicate[at] && columns.objective[at] !== null &&
    columns.standings[columns.standing[at]] === "accept").sort((a, b) => columns.objective[a] - columns.objective[b]).slice(0, 10);
  const rows = best.map(at => {
    const id = columns.number[at], more = detail(id), schedule = scheduleOf(sourceOf(id));
    const tune = Object.entries((more && more.tune) || {}).map(([key, value]) => `${key}=${value}`).join(" ");
    return row([candidateLink(id), number(columns.objective[at]), tune || "-", schedule ? element("pre", {class: "schedule"}, schedule) : "-"]);
  });
  if (rows.length) section("schedules", "Schedules and tune values of the best").append(table(["candidate", "value", "tune values", "schedule"], rows));
}
