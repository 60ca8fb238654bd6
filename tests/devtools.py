# SPDX-License-Identifier: GPL-3.0-or-later
"""devtools.py -- a headless Chromium, asked by the DevTools protocol on a pipe."""
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time


def find_browser():
    return next(filter(None, map(shutil.which, (
        "chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """A browser with one page.  It is ended by close()."""

    def __init__(self):
        # The browser reads commands from descriptor 3 and answers on 4.
        inside, self.to = os.pipe()
        self.answers, outside = os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 20)
                for end in (inside, outside)]

        def arrange():
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)
        self.home = tempfile.mkdtemp(prefix="cpprof-browser-")
        self.process = subprocess.Popen(
            [find_browser(), "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--remote-debugging-pipe",
             "--user-data-dir=" + self.home, "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=arrange, pass_fds=(3, 4),
            start_new_session=True)
        for end in (inside, outside, *ends):
            os.close(end)
        self.held = b""
        self.n = 0
        self.session = None
        self.requests, self.errors = [], []
        pages = self.call("Target.getTargets")["targetInfos"]
        target = next(page for page in pages if page["type"] == "page")
        self.session = self.call("Target.attachToTarget", flatten=True,
                                 targetId=target["targetId"])["sessionId"]
        for domain in "Page", "Runtime", "Network", "Accessibility":
            self.call(domain + ".enable")

    def close(self):
        os.close(self.to)
        os.close(self.answers)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def read(self, deadline):
        """The next message, or None after the deadline."""
        while b"\0" not in self.held:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                return None
            bytes_read = os.read(self.answers, 1 << 16)
            assert bytes_read, "the browser has ended"
            self.held += bytes_read
        message, self.held = self.held.split(b"\0", 1)
        message = json.loads(message)
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(message["params"]["request"]["url"])
        if message.get("method") == "Runtime.exceptionThrown":
            self.errors.append(message["params"]["exceptionDetails"])
        return message

    def call(self, method, **params):
        """The result of a command."""
        self.n += 1
        command = {"id": self.n, "method": method, "params": params}
        if self.session is not None:
            command["sessionId"] = self.session
        os.write(self.to, json.dumps(command).encode() + b"\0")
        deadline = time.monotonic() + 100
        while True:
            message = self.read(deadline)
            assert message is not None, method + " was not answered"
            if message.get("id") == self.n:
                assert "error" not in message, message
                return message["result"]

    def open(self, path, width=1280, height=900, scheme="light"):
        """Opens a file."""
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}])
        self.requests, self.errors = [], []
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        self.until("document.readyState === 'complete' && "
                   "location.protocol === 'file:'")

    def value(self, expression):
        """What JavaScript says."""
        result = self.call("Runtime.evaluate", expression=expression,
                           returnByValue=True)
        assert "exceptionDetails" not in result, (expression, result)
        return result["result"].get("value")

    def until(self, expression):
        deadline = time.monotonic() + 100
        while not self.value(expression):
            assert time.monotonic() < deadline, expression
            time.sleep(.02)

    def click(self, expression):
        """Clicks with the mouse into the middle of an element."""
        place = self.value(f"""(function () {{
            var e = {expression};
            e.scrollIntoView({{block: "center", behavior: "instant"}});
            var r = e.getClientRects()[0];
            return [r.left + Math.min(r.width / 2, 40), r.top + r.height / 2];
        }}())""")
        for kind in "mousePressed", "mouseReleased":
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0],
                      y=place[1], button="left", clickCount=1)

    def key(self, key, code=0, text=""):
        for kind in "keyDown", "keyUp":
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=code,
                      **({"text": text} if text and kind == "keyDown" else {}))

    def screenshot(self, path):
        import base64
        with open(path, "wb") as file:
            file.write(base64.b64decode(
                self.call("Page.captureScreenshot")["data"]))
