/* SPDX-License-Identifier: Apache-2.0 */
#include "import/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { PACKED_BYTES = 256 << 10 };

/* How one kind of file gives bytes; `unpack` sets *out_size to 0 only at the end of the data. */
struct codec {
	const char *name;
	const char *cure;
	bool (*probe)(const unsigned char *head, size_t size);
	enum kwhy_status (*begin)(struct kwhy_stream *stream, struct kwhy_error *error);
	enum kwhy_status (*unpack)(struct kwhy_stream *stream, unsigned char *out, size_t size,
		size_t *out_size, struct kwhy_error *error);
	void (*end)(struct kwhy_stream *stream);
};

struct kwhy_stream {
	const struct codec *codec;
	char *path;
	int file;
	bool file_ended;
	unsigned char *packed; /* bytes of the file, [packed_at, packed_size) not yet used */
	size_t packed_at, packed_size;
	uint64_t packed_offset; /* of the packed bytes in the file */
	union {
		z_stream gzip;
		ZSTD_DStream *zstd;
	};
	bool member_open; /* a gzip member or zstd frame has begun and not ended */
	unsigned char *head;
	size_t head_at, head_size;
	struct kwhy_error failure; /* sticky; status KWHY_OK: none */
};

/* Refills the packed bytes when all are used; at the end of the file there are none. */
static enum kwhy_status refill(struct kwhy_stream *stream, struct kwhy_error *error)
{
	ssize_t got;

	if (stream->packed_at < stream->packed_size || stream->file_ended)
		return KWHY_OK;
	do {
		got = read(stream->file, stream->packed, PACKED_BYTES);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return kwhy_fail(error, KWHY_E_IO, "%s cannot be read: %s; check the disk and try again",
			stream->path, strerror(errno));
	stream->packed_offset += stream->packed_size;
	stream->packed_at = 0;
	stream->packed_size = (size_t)got;
	stream->file_ended = got == 0;
	return KWHY_OK;
}

static bool plain_probe(const unsigned char *head, size_t size)
{
	(void)head;
	return size > 0;
}

static enum kwhy_status plain_begin(struct kwhy_stream *stream, struct kwhy_error *error)
{
	(void)stream;
	(void)error;
	return KWHY_OK;
}

static void plain_end(struct kwhy_stream *stream)
{
	(void)stream;
}

/* Large reads go past the packed buffer, straight to the reader's. */
static enum kwhy_status plain_read_direct(struct kwhy_stream *stream, unsigned char *out, size_t size,
	size_t *out_size, struct kwhy_error *error)
{
	ssize_t got;

	do {
		got = read(stream->file, out, size);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return kwhy_fail(error, KWHY_E_IO, "%s cannot be read: %s; check the disk and try again",
			stream->path, strerror(errno));
	*out_size = (size_t)got;
	return KWHY_OK;
}

static enum kwhy_status plain_unpack(struct kwhy_stream *stream, unsigned char *out, size_t size,
	size_t *out_size, struct kwhy_error *error)
{
	size_t left = stream->packed_size - stream->packed_at;

	if (left == 0)
		return plain_read_direct(stream, out, size, out_size, error);
	*out_size = left < size ? left : size;
	memcpy(out, stream->packed + stream->packed_at, *out_size);
	stream->packed_at += *out_size;
	return KWHY_OK;
}

static enum kwhy_status packed_wrong(struct kwhy_stream *stream, const char *what, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_INPUT, "%s: %s data %s at byte %" PRIu64 " of the file; %s",
		stream->path, stream->codec->name, what, stream->packed_offset + stream->packed_at,
		stream->codec->cure);
}

static bool gzip_probe(const unsigned char *head, size_t size)
{
	return size >= 2 && head[0] == 0x1F && head[1] == 0x8B;
}

static enum kwhy_status gzip_begin(struct kwhy_stream *stream, struct kwhy_error *error)
{
	/* 15 bits of window and 16 for the gzip wrapper: zlib.h, inflateInit2 */
	if (inflateInit2(&stream->gzip, 15 + 16) != Z_OK)
		return kwhy_fail_memory(error, "decompression");
	stream->member_open = true;
	return KWHY_OK;
}

static void gzip_end(struct kwhy_stream *stream)
{
	inflateEnd(&stream->gzip);
}

/* After a member: another one begins, or only zero padding follows (as tar and tapes leave it). */
static enum kwhy_status gzip_next_member(struct kwhy_stream *stream, struct kwhy_error *error)
{
	enum kwhy_status status = refill(stream, error);

