#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sends requests that two HTTP parsers could understand differently. kwhy serve must give each of them one answer and
continue to serve.

A request with a body is answered and its connection closed, so that no bytes after it are taken for a request (request
smuggling). Usage: hostile.py KWHY POWER_FILE
"""

import random
import re
import signal
import socket
import subprocess
import sys

GET = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n"
SECOND = b"GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"
CLOSE = b"Connection: close\r\n\r\n"
CONNECTIONS = 300

# name of the case: bytes that are sent, and the HTTP statuses that the answers to them may have.
# The bytes of SECOND, which follow a complete request in some cases, must not be answered as a
# second request.
REQUESTS = {
    "length and chunks": (GET + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SECOND, [200]),
    "two lengths": (GET + b"Content-Length: 5\r\nContent-Length: 0\r\n\r\n" + SECOND, [200]),
    "negative length": (GET + b"Content-Length: -1\r\n\r\n" + SECOND, [400]),
    "signed length": (GET + b"Content-Length: +0\r\n\r\n" + SECOND, [400]),
    "huge length": (GET + b"Content-Length: 99999999999999999999999\r\n\r\n" + SECOND, [413]),
    "unknown encoding": (GET + b"Transfer-Encoding: xchunked\r\n\r\n" + SECOND, [200]),
    "blank before a colon": (GET + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + SECOND, [200]),
    "chunk of no size": (GET + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n\r\n" + SECOND, [200]),
    "chunk of all sizes": (GET + b"Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF0\r\n" + SECOND, [200]),
    "folded header": (GET + b"X: a\r\n Content-Length: 44\r\n" + CLOSE, [200]),
    "folded host": (b"GET /metrics HTTP/1.1\r\nHost:\r\n rebound.example\r\n" + CLOSE, [400]),
    "no colon": (GET + b"garbage\r\n\r\n" + SECOND, [400]),
    "two hosts": (GET + b"Host: rebound.example\r\n" + CLOSE, [403]),
    "two hosts, ours last": (b"GET /metrics HTTP/1.1\r\nHost: rebound.example\r\nHost: localhost\r\n" + CLOSE, [403]),
    "another host in the target": (b"GET http://rebound.example/metrics HTTP/1.1\r\nHost: localhost\r\n" + CLOSE, [404]),
    "three in a row": ((GET + b"\r\n") * 2 + GET + CLOSE, [200, 200, 200]),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [505]),
    "upgrade": (GET + b"Upgrade: h2c\r\n" + CLOSE, [200]),
    "expectation": (GET + b"Expect: 100-continue\r\nContent-Length: 3\r\n\r\nabc" + SECOND, [200]),
    "many headers": (GET + b"".join(b"X%d: y\r\n" % number for number in range(5000)) + CLOSE, [431]),
}


def receive(client):
    answer = b""
    try:
        while piece := client.recv(65536):
            answer += piece
    except ConnectionResetError:
        pass  # the request was not read to its end
    return answer


def statuses(answer):
    """Yields the answers, divided by their lengths."""
    found = []
    while answer:
        head, _, rest = answer.partition(b"\r\n\r\n")
        found.append(int(head.split()[1]))
        length = re.search(rb"content-length: (\d+)", head, re.I)
        if answer.startswith(rest[:len(head)]):  # libmicrohttpd 0.9.75 sends the head of some refusals twice
            rest = rest[len(head) + 4:]
        answer = rest[int(length.group(1)):] if length else b""
    return found


def ask(address, request):
    with socket.create_connection(address) as client:
        try:
            client.sendall(request)
        except (BrokenPipeError, ConnectionResetError):
            pass
        return statuses(receive(client))


def noise(address):
    """Sends requests with changed bytes and closes the connections. A scrape must be answered afterwards."""
    choice = random.Random(40)
    for _ in range(200):
        request = bytearray(choice.choice(list(REQUESTS.values()))[0][:2000] + b"\r\n")
        for _ in range(choice.randint(1, 8)):
            request[choice.randrange(len(request))] = choice.randrange(256)
        with socket.create_connection(address) as client:
            client.sendall(request)  # no answer is read, because half a request gets none


def crowd(address):
    """Opens more connections than the server accepts, which send nothing or half a request, and a scrape among them."""
    clients = [socket.create_connection(address) for _ in range(CONNECTIONS)]
    for number, client in enumerate(clients):
        try:
            client.sendall(GET[:number % len(GET)])
        except (BrokenPipeError, ConnectionResetError):
            pass  # the server closed the connection in favour of others
    found = ask(address, GET + CLOSE)
    for client in clients:
        client.close()
    return found


def main():
    kwhy, power = sys.argv[1:]
    server = subprocess.Popen([kwhy, "serve", "--listen", "127.0.0.1:0", "--power-file", power],
                              stderr=subprocess.PIPE, text=True)
    found, bad = None, []
    try:
        while not found:
            found = re.search(r"http://([\d.]+):(\d+)/metrics", server.stderr.readline())
        address = found.group(1), int(found.group(2))
        for name, (request, wanted) in REQUESTS.items():
            given = ask(address, request)
            if given != wanted:
                bad.append(f"{name}: {given}, not {wanted}")
        noise(address)
        if crowd(address) != [200]:
            bad.append(f"a scrape among {CONNECTIONS} clients is not answered")
        if ask(address, GET + CLOSE) != [200]:
            bad.append("a scrape is not answered at the end")
    finally:
        server.send_signal(signal.SIGTERM)
        status = server.wait()
    if status:
        bad.append(f"the server ends with status {status}")
    if bad:
        sys.exit("\n".join(bad))
    print(f"{len(REQUESTS)} ambiguous requests, 200 with changed bytes and {CONNECTIONS} clients at once are answered as they should be")


if __name__ == "__main__":
    main()
