"""The pages of `rkb report --html`, opened in a headless Chromium: what is drawn is what was made, text of a run stays text, nothing is
fetched, and both themes, all axes, the list, the descents and the conversations work.
usage: page_test.py SOURCE_DIRECTORY BINARY_DIRECTORY [FOLDER FOR SCREENSHOTS]"""
import os
import re
import subprocess
import sys
import tempfile

import looks
import made_run
from browser import Browser, find

source, binary = sys.argv[1:3]
shots = sys.argv[3] if len(sys.argv) > 3 else None
rkb_run, rkb = (os.path.join(binary, "bin", name) for name in ("rkb-run", "rkb"))
os.environ["RKB_PLUGIN_PATH"] = os.path.join(binary, "tests/stage/plugins")
COUNT = 300
# Whether any pixel of the first canvas within a selector has this colour, within what smoothing changes.
PIXELS = """(selector, variable) => {
  const canvas = document.querySelector(selector + " canvas"), probe = document.createElement("i");
  probe.style.color = getComputedStyle(document.documentElement).getPropertyValue(variable);
  document.body.append(probe);
  const want = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
  probe.remove();
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  let count = 0;
  for (let i = 0; i < data.length; i += 4)
    if (data[i + 3] > 200 && Math.abs(data[i] - want[0]) + Math.abs(data[i + 1] - want[1]) + Math.abs(data[i + 2] - want[2]) < 30) count++;
  return count;
}"""


