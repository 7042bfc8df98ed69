/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/block_reader.h"

#include "recording/crc32c.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

static enum kwhy_status fail_system(const char *path, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_IO, "cannot read '%.300s': %s", path, strerror(errno));
}

/*
 * Reads up to `bytes` bytes from the current position of `fd` and returns their number; fewer: the file has
 * become shorter. -1: errno has the reason.
 */
static ssize_t read_all(int fd, unsigned char *out, size_t bytes)
{
	size_t got = 0;

	while (got < bytes) {
		const ssize_t part = read(fd, out + got, bytes - got);

		if (part < 0 && errno == EINTR)
			continue;
		if (part < 0)
			return -1;
		if (!part)
			break;
		got += (size_t)part;
	}
	return (ssize_t)got;
}

/*
 * Reads the file into memory. It is not mapped: if another program shortened a mapped file, reading the
 * mapping would end this program by SIGBUS.
 */
static enum kwhy_status load(
	struct kwhy_block_reader *reader, int fd, const char *path, struct kwhy_error *error)
{
	struct stat facts;
	unsigned char *bytes;
	ssize_t got;

	if (fstat(fd, &facts))
		return fail_system(path, error);
	if (!S_ISREG(facts.st_mode))
		return kwhy_fail(error, KWHY_E_INPUT,
			"'%.300s' is not a regular file; copy the recording to one", path);
	if (!facts.st_size)
		return KWHY_OK;
	bytes = mmap(NULL, (size_t)facts.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bytes == MAP_FAILED)
		return kwhy_fail_memory(error, "a recording");
	got = read_all(fd, bytes, (size_t)facts.st_size);
	if (got <= 0) {
		const enum kwhy_status status = got < 0 ? fail_system(path, error) : KWHY_OK;

		munmap(bytes, (size_t)facts.st_size);
		return status;
	}
	reader->bytes = bytes;
	reader->length = (size_t)got;
	reader->space = (size_t)facts.st_size;
	return KWHY_OK;
}

enum kwhy_status kwhy_block_reader_open(
	struct kwhy_block_reader *reader, const char *path, struct kwhy_error *error)
{
	struct kwhy_block_reader opened = {.path = path};
	enum kwhy_status status;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return fail_system(path, error);
	status = load(&opened, fd, path, error);
	close(fd);
	if (!status)
		*reader = opened;
	return status;
}

void kwhy_block_reader_close(struct kwhy_block_reader *reader)
{
	if (reader->bytes)
		munmap((void *)reader->bytes, reader->space);
	ZSTD_freeDCtx(reader->zstd);
	free(reader->unpacked);
	*reader = (struct kwhy_block_reader){0};
}

bool kwhy_block_reader_probe(const void *bytes, size_t length)
{
	const uint32_t magic = KWHY_WIRE_MAGIC;

	return length >= sizeof(magic) && !memcmp(bytes, &magic, sizeof(magic));
}

/* What is wrong with the header of a block, for messages; NULL: it is valid. */
static const char *header_fault(const struct kwhy_wire_header *header)
{
	if (header->magic != KWHY_WIRE_MAGIC)
		return "no block begins here";
	if (header->header_crc32c != kwhy_crc32c(header, offsetof(struct kwhy_wire_header, header_crc32c)))
		return "the checksum of the block's header is wrong";
	if (header->version != KWHY_WIRE_VERSION)
		return "the block is of a version that this program does not know";
	if (header->stored_bytes > KWHY_WIRE_BLOCK_LIMIT_BYTES ||
		header->raw_bytes > KWHY_WIRE_BLOCK_LIMIT_BYTES)
		return "the block is larger than any that is written";
	if (header->codec >= KWHY_WIRE_CODEC_COUNT)
		return "the block is packed in a way that this program does not know";
	if (header->codec == KWHY_WIRE_PLAIN && header->stored_bytes != header->raw_bytes)
		return "the block's lengths contradict each other";
	if (header->record_bytes &&
		(uint64_t)header->record_bytes * header->record_count != (uint64_t)header->raw_bytes)
		return "the block's records do not fill it";
	if ((header->kind == KWHY_WIRE_NAME) != !header->record_bytes)
		return "the block's records have no length";
	return NULL;
}

static size_t padded(uint32_t bytes)
{
	return ((size_t)bytes + 7) & ~(size_t)7;
}

static struct kwhy_wire_header header_at(const struct kwhy_block_reader *reader, size_t at)
{
	struct kwhy_wire_header header;

	memcpy(&header, reader->bytes + at, sizeof(header));
	return header;
}

/* Offset of the first valid header at or after `from`, or of the end of the file. */
static size_t find_header(const struct kwhy_block_reader *reader, size_t from)
{
	const uint32_t magic = KWHY_WIRE_MAGIC;

	while (from + sizeof(struct kwhy_wire_header) <= reader->length) {
		const unsigned char *found = memmem(
			reader->bytes + from, reader->length - from, &magic, sizeof(magic));
		struct kwhy_wire_header header;

		if (!found)
			break;
		from = (size_t)(found - reader->bytes);
		if (from + sizeof(header) > reader->length)
			break;
		header = header_at(reader, from);
		if (!header_fault(&header))
			return from;
		from++;
	}
	return reader->length;
}

static int give_damage(
	struct kwhy_block_reader *reader, struct kwhy_block *out, const char *damage, bool is_cut, size_t end)
{
	*out = (struct kwhy_block){
		.offset = reader->at, .bytes = end - reader->at, .damage = damage, .is_cut = is_cut};
	reader->at = end;
	return 0;
}

/*
 * Whether another recording begins at this offset, where a valid header is: whether its block is the first of
 * its writer.
 */
