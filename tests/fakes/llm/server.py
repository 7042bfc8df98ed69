# SPDX-License-Identifier: Apache-2.0
"""A server of the OpenAI API that answers with made-up tokens, correctly or with faults.

Usage: server.py BEHAVIOUR PORT_FILE; writes the port on which it listens. Behaviours are the functions below.
"""
import json
import os
import signal
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOKENS = 8


def event(data):
    return b"data: " + (data if isinstance(data, str) else json.dumps(data)).encode() + b"\n\n"


def piece(text, finish=None):
    return event({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}]})


def usage(count):
    return event({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": count}})


def pieces():
    for i in range(TOKENS):
        yield piece(f"t{i} ", "stop" if i == TOKENS - 1 else None)
        time.sleep(0.002)


def well(handler):
    handler.begin()
    for part in pieces():
        handler.send(part)
    handler.send(usage(TOKENS))
    handler.send(event("[DONE]"))
    handler.end()


def bytewise(handler):
    """Sends every byte by itself, ends lines in both ways, and puts comments between them."""
    handler.begin()
    whole = b": comment\r\n" + b"".join(pieces()).replace(b"\n", b"\r\n") + usage(TOKENS) + event("[DONE]")
    for i in range(len(whole)):
        handler.send(whole[i : i + 1])
    handler.end()


def splits_characters(handler):
    """Sends tokens that are a part of a character or no character: as bytes, as halves of a surrogate pair, as a NUL."""
    handler.begin()
    for text in (b"\\u0000", b"\\ud83d", b"\\ude00", b"\xf0\x9f", b"\x98\x80", b"a", b"b", b"c"):
        handler.send(piece("?").replace(b"?", text))
    handler.send(usage(TOKENS))
    handler.send(event("[DONE]"))
    handler.end()


def in_groups(handler, usage_of):
    """Sends pieces of 1, 4, 2 and 1 of the 8 tokens; each has the usage so far if usage_of says so."""
    handler.begin()
    count = 0
    for size in (1, 4, 2, 1):
        count += size
        data = {"choices": [{"index": 0, "delta": {"content": "t" * 3 * size}, "finish_reason": None}]}
        if usage_of:
            data["usage"] = {"prompt_tokens": 5, "completion_tokens": count,
                             "prompt_tokens_details": {"cached_tokens": 2}}
        handler.send(event(data))
        time.sleep(0.004)
    handler.send(event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
    handler.send(usage(TOKENS))
    handler.send(event("[DONE]"))
    handler.end()


def states_each(handler):
    in_groups(handler, handler.asked["stream_options"].get("continuous_usage_stats"))


def groups(handler):
    in_groups(handler, False)


def strict(handler):
    """Refuses parameters that are not in the OpenAI API."""
    if "continuous_usage_stats" in handler.asked["stream_options"]:
        handler.answer(400, b'{"error": {"message": "Unrecognized request argument"}}')
    else:
        well(handler)


def ends_with(*parts):
    def behave(handler):
        handler.begin()
        for part in parts:
            handler.send(part)
        handler.end()

    return behave


MESSAGE = {"message": "EngineCore died", "type": "InternalServerError", "code": 500}
ends_in_object_error = ends_with(piece("t"), event({"object": "error", **MESSAGE}), event("[DONE]"))
ends_in_code = ends_with(event(MESSAGE), event("[DONE]"))
ends_in_error_event = ends_with(piece("t"), b'event: error\ndata: {"message": "no"}\n\n', event("[DONE]"))
ends_in_error_field = ends_with(piece("t"), b'error: {"code": 500}\n\n', event("[DONE]"))
ends_in_reason_error = ends_with(piece("t"), piece("", "error"), usage(1), event("[DONE]"))
ends_in_reason_abort = ends_with(piece("t"), piece("", "abort"), usage(1), event("[DONE]"))
only_done = ends_with(event("[DONE]"))
only_finish = ends_with(piece("", "stop"), event("[DONE]"))
no_text = ends_with(piece("", "stop"), usage(1), event("[DONE]"))
usage_of_nothing = ends_with(piece("t"), piece("t", "stop"), usage(0), event("[DONE]"))
done_in_the_middle = ends_with(piece("t"), b"data: {\"choices\": [{\"del")


def lies(handler):
    handler.begin()
    for part in pieces():
        handler.send(part)
    handler.send(usage(3))
    handler.send(event("[DONE]"))
    handler.end()


def without_usage(handler):
    handler.begin()
    for part in pieces():
        handler.send(part)
    handler.send(event("[DONE]"))
    handler.end()


def stalls(handler):
    handler.begin()
    handler.send(piece("t"))
    handler.server.hold.wait(60)


def breaks(handler):
    handler.begin()
    handler.send(piece("t"))
    handler.connection.shutdown(socket.SHUT_RDWR)


def closes_early(handler):
    handler.begin()
    handler.send(piece("t"))
    handler.end()


def refuses(handler):
    handler.answer(500, b'{"error": {"message": "no"}}')


def reports(handler):
    handler.begin()
    handler.send(piece("t"))
    handler.send(event({"error": {"message": "out of memory"}}))
    handler.end()


def huge_line(handler):
    handler.begin()
    try:
        handler.send(b"data: ")
        for _ in range(64):
            handler.send(b"x" * 65536)
        handler.end()
    except OSError:
        pass


def no_json(handler):
    handler.begin()
    handler.send(event("<html>"))
    handler.end()


def half_bad(handler):
    (refuses if handler.number() % 2 else well)(handler)


def ends_another(handler):
    """Ends the process FAKE_LLM_ENDS at the second request; the first one is a trial."""
    if handler.number() == 2:
        os.kill(int(os.environ["FAKE_LLM_ENDS"]), signal.SIGKILL)
    well(handler)


def as_the_model_says(handler):
    """Behaves as the name of the requested model says, or correctly, so that one server suffices for many tests."""
    globals().get(handler.asked["model"], well)(handler)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *arguments):
        pass

    def number(self):
        with self.server.lock:
            self.server.count += 1
            return self.server.count

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def begin(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def send(self, part):
        self.wfile.write(b"%x\r\n" % len(part) + part + b"\r\n")

    def end(self):
        self.wfile.write(b"0\r\n\r\n")

    def do_GET(self):
        self.answer(200, b'{"object": "list", "data": [{"id": "made-up"}]}')

    def do_POST(self):
        self.asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        wants = os.environ.get("FAKE_LLM_KEY")
        if wants and self.headers["Authorization"] != "Bearer " + wants:
            self.answer(401, b"{}")
        elif not self.asked["stream"] and "stream_options" not in self.asked:
            self.answer(200, json.dumps({
                "choices": [{"message": {"content": "t " * TOKENS}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 5, "completion_tokens": TOKENS}}).encode())
        elif self.asked["stream"] and self.asked["stream_options"]["include_usage"]:
            self.server.behave(self)
        else:
            self.answer(400, b"{}")


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request, client_address):
        """Clients that close their connections are expected."""


def main():
    server = Server(("127.0.0.1", 0), Handler)
    server.behave = globals()[sys.argv[1]]
    server.hold = threading.Event()
    server.lock = threading.Lock()
    server.count = 0
    with open(sys.argv[2] + ".new", "w") as file:
        file.write(str(server.server_address[1]))
    os.rename(sys.argv[2] + ".new", sys.argv[2])
    server.serve_forever()


main()