def report(*arguments):
    done = subprocess.run([rkb, "report", *arguments], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return done.stderr


def pixels(browser, selector, variable):
    return browser.evaluate(f"({PIXELS})({selector!r}, {variable!r})")


def shoot(browser, name):
    if shots:
        browser.screenshot(os.path.join(shots, name))


def without_library(page, folder):
    """The same data in a page that was assembled without the charting library."""
    empty, out = os.path.join(folder, "empty.html"), os.path.join(folder, "plain.html")
    html = os.path.join(source, "core/cli/report/html")
    subprocess.run(["cmake", f"-DOUT={empty}", f"-DFOLDER={html}", "-DCHART_JS=", "-DCHART_CSS=", "-P", os.path.join(html, "assemble.cmake")], check=True)
    with open(page, encoding="utf-8") as file:
        data = "".join(re.findall(r'<script type="application/json".*?</script>\n', file.read(), re.DOTALL))
    with open(empty, encoding="utf-8") as file:
        text = file.read()
    with open(out, "w", encoding="utf-8") as file:
        file.write(text.replace("<!--@data@-->", data))
    return out


def check_top(browser, best, bests, charts):
    winner = bests[-1]["candidate"]
    assert browser.text("h1") == "made softmax forward on h200"
    assert f"Best: candidate {winner}, model.us = {float(f'{best:.6g}'):g} us" in browser.text("#headline"), browser.text("#headline")
    figures = browser.text("#figures")
    assert f"best{float(f'{best:.6g}'):g} us" in figures and f"candidates{COUNT - [made_run.standing_of(n) for n in range(1, COUNT + 1)].count('duplicate')}accepted" in figures, figures
    folded = len(bests) - 30
    if folded > 0:
        assert browser.text("#best summary") == f"the first {folded} that were the best"
        browser.press("#best summary")
    assert browser.count("table.progress tbody tr") == len(bests)
    kinds = [made_run.standing_of(number) for number in range(1, COUNT + 1)]
    machine = [cell for cell in browser.evaluate("[...document.querySelectorAll('tr[data-stage=machine] td')].map(cell => cell.textContent)")]
    assert machine[2:5] == [str(COUNT - kinds.count("duplicate")), str(kinds.count("accept")), "0"] and machine[6] == str(kinds.count("reject")), machine
    assert machine[8] == f"memory.out_of_bounds {kinds.count('reject')}", machine
    if charts:
        assert pixels(browser, "#best", "--series-0") > 100 and pixels(browser, "#best", "--series-1") > 100
        for name in ("usd", "seconds"):
            browser.press(f"#best [data-choice={name}]")
            assert pixels(browser, "#best", "--series-0") > 100, name
        assert pixels(browser, "#best", "--series-1") == 0, "times have no points"
        browser.press("#best [data-choice=evaluations]")
        assert pixels(browser, "#best", "--series-1") > 100
    return winner


def check_list(browser):
    rows = "table.all tbody tr"
    assert browser.count(rows) == 50 and "1 to 50 of 300" in browser.text("#candidates .controls")
    browser.press("#candidates .controls button:nth-of-type(2)")
    assert browser.text(f"{rows} td") == "51" and "51 to 100 of 300" in browser.text("#candidates .controls")
    browser.evaluate("(() => { const list = document.querySelector('#candidates select'); list.value = 'reject'; list.dispatchEvent(new Event('change')); })()")
    rejected = [number for number in range(1, COUNT + 1) if made_run.standing_of(number) == "reject"]
    assert f"1 to {len(rejected)} of {len(rejected)}" in browser.text("#candidates .controls")
    assert browser.text(f"{rows} td") == str(rejected[0])
    browser.evaluate("(() => { const list = document.querySelectorAll('#candidates select'); list[0].value = ''; list[0].dispatchEvent(new Event('change'));"
                     " list[1].value = 'value'; list[1].dispatchEvent(new Event('change')); })()")
    values = browser.evaluate("[...document.querySelectorAll('table.all tbody tr td:nth-child(5)')].map(cell => Number(cell.textContent))")
    assert values == sorted(values) and len(values) == 50
    browser.evaluate("(() => { const box = document.querySelector('#candidates input'); box.value = 'step 123'; box.dispatchEvent(new Event('input')); })()")
    assert browser.text(f"{rows} td") == "123" and browser.count(rows) == 1
    return rejected[1]


def check_candidate(browser, rejected, winner):
    browser.evaluate(f"(() => {{ const box = document.querySelector('#candidates input'); box.value = 'step {rejected}'; box.dispatchEvent(new Event('input')); }})()")
    browser.press(f"tr[data-candidate='{rejected}']")
    assert browser.text("#candidate h2") == f"Candidate {rejected}"
    verdict = "#candidate .verdict[data-stage=machine]"
    assert browser.text(f"{verdict} .here") == f"{made_run.LINE:5}" + "  " + made_run.source_of(rejected).split("\n")[made_run.LINE - 1]
    assert f"block[{rejected},0,0]" in browser.text(f"{verdict} .witness") and "thread[7,0,0]" in browser.text(f"{verdict} .witness")
    assert "threads:" in browser.text("#candidate pre.schedule")
    # The descent opens into differences: what the parent has and this one has not, and the other way round.
    steps = browser.count("#candidate .tree > details.step")
    assert steps > 2, steps
    browser.evaluate("(() => { for (const step of document.querySelectorAll('#candidate .tree > details.step')) step.open = true; })()")
    browser.frame()
    parent = made_run.parents_of(rejected)[0]
    last = f"#candidate .tree > details.step[data-candidate='{rejected}'] .diff"
    before, after = made_run.source_of(parent).split("\n"), made_run.source_of(rejected).split("\n")
    removed = browser.evaluate(f"[...document.querySelectorAll({last + ' .removed'!r})].map(line => line.textContent)")
    added = browser.evaluate(f"[...document.querySelectorAll({last + ' .added'!r})].map(line => line.textContent)")
    assert sorted(removed) == sorted(f"- {line}" for line in before if line not in after), removed
    assert sorted(added) == sorted(f"+ {line}" for line in after if line not in before), added
    # A link leads to another candidate.
    browser.press("#best > .scroll .progress tbody tr:last-child button")
    assert browser.text("#candidate h2") == f"Candidate {winner}"


def check_hostile(browser):
    browser.evaluate("(() => { const box = document.querySelector('#candidates input'); box.value = 'onerror'; box.dispatchEvent(new Event('input')); })()")
    browser.press("tr[data-candidate='3']")
    browser.evaluate("(() => { for (const one of document.querySelectorAll('#candidate details')) one.open = true; })()")
    browser.frame()
    assert made_run.HOSTILE in browser.text("#candidate")
    assert browser.evaluate("typeof window.owned") == "undefined" and browser.count("#candidate img") == 0


def check_conversations(browser):
    calls = len(range(0, COUNT - 2, made_run.CALLS_EVERY))
    assert browser.count("#conversations details.call") == calls
    assert f"{calls} calls, {0.01 * calls:.4f} USD" in browser.text("#conversations .note")
    assert "some-model: answered, 0.0100 USD, 900 tokens in and 80 out, 2.5 s" in browser.text("#conversations summary")
    browser.press("#conversations summary")
    assert "Make candidate 3 faster. " + made_run.HOSTILE == browser.text("#conversations .prompt")
    assert browser.text("#conversations .reply") == "Here is candidate 3."


def check_show(run):
    """The same conversation on a terminal."""
    def show(number):
        return subprocess.run([rkb, "show", run, str(number), "--conversation"], capture_output=True, text=True, timeout=600, check=True).stdout
    said = show(3)
    assert "edit asked some-model: answered, 0.0100 USD, 900 tokens in and 80 out" in said, said
    assert f"--- prompt\nMake candidate 3 faster. {made_run.HOSTILE}\n--- reply\nHere is candidate 3.\n\n1 calls for its request, 0.0100 USD" in said, said
    assert "no language model was asked for its request" in show(4)


def check_themes(browser, charts, series=0):
    ground = "getComputedStyle(document.body).backgroundColor"
    light = browser.evaluate(ground)
    browser.emulate("dark")
    browser.frame()
    assert browser.evaluate("document.documentElement.dataset.theme") == "dark"
    dark = browser.evaluate(ground)
    assert light != dark, (light, dark)
    if charts:
        assert pixels(browser, ".chart", f"--series-{series}") > 100, "the chart was not drawn again"
    shoot(browser, "dark.png")
    browser.press("#theme")
    assert browser.evaluate(ground) == light
    browser.emulate("light")


def check_sweep(browser, folder, charts):
    path, sweep, page = (os.path.join(folder, name) for name in ("sweep.yaml", "sweep", "sweep.html"))
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"rkb: 1\nextends: {source}/tests/run/climb.yaml\nname: s\nlimits: {{candidates: 30}}\nseeds: 6\n"
                   "arms: {plain: {}, narrow: {search.operators.step.with.high: 5}}\n")
    subprocess.run([rkb_run, "--sweep", path, "--out", sweep, "--quiet", "--cells", "2"], check=True, capture_output=True, timeout=600)
    report(sweep, "--html", page)
    browser.open(page)
    caption = browser.text("figure[data-arm=narrow] figcaption").replace("\u202f", "")
    assert browser.count("#multiples figure") == 2 and caption == "narrow: 6 runs; seeds \u20147 \u20148 \u20149 \u201410 \u201411 \u201412", caption
    assert browser.count("#summaries th") == 9  # nothing was paid: no dollars
    assert "0.0312" in browser.text("#tests") or "0.0313" in browser.text("#tests"), browser.text("#tests")
    assert browser.count("#runs tbody tr") == 12 and browser.count("#curves table") == 2
    if charts:
        for arm in ("plain", "narrow"):
            drawn = [pixels(browser, f"figure[data-arm={arm}]", f"--series-{at}") for at in range(6)]
            assert sum(drawn) > 300 and drawn[5] > 100, (arm, drawn)  # later curves may hide earlier ones
        browser.press("#multiples [data-choice=seconds]")
        assert pixels(browser, "figure[data-arm=plain]", "--series-5") > 100
        check_themes(browser, charts, series=5)
    shoot(browser, "sweep.png")
    if charts:
        browser.open(page)
        looks.compare(browser, "sweep")
    assert browser.complaints() == [], browser.complaints()


