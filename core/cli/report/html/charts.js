// Charts.  Each chart draws itself again when the theme or the window changes.  If the page was built without the charting library, a
// sentence takes the chart's place.

const charts = [];

function chart(make, height) {
  const place = element("div", {class: "chart"});
  const drawn = {place, make, height, plot: null};
  charts.push(drawn);
  // Waits until the place has a width.
  requestAnimationFrame(() => draw(drawn));
  return {place, redraw: () => draw(drawn)};
}

function draw(drawn) {
  if (drawn.plot) drawn.plot.destroy();
  drawn.plot = null;
  drawn.place.replaceChildren();
  if (typeof uPlot === "undefined") {
    drawn.place.append(element("p", {class: "note no-library"},
      "There is no chart here: this rkb was built without its charting library. Run npm ci --prefix core/web and build it again."));
    return;
  }
  const width = drawn.place.clientWidth;
  if (width === 0) return;
  const {options, data} = drawn.make();
  drawn.plot = new uPlot({width, height: drawn.height, legend: {show: false}, cursor: {drag: {x: true, y: true}}, ...options},
    data, drawn.place);
}

function drawAll() {
  charts.forEach(draw);
}

function axis(label, values) {
  const stroke = colour("--soft"), grid = {stroke: colour("--line"), width: 1};
  return {label, stroke, grid, ticks: grid, font: "12px system-ui", labelFont: "12px system-ui", labelSize: 18, values};
}

// Best so far as steps: x and y of curves [[[at, value], ...], ...] put on one ascending x, as the library wants it, with the places of more
// points in it.  end: where each curve holds to.
function steps(curves, end, more = []) {
  const all = [...new Set(curves.flatMap(curve => curve.map(([at]) => at)).concat(more, end === undefined ? [] : [end]))].sort((a, b) => a - b);
  return [all, ...curves.map(curve => {
    let next = 0, value = null;
    return all.map(at => {
      while (next < curve.length && curve[next][0] <= at) value = curve[next++][1];
      return value;
    });
  })];
}

function stepped() {
  return uPlot.paths.stepped({align: 1});
}

// Points as squares of one path, at most one for each pixel: thousands are drawn in a few milliseconds.  A few points are larger, to be seen.
function dots(plot, series, from, to) {
  const path = new Path2D(), size = (to - from < 400 ? 6 : 3) * devicePixelRatio, taken = new Set();
  const xs = plot.data[0], ys = plot.data[series];
  for (let i = from; i <= to; i++) {
    if (ys[i] === null) continue;
    const x = Math.round(plot.valToPos(xs[i], "x", true)), y = Math.round(plot.valToPos(ys[i], "y", true)), pixel = x * 16384 + y;
    if (taken.has(pixel)) continue;
    taken.add(pixel);
    path.rect(x - size / 2, y - size / 2, size, size);
  }
  return {stroke: null, fill: path, clip: null, flags: 2};
}

// The axis is logarithmic if the values span more than a factor of 20; on a linear axis, all fast kernels would lie at the bottom.
function scale(values) {
  const positive = values.filter(value => value > 0);
  const low = positive.reduce((a, b) => Math.min(a, b), Infinity), high = positive.reduce((a, b) => Math.max(a, b), 0);
  return positive.length === values.length && high > 20 * low ? {distr: 3} : {};
}