static bool begins_at(const struct kwhy_block_reader *reader, size_t at)
{
	return at < reader->length && header_at(reader, at).sequence == 0;
}

/*
 * Gives the bytes up to `end`, the next valid header or the end of the file, as damaged, for the reason
 * `damage`. `due` is the offset at which the block ends by its header or, if the header is damaged, the
 * offset at which the header ends. If another recording begins at `end`, before `due`, files were
 * concatenated and the first one ends inside this block, because its writer was killed; the block then counts
 * as truncated (is_cut).
 */
static int give_until(
	struct kwhy_block_reader *reader, struct kwhy_block *out, const char *damage, size_t due, size_t end)
{
	bool is_cut = end < due && begins_at(reader, end);

	return give_damage(reader, out, is_cut ? "the file ends inside a block" : damage, is_cut, end);
}

/*
 * Gives the bytes up to `end`, the next valid header or the end of the file, of a block whose stated length
 * extends past the end of the file. If `end` is the end of the file, or of the first of concatenated files,
 * the block is truncated; otherwise its length is wrong.
 */
static int give_short(struct kwhy_block_reader *reader, struct kwhy_block *out, size_t end)
{
	bool is_cut = end == reader->length || begins_at(reader, end);

	return give_damage(reader, out,
		is_cut ? "the file ends inside a block" : "the block's length or its records are wrong",
		is_cut, end);
}

/* Allocates memory for the decompressed records of a block. -1: memory is exhausted. */
static int reserve(struct kwhy_block_reader *reader, size_t bytes, struct kwhy_error *error)
{
	if (!reader->zstd)
		reader->zstd = ZSTD_createDCtx();
	if (reader->unpacked_bytes < bytes) {
		free(reader->unpacked);
		reader->unpacked = malloc(bytes);
		reader->unpacked_bytes = reader->unpacked ? bytes : 0;
	}
	if (reader->zstd && reader->unpacked)
		return 0;
	(void)kwhy_fail_memory(error, "a block of a recording");
	return -1;
}

static int unpack(struct kwhy_block_reader *reader, const struct kwhy_wire_header *header,
	const unsigned char *payload, const char **out_damage, struct kwhy_error *error)
{
	size_t got;

	if (reserve(reader, header->raw_bytes, error))
		return -1;
	got = ZSTD_decompressDCtx(
		reader->zstd, reader->unpacked, header->raw_bytes, payload, header->stored_bytes);
	if (ZSTD_isError(got) || got != header->raw_bytes)
		*out_damage = "the block cannot be unpacked";
	return 0;
}

static int give_block(struct kwhy_block_reader *reader, const struct kwhy_wire_header *header,
	struct kwhy_block *out, struct kwhy_error *error)
{
	const unsigned char *payload = reader->bytes + reader->at + sizeof(*header);
	const size_t end = reader->at + sizeof(*header) + padded(header->stored_bytes);
	const char *damage = NULL;

	if (kwhy_crc32c(payload, header->stored_bytes) != header->payload_crc32c)
		damage = "the checksum of the block's records is wrong";
	else if (header->codec == KWHY_WIRE_ZSTD && unpack(reader, header, payload, &damage, error))
		return -1;
	if (damage) /* the stated length may be wrong, so the next header is searched from here on */
		return give_until(
			reader, out, damage, end, find_header(reader, reader->at + sizeof(*header)));
	*out = (struct kwhy_block){.offset = reader->at,
		.bytes = end - reader->at,
		.kind = header->kind,
		.writer = header->writer,
		.sequence = header->sequence,
		.record_count = header->record_count,
		.record_bytes = header->record_bytes,
		.records = header->codec == KWHY_WIRE_ZSTD ? reader->unpacked : payload,
		.raw_bytes = header->raw_bytes};
	reader->at = end;
	return 0;
}

int kwhy_block_reader_next(struct kwhy_block_reader *reader, struct kwhy_block *out, struct kwhy_error *error)
{
	const size_t left = reader->length - reader->at;
	struct kwhy_wire_header header;
	const char *fault;

	if (!left)
		return 1;
	if (left < sizeof(header))
		return give_damage(reader, out, "the file ends inside a block", true, reader->length);
	header = header_at(reader, reader->at);
	fault = header_fault(&header);
	if (fault)
		return give_until(
			reader, out, fault, reader->at + sizeof(header), find_header(reader, reader->at + 1));
	if (left - sizeof(header) < padded(header.stored_bytes))
		return give_short(reader, out, find_header(reader, reader->at + sizeof(header)));
	return give_block(reader, &header, out, error);
}

const void *kwhy_block_record(const struct kwhy_block *block, size_t index, void *scratch, size_t known_bytes)
{
	const unsigned char *record = block->records + index * block->record_bytes;
	const size_t copied = block->record_bytes < known_bytes ? block->record_bytes : known_bytes;

	if (copied == known_bytes && !((uintptr_t)record & 7))
		return record;
	memset(scratch, 0, known_bytes);
	memcpy(scratch, record, copied);
	return scratch;
}

bool kwhy_block_name(const struct kwhy_block *block, size_t *at, uint32_t *out_id, const char **out_bytes,
	size_t *out_length)
{
	struct kwhy_wire_name name;
	const size_t left = block->raw_bytes - *at;

	if (left < sizeof(name))
		return false;
	memcpy(&name, block->records + *at, sizeof(name));
	if (padded(name.length) > left - sizeof(name))
		return false;
	*out_id = name.id;
	*out_bytes = (const char *)block->records + *at + sizeof(name);
	*out_length = name.length;
	*at += sizeof(name) + padded(name.length);
	return true;
}