	while (!status && !stream->file_ended && stream->packed[stream->packed_at] == 0) {
		stream->packed_at++;
		status = refill(stream, error);
	}
	if (status || stream->file_ended)
		return status;
	if (stream->packed[stream->packed_at] != 0x1F)
		return packed_wrong(stream, "is followed by other bytes", error);
	inflateReset(&stream->gzip);
	stream->member_open = true;
	return KWHY_OK;
}

/* One call of inflate on what is there. */
static enum kwhy_status gzip_step(struct kwhy_stream *stream, struct kwhy_error *error)
{
	int code;

	stream->gzip.next_in = stream->packed + stream->packed_at;
	stream->gzip.avail_in = (uInt)(stream->packed_size - stream->packed_at);
	code = inflate(&stream->gzip, Z_NO_FLUSH);
	stream->packed_at = stream->packed_size - stream->gzip.avail_in;
	if (code == Z_STREAM_END) {
		stream->member_open = false;
		return gzip_next_member(stream, error);
	}
	if (code == Z_MEM_ERROR)
		return kwhy_fail_memory(error, "decompression");
	if (code != Z_OK && code != Z_BUF_ERROR)
		return packed_wrong(stream, "is damaged", error);
	return KWHY_OK;
}

static enum kwhy_status gzip_unpack(struct kwhy_stream *stream, unsigned char *out, size_t size,
	size_t *out_size, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	stream->gzip.next_out = out;
	stream->gzip.avail_out = (uInt)size;
	while (!status && stream->member_open && stream->gzip.avail_out == size) {
		status = refill(stream, error);
		if (!status && stream->file_ended)
			status = packed_wrong(stream, "ends early", error);
		if (!status)
			status = gzip_step(stream, error);
	}
	*out_size = size - stream->gzip.avail_out;
	return status;
}

static bool zstd_probe(const unsigned char *head, size_t size)
{
	return size >= 4 && head[0] == 0x28 && head[1] == 0xB5 && head[2] == 0x2F && head[3] == 0xFD;
}

static enum kwhy_status zstd_begin(struct kwhy_stream *stream, struct kwhy_error *error)
{
	stream->zstd = ZSTD_createDStream();
	return stream->zstd ? KWHY_OK : kwhy_fail_memory(error, "decompression");
}

static void zstd_end(struct kwhy_stream *stream)
{
	ZSTD_freeDStream(stream->zstd);
}

static enum kwhy_status zstd_unpack(struct kwhy_stream *stream, unsigned char *out, size_t size,
	size_t *out_size, struct kwhy_error *error)
{
	ZSTD_outBuffer unpacked = {.dst = out, .size = size};
	enum kwhy_status status = KWHY_OK;

	while (!status && unpacked.pos == 0) {
		ZSTD_inBuffer packed = {.src = stream->packed};
		size_t code;

		status = refill(stream, error);
		if (status || (stream->file_ended && !stream->member_open))
			break;
		packed.size = stream->packed_size;
		packed.pos = stream->packed_at;
		code = ZSTD_decompressStream(stream->zstd, &unpacked, &packed);
		stream->packed_at = packed.pos;
		if (ZSTD_isError(code))
			status = packed_wrong(stream, ZSTD_getErrorName(code), error);
		else if (stream->file_ended && unpacked.pos == 0 && code != 0)
			status = packed_wrong(stream, "ends early", error);
		stream->member_open = code != 0;
	}
	*out_size = unpacked.pos;
	return status;
}

/* The last one takes everything. */
static const struct codec codecs[] = {
	{"gzip", "copy or export the file again, or read what is whole with --partial", gzip_probe,
		gzip_begin, gzip_unpack, gzip_end},
	{"zstd", "copy or compress the file again (without --long), or read what is whole with --partial",
		zstd_probe, zstd_begin, zstd_unpack, zstd_end},
	{"plain", "", plain_probe, plain_begin, plain_unpack, plain_end},
};

static enum kwhy_status open_file(struct kwhy_stream *stream, const char *path, struct kwhy_error *error)
{
	struct stat about;

