// The difference of two texts by lines (Myers 1986), and its drawing.

const MOST_EDITS = 2000;

// [[kind, line], ...] with kind " ", "-" or "+"; null when the texts differ in more lines than MOST_EDITS.
function difference(before, after) {
  const a = before.split("\n"), b = after.split("\n");
  const most = Math.min(a.length + b.length, MOST_EDITS), trail = [];
  const furthest = new Map([[1, 0]]);
  for (let d = 0; d <= most; d++) {
    trail.push(new Map(furthest));
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && furthest.get(k - 1) < furthest.get(k + 1)) ? furthest.get(k + 1) : furthest.get(k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      furthest.set(k, x);
      if (x >= a.length && x - k >= b.length) return backwards(a, b, trail, d);
    }
  }
  return null;
}

function backwards(a, b, trail, edits) {
  const lines = [];
  let x = a.length, y = b.length;
  for (let d = edits; d >= 0; d--) {
    const furthest = trail[d], k = x - y;
    const from = k === -d || (k !== d && furthest.get(k - 1) < furthest.get(k + 1)) ? k + 1 : k - 1;
    const fromX = d === 0 ? 0 : furthest.get(from), fromY = d === 0 ? 0 : fromX - from;
    while (x > fromX && y > fromY && x > 0 && y > 0 && a[x - 1] === b[y - 1]) {
      lines.push([" ", a[--x]]);
      y--;
    }
    if (d > 0) lines.push(x === fromX ? ["+", b[--y]] : ["-", a[--x]]);
  }
  return lines.reverse();
}

function drawDifference(before, after) {
  const lines = difference(before, after);
  if (!lines) return element("p", {class: "note"}, "The two sources have too little in common for a difference; each is shown with its candidate.");
  const near = lines.map(() => false);
  lines.forEach(([kind], at) => {
    if (kind !== " ") for (let i = Math.max(0, at - 3); i <= Math.min(lines.length - 1, at + 3); i++) near[i] = true;
  });
  if (!near.some(Boolean)) return element("p", {class: "note"}, "The sources are equal.");
  const shown = [];
  lines.forEach(([kind, line], at) => {
    if (near[at]) shown.push(element("span", {class: kind === "+" ? "added" : kind === "-" ? "removed" : null}, `${kind} ${line}`));
    else if (at > 0 && near[at - 1]) shown.push(element("span", {class: "gap"}, "..."));
  });
  return element("pre", {class: "diff"}, shown);
}
