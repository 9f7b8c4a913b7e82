// Of `rkb serve` alone: asks the server whether its run has more than this page shows.  Then the page is loaded again, unless its reader has pressed
// something, which that would undo; a button does it then.

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
      more.hidden = true; // the server has ended; what is shown stays
    }
    setTimeout(ask, FOLLOW_MS);
  };
  setTimeout(ask, FOLLOW_MS);
}
