#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A headless Chromium, spoken to by its own protocol over two pipes.

browser.py screenshot PAGE PNG WIDTH HEIGHT [light|dark] [SCRIPT]: makes a picture of a page, after running SCRIPT in it.
"""
import base64
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PATIENCE_S = 120
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


class Browser:
    """One process, with a profile directory of its own. Pages are opened one after the other."""

    def __init__(self):
        program = next((p for p in map(shutil.which, PROGRAMS) if p), None)
        if not program:
            raise FileNotFoundError("chromium")
        self.directory = tempfile.mkdtemp(prefix="quartz-browser-")
        read, self.to = os.pipe()
        self.of, write = os.pipe()
        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--mute-audio",
             "--hide-scrollbars", f"--user-data-dir={self.directory}", "--remote-debugging-pipe", "about:blank"],
            preexec_fn=lambda: self.take_pipes(read, write), close_fds=False, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(read)
        os.close(write)
        self.number = 0
        self.buffer = b""
        self.events = []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    @staticmethod
    def take_pipes(read, write):
        """In the child: Chromium reads descriptor 3 and writes 4."""
        spare_read, spare_write = os.dup(read), os.dup(write)
        os.dup2(spare_read, 3)
        os.dup2(spare_write, 4)
        os.set_inheritable(3, True)
        os.set_inheritable(4, True)

    def close(self):
        os.close(self.to)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.of)
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # ---- messages, each of which ends with a NUL ----

    def receive(self):
        while b"\0" not in self.buffer:
            data = os.read(self.of, 1 << 20)
            if not data:
                raise EOFError("the browser has ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        while True:
            message = self.receive()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self.events.append(message)

    # ---- pages ----

    def size(self, width, height, scheme="light"):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, url):
        """Loads a page, and waits until it has shown its profile. Gives the milliseconds that it says it took."""
        self.events = []
        self.call("Page.navigate", url=url if "://" in url else pathlib.Path(url).resolve().as_uri())
        return self.until("document.documentElement?.dataset.ready")

    def until(self, expression):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            value = self.run(expression)
            if value:
                return value
            time.sleep(0.02)
        raise TimeoutError(f"never true: {expression}; the page says: {self.run('document.body?.innerText.slice(0, 300)')}; "
                           f"{self.complaints()}")

    def run(self, expression):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']['exception'].get('description')}")
        return answer["result"].get("value")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y, count=1):
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=count)

    def drag(self, x, y, to_x, to_y):
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseMoved", (x + to_x) / 2, (y + to_y) / 2, button="left")
        self.mouse("mouseMoved", to_x, to_y, button="left")
        self.mouse("mouseReleased", to_x, to_y, button="left", clickCount=1)

    def key(self, key, modifiers=0):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, modifiers=modifiers,
                      **({"text": key} if kind == "keyDown" and len(key) == 1 else {}))

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    # ---- what went wrong ----

    def complaints(self):
        """What the page wrote to the console, and what it threw."""
        found = []
        for event in self.events:
            params = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(params["exceptionDetails"].get("exception", {}).get("description", "exception"))
            elif event.get("method") == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
                found.append("console: " + " ".join(str(a.get("value")) for a in params["args"]))
            elif event.get("method") == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append("log: " + params["entry"]["text"])
        return found

    def requests(self):
        """Addresses that were asked for."""
        return [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]


def main():
    page, png, width, height, *more = sys.argv[2:]
    with Browser() as browser:
        browser.size(int(width), int(height), more[0] if more else "light")
        browser.open(page)
        if len(more) > 1:
            browser.run(more[1])
            time.sleep(0.2)
        browser.screenshot(png)
        for line in browser.complaints():
            print(line, file=sys.stderr)


if __name__ == "__main__":
    main()
