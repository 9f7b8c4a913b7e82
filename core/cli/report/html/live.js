// Only in pages of `rkb serve`: asks the server whether the run has newer data than this page.  If so, loads the page again.  If the reader has pressed
// something, which loading would undo, shows a button instead.

const FOLLOW_MS = 2000;

function follow(live) {
  const more = document.getElementById("more");
  let touched = false;
  for (const kind of ["click", "keydown", "input"]) document.addEventListener(kind, () => { touched = true; });
  more.addEventListener("click", () => location.reload());
  const ask = async () => {
    try {
      const answer = await fetch("state", {cache: "no-store"});
      const state = answer.ok ? await answer.json() : live;
      if (state.stamp !== live.stamp) {
        if (!touched) return location.reload();
        more.hidden = false;
      }
    } catch (error) {
      more.hidden = true; // the server has ended; the page keeps its content
    }
    setTimeout(ask, FOLLOW_MS);
  };
  setTimeout(ask, FOLLOW_MS);
}
