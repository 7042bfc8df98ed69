#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server of traces by HTTP and, below /bucket, by S3, whose signatures it checks: download_server.py FOLDER

Prints its port. It serves the files in FOLDER. /cut/NAME ends after half of the file, /chunked/NAME within a chunk.
/moved/NAME redirects to /NAME, /elsewhere/NAME to an FTP server. /endless/NAME never ends, and /broken is an error of
the server. Authorization headers are written to FOLDER/authorizations.
"""

import hashlib
import hmac
import http.server
import pathlib
import sys
import urllib.parse

folder = pathlib.Path(sys.argv[1])
KEY, SECRET, TOKEN = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "a-session"


def digest(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def signature(headers, path, names, scope):
    """Returns the signature that the request must have (AWS Signature Version 4)."""
    lines = "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in names)
    request = "\n".join(["GET", path, "", lines, ";".join(names), headers["x-amz-content-sha256"]])
    day, region, service, end = scope.split("/")
    text = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hashlib.sha256(request.encode()).hexdigest()])
    key = ("AWS4" + SECRET).encode()
    for part in (day, region, service, end):
        key = digest(key, part)
    return digest(key, text).hex()


def is_signed(headers, path):
    kind, _, rest = headers.get("authorization", "").partition(" ")
    fields = dict(part.strip().split("=", 1) for part in rest.split(",") if "=" in part)
    if kind != "AWS4-HMAC-SHA256" or not fields.get("Credential", "").startswith(KEY + "/"):
        return False
    names, scope = fields["SignedHeaders"].split(";"), fields["Credential"].split("/", 1)[1]
    wanted = {"host", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token"}
    return (wanted <= set(names) and scope.endswith("/eu-north-1/s3/aws4_request") and headers["x-amz-security-token"] == TOKEN
            and fields["Signature"] == signature(headers, path, names, scope))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, code, body=b"", headers=()):
        self.send_response(code)
        for name, value in {"Content-Length": str(len(body)), **dict(headers)}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def cut(self, body, is_chunked):
        self.send_response(200)
        self.send_header(*(("Transfer-Encoding", "chunked") if is_chunked else ("Content-Length", str(len(body)))))
        self.end_headers()
        self.wfile.write((f"{len(body):x}\r\n".encode() if is_chunked else b"") + body[: len(body) // 2])
        self.close_connection = True

    def endless(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(1 << 40))
        self.end_headers()
        try:
            while True:
                self.wfile.write(body)
        except OSError:
            self.close_connection = True

    def do_GET(self):
        headers = {name.lower(): value for name, value in self.headers.items()}
        with open(folder / "authorizations", "a") as file:
            file.write(f"{self.path} {headers.get('authorization', '-')}\n")
        parts = urllib.parse.unquote(self.path.partition("?")[0]).strip("/").split("/")
        path = folder / parts[-1]
        if parts[0] == "broken":
            return self.answer(503)
        if parts[0] == "bucket" and not is_signed(headers, self.path):
            return self.answer(403)
        if parts[0] == "moved":
            return self.answer(302, headers={"Location": "/" + parts[-1]}.items())
        if parts[0] == "elsewhere":
            return self.answer(302, headers={"Location": "ftp://127.0.0.1:1/" + parts[-1]}.items())
        if not path.is_file():
            return self.answer(404)
        if parts[0] == "endless":
            return self.endless(path.read_bytes())
        if parts[0] in ("cut", "chunked"):
            return self.cut(path.read_bytes(), parts[0] == "chunked")
        return self.answer(200, path.read_bytes())


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
