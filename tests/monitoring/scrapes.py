#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scrapes kwhy serve many times, over kept and over new connections. Its memory and its number of descriptors must not
grow.

Usage: scrapes.py KWHY POWER_FILE [SCRAPES]; the default is the environment variable SCRAPES or, without it, 1,000,000.
"""

import os
import re
import signal
import socket
import subprocess
import sys

REQUEST = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
PAGE = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
KEPT = 1000  # scrapes per connection
CLOSING = 2  # connections that a client has closed and the server has not closed yet
GROWTH_KB = 512  # growth that an allocator's pools may still cause


def answer_of(stream):
    """Reads one answer. Returns its body."""
    status = stream.readline()
    if not status.startswith(b"HTTP/1.1 200"):
        sys.exit(f"a scrape is answered {status!r}")
    length = 0
    while (line := stream.readline()) not in (b"\r\n", b""):
        name, _, value = line.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
    return stream.read(length)


def scrape(address, count):
    while count:
        with socket.create_connection(address) as client, client.makefile("rb") as stream:
            for _ in range(min(count, KEPT)):
                client.sendall(PAGE if count % 1000 == 0 else REQUEST)
                if not answer_of(stream):
                    sys.exit("a scrape has no body")
                count -= 1


def usage(pid):
    """Returns resident memory in kB, and the numbers of descriptors and threads."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        status = file.read()
    found = [int(re.search(rf"^{name}:\s*(\d+)", status, re.M).group(1)) for name in ("VmRSS", "Threads")]
    return found[0], len(os.listdir(f"/proc/{pid}/fd")), found[1]


def main():
    kwhy, power, *rest = sys.argv[1:]
    scrapes = int(rest[0] if rest else os.environ.get("SCRAPES", 1000000))
    server = subprocess.Popen([kwhy, "serve", "--listen", "127.0.0.1:0", "--power-file", power],
                              stderr=subprocess.PIPE, text=True)
    try:
        found = None
        while not found:
            found = re.search(r"http://([\d.]+):(\d+)/metrics", server.stderr.readline())
        address = found.group(1), int(found.group(2))
        scrape(address, max(scrapes // 10, 1000))
        before = usage(server.pid)
        scrape(address, scrapes)
        after = usage(server.pid)
    finally:
        server.send_signal(signal.SIGTERM)
        status = server.wait()
    print(f"{scrapes} scrapes: {before[0]} to {after[0]} kB, {after[1]} descriptors, {after[2]} threads")
    if after[0] > before[0] + GROWTH_KB or after[1] > before[1] + CLOSING or after[2] != before[2] or status:
        sys.exit(f"not flat: {before}, then {after}; status {status}")


if __name__ == "__main__":
    main()
