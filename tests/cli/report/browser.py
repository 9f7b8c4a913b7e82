"""A headless Chromium, driven over its debugging pipe: opens a page, evaluates expressions in it, presses what a selector finds, takes
screenshots.  Needs nothing but Python.  Messages are JSON that end with a zero byte, by the Chrome DevTools Protocol."""
import base64
import json
import os
import shutil
import subprocess
import tempfile

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find():
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    def __init__(self, width=1200, height=900):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()

        def place():  # the browser reads 3 and writes 4
            os.dup2(to_read, 63)
            os.dup2(from_write, 64)
            os.dup2(63, 3)
            os.dup2(64, 4)

        # --no-sandbox: as root, and in containers, Chromium cannot make its own.
        self.process = subprocess.Popen(
            [find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
             "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}", f"--window-size={width},{height}", "about:blank"],
            preexec_fn=place, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.writer, self.reader = os.fdopen(to_write, "wb"), os.fdopen(from_read, "rb", buffering=0)
        self.last, self.rest, self.events, self.session = 0, b"", [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.writer.close()
        self.reader.close()
        self.folder.cleanup()

    def read(self):
        while b"\0" not in self.rest:
            more = self.reader.read(1 << 20)
            if not more:
                raise RuntimeError("the browser ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.writer.write(json.dumps(message).encode() + b"\0")
        self.writer.flush()
        while True:
            answer = self.read()
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path):
        """Returns when the page's scripts have run."""
        self.visit(f"file://{os.path.abspath(path)}")

    def visit(self, url):
        """The same for any address."""
        self.events.clear()
        self.call("Page.navigate", url=url)
        self.loaded()

    def loaded(self):
        """Waits until a page is loaded that was not before the last visit."""
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.read())
        self.frame()

    def frame(self):
        """Waits until the browser has drawn what was asked so far."""
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", str(answer)))
        return answer["result"].get("value")

    def press(self, selector, leaves=False):
        """leaves: the page goes away by it, so that nothing is drawn on it any more; call loaded() then."""
        self.evaluate(f"document.querySelector({json.dumps(selector)}).click()")
        if not leaves:
            self.frame()

    def text(self, selector):
        return self.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")

    def count(self, selector):
        return self.evaluate(f"document.querySelectorAll({json.dumps(selector)}).length")

    def complaints(self, own=()):
        """Errors of scripts and of the console, and requests other than for the page itself and for addresses that begin with own."""
        said = []
        for event in self.events:
            method, what = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                said.append(what["exceptionDetails"].get("exception", {}).get("description", "an exception"))
            elif method == "Log.entryAdded" and what["entry"]["level"] == "error":
                said.append(what["entry"]["text"])
            elif method == "Network.requestWillBeSent" and not what["request"]["url"].startswith(("file:", "data:", *own)):
                said.append(f"a request for {what['request']['url']}")
        return said

    def emulate(self, scheme):
        """scheme: light or dark."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path):
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))
