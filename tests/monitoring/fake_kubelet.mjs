// SPDX-License-Identifier: Apache-2.0
// The kubelet's pod-resources server: gRPC over HTTP/2 on a socket of Unix. How it answers is read from a file at each request.
// Usage: node fake_kubelet.mjs SOCKET MODE_FILE
import { readFileSync } from "node:fs";
import http2 from "node:http2";

const [socket, modeFile] = process.argv.slice(2);
const varint = (n) => (n < 128 ? [n] : [(n & 127) | 128, ...varint(n >>> 7)]);
const number = (field, value) => Buffer.from([...varint(field << 3), ...varint(value)]);
const bytes = (field, content) => {
	const data = Buffer.from(content);
	return Buffer.concat([Buffer.from([...varint((field << 3) | 2), ...varint(data.length)]), data]);
};
const frame = (message) => {
	const prefix = Buffer.alloc(5);
	prefix.writeUInt32BE(message.length, 1);
	return Buffer.concat([prefix, message]);
};
const device = (resource, ids) =>
	Buffer.concat([bytes(1, resource), ...ids.map((id) => bytes(2, id)), bytes(3, bytes(1, number(1, 0)))]);
const container = (name, devices) =>
	Buffer.concat([bytes(1, name), ...devices.map((d) => bytes(2, d)), bytes(3, Buffer.from([1, 2, 3])), bytes(4, bytes(1, "memory"))]);
const pod = (name, namespace, containers) =>
	bytes(1, Buffer.concat([bytes(1, name), bytes(2, namespace), ...containers.map((c) => bytes(3, c)), number(14, 7)]));
const gpu = (index) => `GPU-6f6e6520-0000-4000-8000-${String(index).padStart(12, "0")}`;
const list = Buffer.concat([
	pod("train-0", "research", [container("sidecar", []), container("main", [device("nvidia.com/gpu", [gpu(0)])])]),
	pod("held-0", "batch", [container("main", [device("nvidia.com/gpu", [gpu(1)])])]),
	pod("held-1", "batch", [container("main", [device("nvidia.com/mig-1g.18gb", ["MIG-11111111-0000-5000-8000-000000000001"])])]),
	pod("turn-0", "shared", [container("main", [device("nvidia.com/gpu.shared", [`${gpu(2)}::0`])])]),
	pod("turn-1", "shared", [container("main", [device("nvidia.com/gpu.shared", [`${gpu(2)}::1`])])]),
	pod("google-0", "cloud", [container("main", [device("nvidia.com/gpu", ["nvidia4"])])]),
	pod("no-gpu", "web", [container("main", [device("example.com/fpga", ["gpu-0"])])]),
	pod('na"me\x1b[31m'.repeat(60), "web", [container("main", [device("nvidia.com/gpu", ["GPU-unknown"])])]),
]);
const head = { ":status": 200, "content-type": "application/grpc" };

function respond(stream, body, status) {
	stream.on("wantTrailers", () => stream.sendTrailers(status === null ? {} : { "grpc-status": String(status) }));
	stream.respond(head, { waitForTrailers: true });
	stream.end(body);
}
const MODES = {
	list: (stream) => respond(stream, frame(list), 0),
	empty: (stream) => respond(stream, frame(Buffer.alloc(0)), 0),
	status: (stream) => stream.respond({ ...head, "grpc-status": "8", "grpc-message": "rejected by rate limit" }, { endStream: true }),
	no_status: (stream) => respond(stream, frame(list), null),
	http: (stream) => stream.respond({ ":status": 404 }, { endStream: true }),
	garbage: (stream) => respond(stream, frame(Buffer.from("\xff\xff\xff\xff not a message", "latin1")), 0),
	cut: (stream) => {
		stream.respond(head);
		stream.write(frame(list).subarray(0, 100), () => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR));
	},
	hang: () => {},
};
const server = http2.createServer();
server.on("stream", (stream, headers) => {
	const right =
		headers[":path"] === "/v1.PodResourcesLister/List" &&
		headers[":method"] === "POST" &&
		headers["content-type"] === "application/grpc" &&
		headers.te === "trailers";
	const chunks = [];
	stream.on("error", () => {});
	stream.on("data", (chunk) => chunks.push(chunk));
	stream.on("end", () => {
		if (!right || !Buffer.concat(chunks).equals(Buffer.alloc(5))) {
			console.log("wrong", headers, Buffer.concat(chunks));
			stream.respond({ ...head, "grpc-status": "3" }, { endStream: true });
			return;
		}
		MODES[readFileSync(modeFile, "utf8").trim()](stream);
	});
});
server.listen(socket, () => console.log("listening"));
