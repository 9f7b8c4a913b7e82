// The sections of a sweep: its tables, and a small chart for each arm on each subject.

// The heading of a chart: the arm, the number of runs, and the colour of each seed.
function caption(title, runs) {
  const found = runs.filter(run => run.value !== null).length;
  const seeds = runs.map((run, at) => element("span", {class: `series-${at % 6}`}, ` \u2014\u202f${run.seed}`));
  return element("figcaption", {}, element("b", {}, title), `: ${runs.length} runs${found < runs.length ? `, ${found} with a kernel` : ""}`,
    ...(runs.length <= 12 ? ["; seeds", ...seeds] : []));
}

function showMultiples(comparison) {
  const place = section("multiples", "Best over time, arm by arm");
  const overs = spendings.filter(([name]) => comparison.curves.some(curve => curve.over === name));
  const grid = element("div", {class: "multiples", style: `grid-template-columns: repeat(${Math.min(comparison.arms.length, 4)}, minmax(0, 1fr))`});
  const made = [];
  let over = overs[0][0];
  comparison.subjects.forEach(subject => {
    const all = comparison.runs.filter(run => run.subject === subject);
    comparison.arms.forEach(arm => {
      const runs = all.filter(run => run.arm === arm);
      const one = chart(() => {
        // All arms of the subject have the same range, so that charts can be compared by eye.
        const values = all.flatMap(run => (run.curves[over] || []).map(([, value]) => value));
        const end = Math.max(...all.map(run => run[over] ?? 0));
        const range = scale(values);
        if (!range.distr && values.length) range.range = [Math.min(...values) * 0.97, Math.max(...values) * 1.03];
        return {options: {series: [{}, ...runs.map((run, at) => ({stroke: colour(`--series-${at % 6}`), width: 1.5, paths: stepped(), points: {show: false},
          spanGaps: true}))], axes: [axis(spendingLabels[over]), axis(undefined)], scales: {x: {time: false, range: [0, end]}, y: range}},
          data: steps(runs.map(run => run.curves[over] || []), end)};
      }, 190);
      made.push(one);
      grid.append(element("figure", {"data-arm": arm, "data-subject": subject},
        caption(`${arm}${comparison.subjects.length > 1 ? " - " + subject : ""}`, runs), one.place));
    });
  });
  place.append(choice(overs, over, name => {
    over = name;
    made.forEach(one => one.redraw());
  }), grid);
}

function showSummaries(comparison) {
  const place = section("summaries", "Arms");
  const subjects = comparison.subjects.length > 1 ? [...comparison.subjects, null] : [null];
  const paid = comparison.runs.some(run => run.usd > 0);
  subjects.forEach(subject => {
    const rows = comparison.summaries.filter(one => one.subject === subject).map(one => row([one.arm, String(one.runs), String(one.found),
      one.value ? interval(one.value.median) : "-", one.value ? interval(one.value.mean) : "-", interval(one.share.mean), interval(one.gain.mean, "x"),
      number(one.evaluations.mean.estimate, 4), seconds(one.seconds.mean.estimate), ...(paid ? [number(one.usd.mean.estimate, 4)] : [])]));
    place.append(element("h3", {}, subject || (comparison.subjects.length > 1 ? "all subjects together" : comparison.subjects[0])),
      table(["arm", "runs", "found", "value, median", "value, mean", "share, mean", "gain, mean", "evaluations", "time", ...(paid ? ["USD"] : [])], rows));
  });
  place.append(element("p", {class: "note"}, "share: best value that any run found on the subject / the run's value. Intervals: " + comparison.methods.interval + "."));
}

function showTests(comparison) {
  if (!comparison.comparisons.length) return;
  section("tests", `Against ${comparison.baseline}`).append(table(["arm", "pairs", "ratio", "better", "same", "worse", "p", "p (Holm)"],
    comparison.comparisons.map(one => row([one.arm, String(one.pairs), interval(one.ratio, "x"), String(one.better), String(one.same), String(one.worse),
      number(one.p, 3), number(one.p_holm, 3)]))), element("p", {class: "note"}, `ratio: value of ${comparison.baseline} / the arm's, geometric mean; ` +
      `above 1 the arm is better. ${comparison.methods.test}; correction: ${comparison.methods.correction}.`));
}

function showCurves(comparison) {
  const place = section("curves", "Share of the best known value");
  comparison.curves.forEach(curve => place.append(element("h3", {}, `after a part of the longest run's ${curve.over === "usd" ? "dollars" : curve.over}`),
    table(["arm", ...curve.points.map(point => `${100 * point} %`), "area"], curve.arms.map(arm => row([arm.arm,
      ...arm.share.map(share => number(share, 3)), interval(arm.area)])))));
}

function showRuns(comparison) {
  section("runs", "Runs").append(table(["run", "arm", "subject", "seed", comparison.objective, "gain", "evaluations", "time", "USD"], comparison.runs.map(run =>
    row([run.directory, run.arm, run.subject, String(run.seed), number(run.value), run.gain === null ? "-" : `x${run.gain.toFixed(3)}`, number(run.evaluations),
      seconds(run.seconds), number(run.usd, 4)]))));
  comparison.left_out.forEach(one => document.getElementById("runs").append(element("p", {class: "note"}, `left out: ${one.directory}: ${one.why}`)));
}

function showComparison(comparison) {
  document.title = "sweep - rkb report";
  document.getElementById("title").textContent = `Comparison of ${comparison.arms.length} arms`;
  document.getElementById("headline").textContent = `${comparison.runs.length} runs on ${comparison.subjects.join(", ")}; a lower ${comparison.objective} is better.`;
  showMultiples(comparison);
  showSummaries(comparison);
  showTests(comparison);
  showCurves(comparison);
  showRuns(comparison);
}
