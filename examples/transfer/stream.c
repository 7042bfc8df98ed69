/* SPDX-License-Identifier: Apache-2.0 */
#include <kwhy/transfer.h>

#include <stdio.h>
#include <stdlib.h>

/*
 * Streams a file to the device: chunks are read ahead and sent while earlier chunks are worked on. On the
 * host back end, as here, the work is done by the host: a sum of all bytes. Usage: stream FILE
 */

struct source {
	FILE *file;
	unsigned long long sum;
};

static int read_bytes(void *context, void *to, uint64_t offset, size_t bytes)
{
	struct source *source = context;

	(void)offset; /* chunks are read in order */
	return fread(to, 1, bytes, source->file) != bytes;
}

/* Called when a chunk has arrived on the device. With a GPU, it would launch a kernel in chunk->stream. */
static int add_up(void *context, const struct kwhy_transfer_chunk *chunk)
{
	struct source *source = context;
	const unsigned char *bytes = (const unsigned char *)(uintptr_t)chunk->device;

	for (uint64_t i = 0; i < chunk->bytes; i++)
		source->sum += bytes[i];
	return 0;
}

static int stream(struct kwhy_transfer *transfer, struct source *source, long bytes)
{
	struct kwhy_transfer_loader_options options = {.size = sizeof(options),
		.bytes = (uint64_t)bytes,
		.chunk_bytes = 1 << 20,
		.read = read_bytes,
		.context = source};
	char message[KWHY_TRANSFER_MESSAGE_BYTES];
	int code = kwhy_transfer_stream_through(transfer, &options, add_up, source);

	if (code) {
		kwhy_transfer_message(transfer, message, sizeof(message));
		fprintf(stderr, "%s\n", message);
		return 1;
	}
	printf("%ld bytes, sum %llu\n", bytes, source->sum);
	return 0;
}

int main(int argc, char **argv)
{
	struct kwhy_transfer_options options = {.size = sizeof(options), .backend = KWHY_TRANSFER_HOST};
	struct source source = {.file = argc > 1 ? fopen(argv[1], "rb") : NULL};
	struct kwhy_transfer *transfer;
	char message[KWHY_TRANSFER_MESSAGE_BYTES];
	int code;

	if (!source.file || fseek(source.file, 0, SEEK_END) != 0) {
		fprintf(stderr, "give a file to stream\n");
		return 1;
	}
	if (kwhy_transfer_open(&options, &transfer, message, sizeof(message))) {
		fprintf(stderr, "%s\n", message);
		fclose(source.file);
		return 1;
	}
	long bytes = ftell(source.file);
	rewind(source.file);
	code = stream(transfer, &source, bytes);
	kwhy_transfer_close(transfer);
	fclose(source.file);
	return code;
}
