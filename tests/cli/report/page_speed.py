"""How long a page of many candidates takes to open and to draw again in a headless Chromium, and rkb to write it.
usage: page_speed.py SOURCE_DIRECTORY BINARY_DIRECTORY [CANDIDATES]"""
import os
import subprocess
import sys
import tempfile
import time

import made_run
from browser import Browser

source, binary = sys.argv[1:3]
count = int(sys.argv[3]) if len(sys.argv) > 3 else 10000
rkb_run, rkb = (os.path.join(binary, "bin", name) for name in ("rkb-run", "rkb"))
os.environ["RKB_PLUGIN_PATH"] = os.path.join(binary, "tests/stage/plugins")
# From the press to the frame after the one in which the work was done.
PRESS = """new Promise(done => {{ const began = performance.now(); {what};
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began))); }})"""
REDRAWS = {
    "by second": "document.querySelector('#best [data-choice=seconds]').click()",
    "by candidate": "document.querySelector('#best [data-choice=evaluations]').click()",
    "dark": "document.querySelector('#theme').click()",
    "filter": "(() => { const list = document.querySelector('#candidates select'); list.value = 'reject'; list.dispatchEvent(new Event('change')); })()",
    "sort": "(() => { const list = document.querySelectorAll('#candidates select'); list[0].value = ''; list[1].value = 'value';"
            " list[1].dispatchEvent(new Event('change')); })()",
    "search": "(() => { const box = document.querySelector('#candidates input'); box.value = '99'; box.dispatchEvent(new Event('input')); })()",
    "next page": "document.querySelectorAll('#candidates .controls button')[1].click()",
    "candidate": "document.querySelector('table.all tbody tr').click()",
}

with tempfile.TemporaryDirectory() as work:
    run, page = os.path.join(work, "run"), os.path.join(work, "run.html")
    made_run.start(rkb_run, source, run)
    made_run.make(run, count)
    began = time.monotonic()
    subprocess.run([rkb, "report", run, "--html", page], check=True, timeout=600)
    print(f"written in {time.monotonic() - began:.2f} s: {count} candidates, {os.path.getsize(page) / 1e6:.1f} MB")
    opened, redrawn = [], {name: [] for name in REDRAWS}
    for _ in range(3):
        with Browser() as browser:
            began = time.monotonic()
            browser.open(page)
            opened.append(time.monotonic() - began)
            for name, what in REDRAWS.items():
                for _ in range(3):
                    redrawn[name].append(browser.evaluate(PRESS.format(what=what)))
            assert browser.complaints() == [], browser.complaints()
    print(f"opened in {max(opened):.2f} s at most, of {len(opened)} (goal 3)")
    for name, times in redrawn.items():
        print(f"{name}: {min(times):.0f} ms at least, {sorted(times)[len(times) // 2]:.0f} in the median, {max(times):.0f} at most, of {len(times)} (goal 100)")
sys.exit(0 if max(opened) <= 3 and max(map(max, redrawn.values())) <= 100 else 1)