if not find():
    print("no Chromium is installed (Debian: apt-get install chromium)")
    sys.exit(1 if os.environ.get("CI") else 77)
with tempfile.TemporaryDirectory() as work, Browser() as browser:
    run, page = os.path.join(work, "run"), os.path.join(work, "run.html")
    made_run.start(rkb_run, source, run)
    best, bests = made_run.make(run, COUNT)
    charts = "has no charts" not in report(run, "--html", page)
    if not charts:
        print("this rkb was built without the charting library: charts are not checked")
        assert not os.environ.get("CI"), "npm ci --prefix core/web was not run before the build was configured"
    browser.open(page)
    winner = check_top(browser, best, bests, charts)
    shoot(browser, "run.png")
    if charts:
        browser.open(page)
        looks.compare(browser, "run")
        browser.open(page)
    check_candidate(browser, check_list(browser), winner)
    shoot(browser, "candidate.png")
    check_hostile(browser)
    check_conversations(browser)
    check_show(run)
    check_themes(browser, charts)
    assert browser.complaints() == [], browser.complaints()
    check_sweep(browser, work, charts)
    browser.open(without_library(page, work))
    check_top(browser, best, bests, False)
    assert browser.count(".no-library") == 1 and browser.count("canvas") == 0
    assert browser.complaints() == [], browser.complaints()
print("pages agree")
