/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/block_writer.h"

#include "recording/crc32c.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void kwhy_block_writer_init(
	struct kwhy_block_writer *writer, int fd, uint64_t writer_id, void *memory, uint32_t share_bytes)
{
	struct stat facts = {0};

	fstat(fd, &facts);
	*writer = (struct kwhy_block_writer){.fd = fd,
		.device = facts.st_dev,
		.inode = facts.st_ino,
		.writer = writer_id,
		.memory = memory,
		.share_bytes = share_bytes};
}

static bool has_its_file(const struct kwhy_block_writer *writer)
{
	struct stat facts;

	return !fstat(writer->fd, &facts) && facts.st_dev == writer->device && facts.st_ino == writer->inode;
}

/* The memory for the records of a kind. Before them it has space for the header of their block. */
static unsigned char *share_of(const struct kwhy_block_writer *writer, unsigned kind)
{
	return writer->memory + (size_t)kind * (writer->share_bytes + sizeof(struct kwhy_wire_header));
}

/*
 * Writes with SIGXFSZ blocked and removes the signal if the write raised it. So at the process's limit on
 * file sizes the write fails with EFBIG, and the signal does not end the program.
 */
static ssize_t write_unsignalled(int fd, const void *bytes, size_t length)
{
	const struct timespec at_once = {0};
	sigset_t limit, before, pending;
	ssize_t put;
	int why;

	sigemptyset(&limit);
	sigaddset(&limit, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &limit, &before);
	sigpending(&pending);
	put = write(fd, bytes, length);
	why = errno;
	if (put < 0 && why == EFBIG && !sigismember(&pending, SIGXFSZ))
		sigtimedwait(&limit, NULL, &at_once);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = why;
	return put;
}

static void write_all(struct kwhy_block_writer *writer, const unsigned char *bytes, size_t length)
{
	if (!has_its_file(writer))
		writer->failure = EBADF;
	while (length && !writer->failure) {
		ssize_t put = write_unsignalled(writer->fd, bytes, length);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0) {
			writer->failure = errno;
			return;
		}
		bytes += put;
		length -= (size_t)put;
		writer->written_bytes += (size_t)put;
	}
}

static bool may_write(struct kwhy_block_writer *writer, size_t bytes)
{
	if (writer->limit_bytes && writer->written_bytes + bytes > writer->limit_bytes)
		writer->full = true;
	return !writer->full && !writer->failure;
}

/*
 * Compresses a payload in place if that makes it smaller. Returns the length to store, which is raw_bytes if
 * it stays uncompressed.
 */
static uint32_t pack(struct kwhy_block_writer *writer, unsigned char *payload, uint32_t raw_bytes)
{
	size_t length = writer->pack
		? writer->pack(writer->pack_context, writer->packed, raw_bytes, payload, raw_bytes)
		: 0;

	if (!length || length >= raw_bytes)
		return raw_bytes;
	memcpy(payload, writer->packed, length);
	return (uint32_t)length;
}

static void write_block(struct kwhy_block_writer *writer, unsigned kind)
{
	unsigned char *block = share_of(writer, kind), *payload = block + sizeof(struct kwhy_wire_header);
	const uint32_t raw_bytes = writer->used_bytes[kind];
	const uint32_t stored_bytes = pack(writer, payload, raw_bytes),
		       padded_bytes = (stored_bytes + 7) & ~7u;
	struct kwhy_wire_header header = {.magic = KWHY_WIRE_MAGIC,
		.version = KWHY_WIRE_VERSION,
		.kind = (uint16_t)kind,
		.record_count = writer->counts[kind],
		.record_bytes = kwhy_wire_record_bytes(kind),
		.stored_bytes = stored_bytes,
		.raw_bytes = raw_bytes,
		.codec = stored_bytes < raw_bytes ? KWHY_WIRE_ZSTD : KWHY_WIRE_PLAIN,
		.payload_crc32c = kwhy_crc32c(payload, stored_bytes),
		.writer = writer->writer,
		.sequence = writer->sequence};

	writer->used_bytes[kind] = 0;
	writer->counts[kind] = 0;
	if (!may_write(writer, sizeof(header) + padded_bytes)) {
		writer->lost_records += header.record_count;
		return;
	}
	memset(payload + stored_bytes, 0, padded_bytes - stored_bytes);
	header.header_crc32c = kwhy_crc32c(&header, offsetof(struct kwhy_wire_header, header_crc32c));
	memcpy(block, &header, sizeof(header));
	write_all(writer, block, sizeof(header) + padded_bytes);
	writer->sequence++;
	if (writer->failure)
		writer->lost_records += header.record_count;
	else
		writer->records += header.record_count;
}

static void *take(struct kwhy_block_writer *writer, enum kwhy_wire_kind kind, uint32_t bytes)
{
	unsigned char *space;

	if (writer->used_bytes[kind] + bytes > writer->share_bytes)
		write_block(writer, kind);
	if (writer->full || writer->failure) {
		writer->lost_records++;
		return NULL;
	}
	space = share_of(writer, kind) + sizeof(struct kwhy_wire_header) + writer->used_bytes[kind];
	memset(space, 0, bytes);
	writer->used_bytes[kind] += bytes;
	writer->counts[kind]++;
	return space;
}

void *kwhy_block_writer_add(struct kwhy_block_writer *writer, enum kwhy_wire_kind kind)
{
	return take(writer, kind, kwhy_wire_record_bytes(kind));
}

void kwhy_block_writer_add_name(
	struct kwhy_block_writer *writer, uint32_t id, const char *bytes, size_t length)
{
	const size_t most = writer->share_bytes - sizeof(struct kwhy_wire_name);
	const uint32_t fitting = (uint32_t)(length < most ? length : most);
	const uint32_t total = (uint32_t)sizeof(struct kwhy_wire_name) + ((fitting + 7) & ~7u);
	struct kwhy_wire_name *name = take(writer, KWHY_WIRE_NAME, total);

	if (!name)
		return;
	*name = (struct kwhy_wire_name){.id = id, .length = fitting};
	memcpy(name + 1, bytes, fitting);
}

void kwhy_block_writer_flush(struct kwhy_block_writer *writer)
{
	for (unsigned kind = 0; kind < KWHY_WIRE_KIND_COUNT; kind++)
		if (writer->counts[kind])
			write_block(writer, kind);
}

/*
 * Adds a LOST record if records were lost. The size limit does not apply to this record, so that also a
 * recording that has reached its limit states how many records were lost.
 */
static void say_lost(struct kwhy_block_writer *writer)
{
	const uint64_t lost_records = writer->lost_records;
	struct kwhy_wire_lost *lost;

	if (!lost_records)
		return;
	writer->full = false;
	writer->limit_bytes = 0;
	lost = kwhy_block_writer_add(writer, KWHY_WIRE_LOST);
	if (lost)
		*lost = (struct kwhy_wire_lost){.records = lost_records, .reason = KWHY_WIRE_LOSS_FULL};
}

void kwhy_block_writer_finish(struct kwhy_block_writer *writer, int64_t now_mono_ns)
{
	struct kwhy_wire_end *end;

	kwhy_block_writer_flush(writer);
	say_lost(writer);
	kwhy_block_writer_flush(writer);
	end = kwhy_block_writer_add(writer, KWHY_WIRE_END);
	if (end)
		*end = (struct kwhy_wire_end){.time_mono_ns = now_mono_ns, .records = writer->records};
	kwhy_block_writer_flush(writer);
}

void kwhy_block_writer_close(struct kwhy_block_writer *writer)
{
	if (has_its_file(writer))
		close(writer->fd);
}