	stream->file = open(path, O_RDONLY | O_CLOEXEC);
	if (stream->file < 0)
		return kwhy_fail(error, errno == ENOENT ? KWHY_E_INPUT : KWHY_E_IO,
			"%s cannot be opened: %s; check the path and its permissions", path, strerror(errno));
	if (fstat(stream->file, &about) == 0 && S_ISDIR(about.st_mode))
		return kwhy_fail(error, KWHY_E_INPUT, "%s is a folder; name the trace file inside it", path);
	stream->path = strdup(path);
	stream->packed = malloc(PACKED_BYTES);
	stream->head = malloc(KWHY_STREAM_PEEK_BYTES);
	if (!stream->path || !stream->packed || !stream->head)
		return kwhy_fail_memory(error, "reading a file");
	return KWHY_OK;
}

static enum kwhy_status check_head(struct kwhy_stream *stream, struct kwhy_error *error)
{
	static const char pointer[] = "version https://git-lfs.github.com/spec/";
	size_t size = sizeof(pointer) - 1;

	if (stream->packed_size == 0)
		return kwhy_fail(
			error, KWHY_E_INPUT, "%s is empty; export or copy the trace again", stream->path);
	if (stream->packed_size >= size && !memcmp(stream->packed, pointer, size))
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s is a Git LFS pointer, not the data itself; fetch it with \"git lfs pull\"",
			stream->path);
	return KWHY_OK;
}

static enum kwhy_status choose_codec(struct kwhy_stream *stream, struct kwhy_error *error)
{
	const struct codec *codec = codecs;
	enum kwhy_status status;

	while (!codec->probe(stream->packed, stream->packed_size))
		codec++;
	status = codec->begin(stream, error);
	if (!status)
		stream->codec = codec;
	return status;
}

enum kwhy_status kwhy_stream_open(const char *path, struct kwhy_stream **out, struct kwhy_error *error)
{
	struct kwhy_stream *stream = calloc(1, sizeof(*stream));
	enum kwhy_status status;

	if (!stream)
		return kwhy_fail_memory(error, "reading a file");
	status = open_file(stream, path, error);
	if (!status)
		status = refill(stream, error);
	if (!status)
		status = check_head(stream, error);
	if (!status)
		status = choose_codec(stream, error);
	if (status) {
		kwhy_stream_close(stream);
		return status;
	}
	*out = stream;
	return KWHY_OK;
}

/* Fills `out` as far as the data goes; remembers a failure for the next call. */
static size_t unpack_all(struct kwhy_stream *stream, unsigned char *out, size_t size)
{
	size_t filled = 0, got = 1;

	while (filled < size && got > 0 && !stream->failure.status) {
		enum kwhy_status status;

		got = 0;
		status = stream->codec->unpack(stream, out + filled, size - filled, &got, &stream->failure);
		stream->failure.status = status;
		filled += got;
	}
	return filled;
}

static size_t take_head(struct kwhy_stream *stream, unsigned char *out, size_t size)
{
	size_t left = stream->head_size - stream->head_at;
	size_t taken = left < size ? left : size;

	memcpy(out, stream->head + stream->head_at, taken);
	stream->head_at += taken;
	return taken;
}

enum kwhy_status kwhy_stream_read(
	struct kwhy_stream *stream, void *out, size_t size, size_t *out_size, struct kwhy_error *error)
{
	size_t filled = take_head(stream, out, size);

	filled += unpack_all(stream, (unsigned char *)out + filled, size - filled);
	if (filled == 0 && size > 0 && stream->failure.status) {
		*error = stream->failure;
		return stream->failure.status;
	}
	*out_size = filled;
	return KWHY_OK;
}

enum kwhy_status kwhy_stream_peek(
	struct kwhy_stream *stream, const unsigned char **out, size_t *out_size, struct kwhy_error *error)
{
	if (stream->head_size == 0)
		stream->head_size = unpack_all(stream, stream->head, KWHY_STREAM_PEEK_BYTES);
	if (stream->head_size == 0 && stream->failure.status) {
		*error = stream->failure;
		return stream->failure.status;
	}
	*out = stream->head;
	*out_size = stream->head_size;
	return KWHY_OK;
}

bool kwhy_stream_is_packed(const struct kwhy_stream *stream)
{
	return stream->codec->unpack != plain_unpack;
}

void kwhy_stream_close(struct kwhy_stream *stream)
{
	if (!stream)
		return;
	if (stream->codec)
		stream->codec->end(stream);
	if (stream->file >= 0)
		close(stream->file);
	free(stream->path);
	free(stream->packed);
	free(stream->head);
	free(stream);
}
