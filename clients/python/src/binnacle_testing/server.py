"""Starts the executable, and calls its testing API."""

import base64
import json
import os
import re
import shlex
import shutil
import ssl
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request

START_SECONDS = 30


class ApiError(Exception):
    """The server refused a request."""

    def __init__(self, code, status):
        self.code = code
        self.status = status
        super().__init__(f"{code}: {status.get('message') if isinstance(status, dict) else status}")


class Server:
    """A running server, or a copy of one."""

    def __init__(self, url, token, kubeconfig, ca):
        self.url = url
        self.token = token
        #: The path of a kubeconfig with which the administrator has access.
        self.kubeconfig = kubeconfig
        self._ca = ca
        self._context = ssl.create_default_context(cadata=ca)

    def request(self, method, path, body=None, content_type="application/json"):
        """Sends a request as the administrator; answers the decoded body. Raises ApiError."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        if data is not None:
            headers["Content-Type"] = content_type
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, context=self._context) as response:
                return _decode(response.read())
        except urllib.error.HTTPError as error:
            raise ApiError(error.code, _decode(error.read())) from None

    def inject_fault(self, **fault):
        """inject_fault(verb="update", resource="widgets", status=409, times=1)"""
        self._testing("POST", "/faults", fault)

    def clear_faults(self):
        self._testing("DELETE", "/faults")

    def fault_report(self):
        return self._testing("GET", "/faults")["report"]

    def chaos(self, seed, **options):
        self._testing("POST", "/chaos", {"seed": seed, **options})

    def advance_clock(self, by):
        self._testing("POST", "/clock", {"advance": by})

    def move_clock_to(self, time):
        """move_clock_to("2030-01-01T00:00:00Z")"""
        self._testing("POST", "/clock", {"moveTo": time})

    def freeze_clock(self):
        self._testing("POST", "/clock", {"freeze": True})

    def run_clock(self, scale=1):
        """Lets the time run, scale times as fast as usual."""
        self._testing("POST", "/clock", {"run": scale})

    def create_user(self, name, groups=()):
        """A user without permissions beyond those of the groups; answers name, token and kubeconfig, as text."""
        return self._testing("POST", "/users", {"name": name, "groups": list(groups)})

    def snapshot(self, name):
        self._testing("POST", "/snapshots", {"name": name})

    def reset(self, name=None):
        """Goes back to a snapshot, or to the state after the start."""
        self._testing("POST", "/reset", {} if name is None else {"name": name})

    def compact_history(self):
        self._testing("POST", "/history/compact")

    def requests(self):
        return self._testing("GET", "/requests")["requests"]

    def record(self):
        """report() is about what happens from now on."""
        self._testing("POST", "/recording")

    def report(self):
        """The last requests and the objects that changed, as text."""
        return self._testing("GET", "/recording")["report"]

    def fork(self):
        """An independent copy with the same objects. It ends with stop(), with a block that it is used in, or with the server."""
        copy = self._testing("POST", "/forks")
        handle, path = tempfile.mkstemp(prefix="kubeconfig-", dir=os.path.dirname(self.kubeconfig))
        with os.fdopen(handle, "w") as file:
            file.write(copy["kubeconfig"])
        return _Copy(self, copy["id"], copy["url"], copy["token"], path)

    def stop(self):
        raise NotImplementedError

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def _testing(self, method, path, body=None):
        return self.request(method, "/binnacle/testing" + path, body)


class _Copy(Server):
    """A copy, in the process of the server that it is a copy of."""

    def __init__(self, original, name, url, token, kubeconfig):
        super().__init__(url, token, kubeconfig, original._ca)
        self._original = original
        self._name = name

    def stop(self):
        self._original._testing("DELETE", f"/forks/{self._name}")
        os.unlink(self.kubeconfig)


class _Process(Server):
    """A server that this process has started."""

    def __init__(self, directory, process, url):
        kubeconfig = os.path.join(directory, "kubeconfig")
        with open(kubeconfig, encoding="utf-8") as file:
            text = file.read()
        ca = base64.b64decode(_field(text, "certificate-authority-data")).decode()
        super().__init__(url, _field(text, "token"), kubeconfig, ca)
        self._directory = directory
        self._process = process

    def stop(self):
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()
        shutil.rmtree(self._directory, ignore_errors=True)


def start(*flags):
    """Starts a server with flags of `binnacle serve`. Raises RuntimeError with the reason if it does not start."""
    command = shlex.split(os.environ.get("BINNACLE", "binnacle"))
    if shutil.which(command[0]) is None:
        raise RuntimeError(
            f"{command[0]} is not installed: run `npm install --global binnacle`, or let BINNACLE name the executable"
        )
    directory = tempfile.mkdtemp(prefix="binnacle-")
    more = shlex.split(os.environ.get("BINNACLE_FLAGS", ""))
    errors = open(os.path.join(directory, "stderr"), "w+", encoding="utf-8")
    with errors:
        process = subprocess.Popen(
            [*command, "serve", "--testing", "--stop-with-stdin", "--secure-port=0", f"--data-dir={directory}", *more, *flags],
            stdout=subprocess.PIPE,
            stderr=errors,
            # It ends with this process, so that the server stops also when the test is killed.
            stdin=subprocess.PIPE,
            text=True,
        )
        timer = threading.Timer(START_SECONDS, process.kill)
        timer.start()
        line = process.stdout.readline()
        timer.cancel()
        ready = re.search(r"ready at (\S+?),", line)
        if ready is None:
            process.kill()
            process.wait()
            errors.seek(0)
            reason = errors.read().strip() or f"no answer within {START_SECONDS} s"
            shutil.rmtree(directory, ignore_errors=True)
            raise RuntimeError(f"binnacle did not start: {reason}")
    return _Process(directory, process, ready.group(1))


def _field(kubeconfig, name):
    found = re.search(rf"^\s*{name}:\s*\"?([^\s\"]+)", kubeconfig, re.MULTILINE)
    if found is None:
        raise RuntimeError(f"the kubeconfig has no {name}")
    return found.group(1)


def _decode(data):
    text = data.decode(errors="replace")
    try:
        return json.loads(text)
    except ValueError:
        return text
