"""The charting library of core/web where it ends up, in the page of `rkb report --html`, opened in a headless Chromium: the page has all of it and its
licence, fetches nothing, and the library draws the curve it is given.  A page that was built without it says how to get it.
usage: charts_test.py SOURCE_DIRECTORY BINARY_DIRECTORY"""
import os
import subprocess
import sys
import tempfile

source, binary = sys.argv[1:3]
sys.path.insert(0, os.path.join(source, "tests/cli/report"))
sys.dont_write_bytecode = True

import made_run  # noqa: E402
from browser import Browser, find  # noqa: E402

os.environ["RKB_PLUGIN_PATH"] = os.path.join(binary, "tests/stage/plugins")
LIBRARY = os.path.join(source, "core/web/node_modules/uplot/dist")
# A curve through the corners of its own chart, one colour; then how many of its pixels have that colour, and the column of the left and of the right one.
DRAWN = """(() => {
  const place = document.createElement("div");
  document.body.append(place);
  new uPlot({width: 200, height: 100, legend: {show: false}, axes: [{show: false}, {show: false}], scales: {x: {time: false}},
             series: [{}, {stroke: "rgb(255, 0, 128)", width: 3, points: {show: false}}]}, [[0, 1, 2], [0, 1, 2]], place);
  return new Promise(done => requestAnimationFrame(() => {
    const canvas = place.querySelector("canvas"), data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const columns = [];
    for (let i = 0; i < data.length; i += 4)
      if (data[i + 3] > 200 && data[i] > 240 && data[i + 1] < 20 && Math.abs(data[i + 2] - 128) < 15) columns.push(i / 4 % canvas.width);
    done([columns.length, Math.min(...columns), Math.max(...columns), canvas.width]);
  }));
})()"""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def report(run, page):
    done = subprocess.run([os.path.join(binary, "bin/rkb"), "report", run, "--html", page], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return "has no charts" not in done.stderr, done.stderr


def check_with(browser, page):
    text = read(page)
    assert read(os.path.join(LIBRARY, "uPlot.iife.min.js")).strip() in text and read(os.path.join(LIBRARY, "uPlot.min.css")).strip() in text
    assert "copyright Leon Sorokin, MIT licence" in text
    assert browser.count("canvas") > 0 and browser.count(".no-library") == 0
    count, left, right, width = browser.evaluate(DRAWN)
    assert count > width and left < 0.1 * width and right > 0.9 * width, (count, left, right, width)


def check_without(browser, said):
    assert "npm ci --prefix core/web" in said, said
    assert browser.evaluate("typeof window.uPlot") == "undefined" and browser.count("canvas") == 0
    assert browser.count(".no-library") > 0 and "npm ci --prefix core/web" in browser.text(".no-library")


if not find():
    print("no Chromium is installed (Debian: apt-get install chromium)")
    sys.exit(1 if os.environ.get("CI") else 77)
with tempfile.TemporaryDirectory() as work, Browser() as browser:
    run, page = os.path.join(work, "run"), os.path.join(work, "run.html")
    made_run.start(os.path.join(binary, "bin/rkb-run"), source, run)
    made_run.make(run, 20)
    charts, said = report(run, page)
    browser.open(page)
    if charts:
        check_with(browser, page)
    else:
        print("this rkb was built without the charting library: only what its page says is checked")
        assert not os.environ.get("CI"), "npm ci --prefix core/web was not run before the build was configured"
        check_without(browser, said)
    assert browser.complaints() == [], browser.complaints()
print("the library is in the page and draws" if charts else "the page says what is missing")
