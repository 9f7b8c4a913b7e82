// The sections of one run: its best over time, its funnel, its operators.

const spendings = [["evaluations", "by candidate"], ["seconds", "by second"], ["calls", "by answer of a model"], ["usd", "by dollar"]];
const spendingLabels = {evaluations: "candidates without duplicates", seconds: "seconds", calls: "answers of language models", usd: "dollars for language models"};

function showBest(report, candidates) {
  const place = section("best", "Best over time");
  const unit = report.unit ? ` in ${report.unit}` : "";
  let over = "evaluations";
  const made = chart(() => {
    const points = over === "evaluations" ? candidates.accepted : {at: [], value: []};
    const data = steps([report.curves[over] || []], report.totals[over] || undefined, points.at);
    const series = [{}, {stroke: colour("--series-0"), width: 2, paths: stepped(), points: {show: false}}];
    if (points.at.length) {
      const values = new Map(points.at.map((at, i) => [at, points.value[i]]));
      data.push(data[0].map(at => values.get(at) ?? null));
      series.push({fill: colour("--series-1"), paths: dots, points: {show: false}});
    }
    const values = data[1].filter(value => value !== null).concat(points.value);
    return {options: {series, axes: [axis(spendingLabels[over]), axis(report.run.objective + unit)],
      scales: {x: {time: false}, y: scale(values)}}, data};
  }, 320);
  place.append(choice(spendings.filter(([name]) => !["calls", "usd"].includes(name) || report.totals[name] > 0), over, name => {
    over = name;
    made.redraw();
  }), made.place);
  const progress = report.progress || [], drawn = bests => table(["candidate", "after", "value", "gain", "made by"], bests.map(best => row([
    candidateLink(best.number), seconds(best.elapsed), number(best.value), best.gain ? `x${best.gain.toFixed(3)}` : "-",
    `${best.operator}${best.note ? ": " + best.note : ""}`])), {class: "progress"});
  if (progress.length > SHOWN) place.append(fold(`the first ${progress.length - SHOWN} that were the best`, () => drawn(progress.slice(0, -SHOWN))));
  place.append(drawn(progress.slice(-SHOWN)));
}

function showFunnel(report) {
  const place = section("funnel", "Funnel");
  const most = Math.max(1, ...report.stages.map(stage => stage.entered || 0));
  place.append(table(["stage", "", "entered", "accept", "suspect", "unknown", "reject", "time", "why rejected or unknown"], report.stages.map(stage => {
    const judged = ["accept", "suspect", "unknown", "reject"];
    const widths = judged.map(name => [name, stage[name] || 0]);
    if (!stage.verdicts) widths.push(["measured", stage.entered || 0]);
    const bar = element("div", {class: "bar"}, widths.filter(([, count]) => count).map(([name, count]) =>
      element("i", {class: name, style: `width:${100 * count / most}%`, title: `${name}: ${count}`})));
    const reasons = Object.entries(stage.reasons || {}).sort((a, b) => b[1] - a[1]).map(([name, count]) => `${name} ${count}`).join(", ");
    return row([stage.id, bar, String(stage.entered || 0), ...judged.map(name => stage.verdicts ? String(stage[name] || 0) : "-"),
      stage.seconds ? seconds(stage.seconds.total) : "-", reasons], {"data-stage": stage.id});
  })));
  const counts = report.counts, again = report.duplicates;
  place.append(element("p", {class: "note"}, `${counts.candidates || 0} candidates; ${again.before_build + again.after_build} duplicates besides.`));
}

function showOperators(report) {
  section("operators", "Operators").append(table(["made by", "requests", "made", "duplicates", "reject", "accept", "better than parent", "best gain",
    "new best", "failed"], report.operators.map(one => row([one.id, ...["requests", "made", "duplicates", "reject", "accept", "bettered_parent"]
    .map(key => String(one[key] || 0)), one.best_gain ? `x${one.best_gain.toFixed(3)}` : "-", String(one.new_best || 0), String(one.failed || 0)]))));
}

function headline(report) {
  const run = report.run, best = report.best;
  document.title = `${run.name} - rkb report`;
  document.getElementById("title").textContent = [run.name, run.task, run.direction, run.target && `on ${run.target}`].filter(Boolean).join(" ");
  const lines = [best ? `Best: candidate ${best.number}, ${run.objective} = ${number(best.value)} ${report.unit || ""}` +
    (best.gain > 1.005 ? `, x${best.gain.toFixed(2)} of the best first candidate` : "") +
    (best.verified_by_execution ? "" : "; not verified by execution") : "No candidate was accepted."];
  if (best && best.limiter) lines.push(`Limited by ${best.limiter}.`);
  lines.push([run.ended_because && `Ended: ${run.ended_because}`, report.elapsed && seconds(report.elapsed), `seed ${run.seed}`,
    report.cost && `${report.cost.calls} calls of language models, ${report.cost.usd.toFixed(4)} USD`].filter(Boolean).join("; "));
  document.getElementById("headline").textContent = lines.join("\n");
  figures(report);
}

// The figures for which a reader looks first, in large letters.
function figures(report) {
  const best = report.best, counts = report.counts, all = counts.candidates || 0;
  const shown = [
    best && ["best", `${number(best.value)} ${report.unit || ""}`],
    best && best.gain && ["gain over the first", `x${best.gain.toFixed(2)}`],
    ["candidates", String(all)],
    all && ["accepted", `${Math.round(100 * (counts.accept || 0) / all)} %`],
    report.elapsed && ["time", seconds(report.elapsed)],
    report.elapsed && all && ["a candidate", seconds(report.elapsed / all)],
    report.cost && ["cost", `${report.cost.usd.toFixed(2)} USD`],
  ].filter(Boolean);
  document.getElementById("figures").replaceChildren(...shown.map(([name, value]) => element("div", {}, [element("dt", {}, [name]), element("dd", {}, [value])])));
}
