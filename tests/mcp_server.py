# SPDX-License-Identifier: GPL-3.0-or-later
"""mcp_server.py -- cpprof mcp, and an assistant's side of the conversation."""
import json
import subprocess

import cpprof


class Server:
    """A server, and an assistant's side of the conversation."""

    def __init__(self, *options, **more):
        self.process = subprocess.Popen(
            [cpprof.CPPROF, "mcp", *options], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        self.n = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def send(self, **message):
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def write(self, line):
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def read(self):
        return json.loads(self.process.stdout.readline())

    def request(self, method, **params):
        self.n += 1
        self.send(id=self.n, method=method, params=params)
        answer = self.read()
        assert answer["jsonrpc"] == "2.0" and answer["id"] == self.n, answer
        return answer

    def call(self, tool, **arguments):
        """The answer's text, and whether it is an error."""
        answer = self.request("tools/call", name=tool, arguments=arguments)
        if "error" in answer:
            return answer["error"]["message"], True
        (part,) = answer["result"]["content"]
        assert part["type"] == "text", part
        return part["text"], answer["result"]["isError"]
