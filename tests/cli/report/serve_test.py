"""`rkb serve`: who may ask, what is answered, and a page that follows its run in a headless Chromium.
usage: serve_test.py SOURCE_DIRECTORY BINARY_DIRECTORY"""
import http.client
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

import looks
import made_run
from browser import Browser, find

source, binary = map(os.path.abspath, sys.argv[1:3])
rkb_run, rkb = (os.path.join(binary, "bin", name) for name in ("rkb-run", "rkb"))
os.environ["RKB_PLUGIN_PATH"] = os.path.join(binary, "tests/stage/plugins")
ODD = "a <run> & 100%"
COUNT = 60


class Server:
    """Runs until the with ends, which is by SIGTERM and in order."""

    def __init__(self, folder, *options):
        self.process = subprocess.Popen([rkb, "serve", folder, "--port", "0", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()

    def __enter__(self):
        assert self.address.startswith("http://127.0.0.1:"), self.process.stderr.read()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        assert self.process.wait(60) == 0, self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()


def ask(server, path, method="GET", headers=None, body=None):
    where = urllib.parse.urlsplit(server.address)
    connection = http.client.HTTPConnection(where.hostname, where.port, timeout=300)
    connection.request(method, path, body=body, headers=headers or {})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text, answer.headers


def check_without_a_browser(folder):
    with Server(folder) as server:
        status, text, headers = ask(server, "/")
        assert status == 200 and "a &#60;run&#62; &#38; 100%" in text and "<run>" not in text, text
        assert headers["X-Content-Type-Options"] == "nosniff" and "default-src 'none'" in headers["Content-Security-Policy"]
        assert "broken" in text and "empty" not in text, text
        odd = f"/run/{urllib.parse.quote(ODD)}/"
        assert f'href="{odd[1:]}"' in ask(server, "/")[1]
        status, page, _ = ask(server, odd)
        assert status == 200 and "connect-src 'self'" in page[:2000], page[:500]
        status, text, _ = ask(server, "/run/broken/")
        assert status == 500 and text.count("\n") == 1, (status, text)
        for path in ("/run/", "/run/empty/", "/run/..%2f..%2fetc/", "/run/../../etc/passwd", "/run/%2e%2e/", "/run/first", "/other", "/run/first/run.sqlite",
                     "/run/" + "x" * 3000 + "/"):
            assert ask(server, path)[0] == 404, path
        assert ask(server, "/", "POST", body="x=1")[0] == 405 and ask(server, "/", "DELETE")[0] == 405
        assert ask(server, "/", headers={"Host": "evil.example"})[0] == 403, "a page of somebody else whose name leads here"
        assert ask(server, "/", headers={"X-Long": "y" * 100000})[0] in (413, 431), "headers are bounded"
        before = ask(server, "/run/first/state")[1]
        assert ask(server, "/run/first/")[0] == 200 and ask(server, "/run/first/state")[1] == before, "to look changes nothing"
    with Server(folder, "--token") as server:
        token = server.address.split("token=")[1]
        assert len(token) == 32
        for path in ("/", "/?token=", f"/?token={token[:-1]}", f"/?token={token}0", "/run/first/"):
            assert ask(server, path)[0] == 403, path
        status, _, headers = ask(server, f"/?token={token}")
        assert status == 303 and headers["Location"] == "/"
        cookie = headers["Set-Cookie"].split(";")[0]
        assert "HttpOnly" in headers["Set-Cookie"] and "SameSite=Strict" in headers["Set-Cookie"]
        assert ask(server, "/run/first/state", headers={"Cookie": cookie})[0] == 200
        assert ask(server, "/", headers={"Cookie": cookie[:-1]})[0] == 403
    for wrong in (["--port", "70000"], ["--address", "localhost"], [os.path.join(folder, "nothing")]):
        words = [rkb, "serve", *([folder] if wrong[0].startswith("--") else []), *wrong]
        done = subprocess.run(words, capture_output=True, text=True, timeout=300)
        assert done.returncode == 2 and done.stderr, (wrong, done)


def check_in_a_browser(folder, run):
    with Server(folder) as server, Browser() as browser:
        browser.visit(server.address)
        assert browser.text("h1") == "Runs" and browser.count("tbody a") == 3
        browser.visit(f"{server.address}run/first/")
        few = browser.text("#candidates .controls")
        browser.visit(server.address)
        looks.compare(browser, "served-list")
        browser.visit(f"{server.address}run/first/")
        browser.events.clear()
        made_run.make(run, COUNT)
        browser.loaded()  # by itself: nobody has pressed anything
        assert browser.text("#candidates .controls") != few and f"of {COUNT}" in browser.text("#candidates .controls")
        if browser.count("canvas"):
            looks.compare(browser, "served-run")
            browser.visit(f"{server.address}run/first/")
        # A reader who has pressed something is asked.
        browser.press("#theme")
        os.utime(os.path.join(run, "run.sqlite"))
        browser.evaluate("new Promise(done => { const more = document.getElementById('more'); if (!more.hidden) done();"
                         " new MutationObserver(() => { if (!more.hidden) done(); }).observe(more, {attributes: true}); })")
        browser.events.clear()
        browser.press("#more", leaves=True)
        browser.loaded()
        assert browser.evaluate("document.getElementById('more').hidden")
        assert browser.complaints(own=(server.address,)) == [], browser.complaints(own=(server.address,))


with tempfile.TemporaryDirectory() as work:
    first = os.path.join(work, "first")
    made_run.start(rkb_run, source, first)
    shutil.copytree(first, os.path.join(work, ODD))
    os.mkdir(os.path.join(work, "empty"))
    os.mkdir(os.path.join(work, "broken"))
    with open(os.path.join(work, "broken", "run.sqlite"), "w", encoding="utf-8") as file:
        file.write("no archive")
    check_without_a_browser(work)
    if not find():
        print("no Chromium is installed (Debian: apt-get install chromium)")
        sys.exit(1 if os.environ.get("CI") else 77)
    check_in_a_browser(work, first)
print("served pages agree")
