// Builds the page from its data, and switches between the light and the dark theme.

function showRun(report) {
  const candidates = readCandidates();
  headline(report);
  showBest(report, candidates);
  showFunnel(report);
  showOperators(report);
  const place = section("candidate", "");
  showCandidates(report);
  showSchedules();
  showConversations();
  if (report.best) drawCandidate(report.best.number, place);
  else place.replaceChildren(element("h2", {}, "Candidate"), element("p", {class: "note"}, "Choose one from the list below."));
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  drawAll();
}

const dark = window.matchMedia("(prefers-color-scheme: dark)");
document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
document.getElementById("theme").addEventListener("click", () =>
  setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));

let resizing = 0;
window.addEventListener("resize", () => {
  clearTimeout(resizing);
  resizing = setTimeout(drawAll, 100);
});

if (part("report")) showRun(part("report"));
else showComparison(part("comparison"));
if (part("live")) follow(part("live"));
document.documentElement.dataset.ready = "true";
