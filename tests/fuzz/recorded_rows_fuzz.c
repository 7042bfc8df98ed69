/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/crc32c.h"
#include "recording/wire.h"
#include "trace_input.h"

/*
 * Writes a block of a recording with a valid checksum and the fuzzed bytes as its records, so that readers
 * get past the checksum. head[0]: kind, [1]: writer, [2]: bytes per record, [3]: number of records.
 */
static void put_block(int file, const uint8_t *head, const uint8_t *payload, size_t length)
{
	struct kwhy_wire_header header = {.magic = KWHY_WIRE_MAGIC,
		.version = KWHY_WIRE_VERSION,
		.kind = head[0] % (KWHY_WIRE_KIND_COUNT + 1),
		.record_count = head[3],
		.record_bytes = head[0] % (KWHY_WIRE_KIND_COUNT + 1) ? head[2] : 0,
		.stored_bytes = (uint32_t)length,
		.raw_bytes = (uint32_t)length,
		.payload_crc32c = kwhy_crc32c(payload, length),
		.writer = head[1] % 3};
	const char zeros[8] = {0};

	header.header_crc32c = kwhy_crc32c(&header, offsetof(struct kwhy_wire_header, header_crc32c));
	if (write(file, &header, sizeof(header)) < 0 || write(file, payload, length) < 0 ||
		write(file, zeros, (8 - length % 8) % 8) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	char path[64];
	int file = input_open(data, 0, path);
	size_t at = 0;

	while (length - at > 4) {
		const uint8_t *head = data + at;
		size_t payload = head[0] % (KWHY_WIRE_KIND_COUNT + 1) ? (size_t)head[2] * head[3] : head[3];

		at += 4;
		if (payload > length - at)
			payload = length - at;
		put_block(file, head, data + at, payload);
		at += payload;
	}
	input_read_both_ways(&kwhy_reader_kwhy, path);
	close(file);
	return 0;
}
