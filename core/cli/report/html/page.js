// The parts of the page's data, and small helpers that every section uses.  All text from a run reaches the page as text nodes alone:
// nothing here parses HTML.

const SHOWN = 30; // entries of a long list that are shown; the others are folded
const parts = new Map();

// A part is parsed when it is first needed: a page with 10,000 candidates opens before most of it is read.
function part(id) {
  if (!parts.has(id)) {
    const element = document.getElementById(id);
    parts.set(id, element ? JSON.parse(element.textContent) : null);
  }
  return parts.get(id);
}

// element("td", {class: "left"}, "text", child, ...)
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value !== undefined && value !== null) made.setAttribute(key, value);
  }
  made.append(...children.flat().filter(child => child !== null && child !== undefined));
  return made;
}

function section(id, title) {
  const made = element("section", {id}, element("h2", {}, title));
  document.getElementById("main").append(made);
  return made;
}

// A heading is aligned like the first row of its column.
function table(headings, rows, attributes) {
  const first = rows.length ? rows[0].children : [];
  return element("div", {class: "scroll"}, element("table", attributes,
    element("thead", {}, element("tr", {}, headings.map((text, at) => element("th", {class: first[at] && first[at].className || null}, text)))),
    element("tbody", {}, rows)));
}

// Numbers are aligned right, and everything else left.
function row(cells, attributes) {
  return element("tr", attributes, cells.map(cell => element("td", {class: typeof cell === "string" && /^(x?-?\d|-$|\+-)/.test(cell) ? null : "left"}, cell)));
}

// A closed section whose content is made when it is first opened.
function fold(summary, fill, attributes) {
  const made = element("details", attributes, element("summary", {}, summary));
  made.addEventListener("toggle", () => {
    if (made.open && made.children.length === 1) made.append(...[fill()].flat());
  });
  return made;
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function number(value, digits = 6) {
  return value === null || value === undefined || Number.isNaN(value) ? "-" : String(Number(value.toPrecision(digits)));
}

function seconds(value) {
  if (value === null || value === undefined) return "-";
  if (value >= 120) return `${Math.floor(value / 60)} m ${String(Math.round(value % 60)).padStart(2, "0")} s`;
  if (value >= 1) return `${number(value, 3)} s`;
  return value >= 1e-3 ? `${number(value * 1e3, 3)} ms` : `${number(value * 1e6, 3)} us`;
}

function interval(value, mark = "") {
  if (!value || value.estimate === null) return "-";
  const text = mark + number(value.estimate, 4);
  return value.low === null ? text : `${text} [${number(value.low, 4)}, ${number(value.high, 4)}]`;
}

function standing(name) {
  return element("span", {class: name}, name);
}

// A group of buttons, one of which is pressed.
function choice(names, chosen, picked) {
  const buttons = names.map(([name, label]) => element("button", {type: "button", "data-choice": name, click: () => {
    press(name);
    picked(name);
  }}, label));
  const press = name => buttons.forEach(button => button.setAttribute("aria-pressed", String(button.dataset.choice === name)));
  press(chosen);
  return element("div", {class: "controls"}, buttons);
}
