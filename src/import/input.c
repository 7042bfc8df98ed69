/* SPDX-License-Identifier: Apache-2.0 */
#include "import/input.h"

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

/*
 * A compression format. `unpack` writes up to `size` decompressed bytes and sets *out_size to their number.
 * If it returns KWHY_OK, the number is 0 only at the end of the data. `cure` is the advice in messages about
 * damaged data.
 */
struct codec {
	const char *name;
	const char *cure;
	bool (*probe)(const unsigned char *head, size_t size);
	enum kwhy_status (*begin)(struct kwhy_input *input, struct kwhy_error *error);
	enum kwhy_status (*unpack)(struct kwhy_input *input, unsigned char *out, size_t size,
		size_t *out_size, struct kwhy_error *error);
	void (*end)(struct kwhy_input *input);
};

struct kwhy_input {
	const struct codec *codec;
	char *path;
	int file;
	bool file_ended;
	unsigned char *packed; /* a piece of the file as stored; bytes [packed_at, packed_size) of it are not
				  unpacked yet */
	size_t packed_at, packed_size;
	uint64_t packed_offset; /* offset of packed[0] in the file, bytes */
	union {
		z_stream gzip;
		ZSTD_DStream *zstd;
	};
	bool member_open; /* a gzip member or zstd frame has begun and not yet ended; at the end of the file,
			     the data are then incomplete */
	struct kwhy_error failure; /* the first failure, which later calls return again; its status is KWHY_OK
				      if there is none */
};

/*
 * Reads the next piece of the file into `packed` if the last piece has been unpacked entirely. Sets
 * file_ended at the end of the file.
 */
static enum kwhy_status refill(struct kwhy_input *input, struct kwhy_error *error)
{
	ssize_t got;

	if (input->packed_at < input->packed_size || input->file_ended)
		return KWHY_OK;
	do {
		got = read(input->file, input->packed, PACKED_BYTES);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return kwhy_fail(error, KWHY_E_IO, "%s cannot be read: %s; check the disk and try again",
			input->path, strerror(errno));
	input->packed_offset += input->packed_size;
	input->packed_at = 0;
	input->packed_size = (size_t)got;
	input->file_ended = got == 0;
	return KWHY_OK;
}

static bool plain_probe(const unsigned char *head, size_t size)
{
	(void)head;
	return size > 0;
}

static enum kwhy_status plain_begin(struct kwhy_input *input, struct kwhy_error *error)
{
	(void)input;
	(void)error;
	return KWHY_OK;
}

static void plain_end(struct kwhy_input *input)
{
	(void)input;
}

/*
 * Reads from the file into the caller's buffer directly, once `packed`, the file's start, has been used up.
 */
static enum kwhy_status plain_read_direct(
	struct kwhy_input *input, unsigned char *out, size_t size, size_t *out_size, struct kwhy_error *error)
{
	ssize_t got;

	do {
		got = read(input->file, out, size);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return kwhy_fail(error, KWHY_E_IO, "%s cannot be read: %s; check the disk and try again",
			input->path, strerror(errno));
	*out_size = (size_t)got;
	return KWHY_OK;
}

static enum kwhy_status plain_unpack(
	struct kwhy_input *input, unsigned char *out, size_t size, size_t *out_size, struct kwhy_error *error)
{
	size_t left = input->packed_size - input->packed_at;

	if (left == 0)
		return plain_read_direct(input, out, size, out_size, error);
	*out_size = left < size ? left : size;
	memcpy(out, input->packed + input->packed_at, *out_size);
	input->packed_at += *out_size;
	return KWHY_OK;
}

static enum kwhy_status packed_wrong(struct kwhy_input *input, const char *what, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_INPUT, "%s: %s data %s at byte %" PRIu64 " of the file; %s",
		input->path, input->codec->name, what, input->packed_offset + input->packed_at,
		input->codec->cure);
}

static bool gzip_probe(const unsigned char *head, size_t size)
{
	return size >= 2 && head[0] == 0x1F && head[1] == 0x8B;
}

static enum kwhy_status gzip_begin(struct kwhy_input *input, struct kwhy_error *error)
{
	/* 15: the largest window, 2^15 bytes; 16: the data have a gzip header (zlib.h, inflateInit2) */
	if (inflateInit2(&input->gzip, 15 + 16) != Z_OK)
		return kwhy_fail_memory(error, "decompression");
	input->member_open = true;
	return KWHY_OK;
}

static void gzip_end(struct kwhy_input *input)
{
	inflateEnd(&input->gzip);
}

/*
 * Called at the end of a gzip member: skips zeros, with which tar pads the end of a file, and starts the next
 * member if there is one. KWHY_E_INPUT: other bytes follow.
 */
static enum kwhy_status gzip_next_member(struct kwhy_input *input, struct kwhy_error *error)
{
	enum kwhy_status status = refill(input, error);

	while (!status && !input->file_ended && input->packed[input->packed_at] == 0) {
		input->packed_at++;
		status = refill(input, error);
	}
	if (status || input->file_ended)
		return status;
	if (input->packed[input->packed_at] != 0x1F)
		return packed_wrong(input, "is followed by other bytes", error);
	inflateReset(&input->gzip);
	input->member_open = true;
	return KWHY_OK;
}

/*
 * Calls inflate() once on the bytes of `packed` that are left; gzip_unpack() has set where the output goes.
 */
static enum kwhy_status gzip_step(struct kwhy_input *input, struct kwhy_error *error)
{
	int code;

	input->gzip.next_in = input->packed + input->packed_at;
	input->gzip.avail_in = (uInt)(input->packed_size - input->packed_at);
	code = inflate(&input->gzip, Z_NO_FLUSH);
	input->packed_at = input->packed_size - input->gzip.avail_in;
	if (code == Z_STREAM_END) {
		input->member_open = false;
		return gzip_next_member(input, error);
	}
	if (code == Z_MEM_ERROR)
		return kwhy_fail_memory(error, "decompression");
	if (code != Z_OK && code != Z_BUF_ERROR)
		return packed_wrong(input, "is damaged", error);
	return KWHY_OK;
}

static enum kwhy_status gzip_unpack(
	struct kwhy_input *input, unsigned char *out, size_t size, size_t *out_size, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	input->gzip.next_out = out;
	input->gzip.avail_out = (uInt)size;
	while (!status && input->member_open && input->gzip.avail_out == size) {
		status = refill(input, error);
		if (!status && input->file_ended)
			status = packed_wrong(input, "ends early", error);
		if (!status)
			status = gzip_step(input, error);
	}
	*out_size = size - input->gzip.avail_out;
	return status;
}

static bool zstd_probe(const unsigned char *head, size_t size)
{
	return size >= 4 && head[0] == 0x28 && head[1] == 0xB5 && head[2] == 0x2F && head[3] == 0xFD;
}

static enum kwhy_status zstd_begin(struct kwhy_input *input, struct kwhy_error *error)
{
	input->zstd = ZSTD_createDStream();
	return input->zstd ? KWHY_OK : kwhy_fail_memory(error, "decompression");
}

static void zstd_end(struct kwhy_input *input)
{
	ZSTD_freeDStream(input->zstd);
}

static enum kwhy_status zstd_unpack(
	struct kwhy_input *input, unsigned char *out, size_t size, size_t *out_size, struct kwhy_error *error)
{
	ZSTD_outBuffer unpacked = {.dst = out, .size = size};
	enum kwhy_status status = KWHY_OK;

	while (!status && unpacked.pos == 0) {
		ZSTD_inBuffer packed = {.src = input->packed};
		size_t code;

		status = refill(input, error);
		if (status || (input->file_ended && !input->member_open))
			break;
		packed.size = input->packed_size;
		packed.pos = input->packed_at;
		code = ZSTD_decompressStream(input->zstd, &unpacked, &packed);
		input->packed_at = packed.pos;
		if (ZSTD_isError(code))
			status = packed_wrong(input, ZSTD_getErrorName(code), error);
		else if (input->file_ended && unpacked.pos == 0 && code != 0)
			status = packed_wrong(input, "ends early", error);
		input->member_open = code != 0;
	}
	*out_size = unpacked.pos;
	return status;
}

/* Formats in the order in which they are tried. The last one, "plain", accepts every file. */
static const struct codec codecs[] = {
	{"gzip", "copy or export the file again, or read what is whole with --partial", gzip_probe,
		gzip_begin, gzip_unpack, gzip_end},
	{"zstd", "copy or compress the file again (without --long), or read what is whole with --partial",
		zstd_probe, zstd_begin, zstd_unpack, zstd_end},
	{"plain", "", plain_probe, plain_begin, plain_unpack, plain_end},
};

static enum kwhy_status open_file(struct kwhy_input *input, const char *path, struct kwhy_error *error)
{
	struct stat about;

	input->file = open(path, O_RDONLY | O_CLOEXEC);
	if (input->file < 0)
		return kwhy_fail(error, errno == ENOENT ? KWHY_E_INPUT : KWHY_E_IO,
			"%s cannot be opened: %s; check the path and its permissions", path, strerror(errno));
	if (fstat(input->file, &about) == 0 && S_ISDIR(about.st_mode))
		return kwhy_fail(error, KWHY_E_INPUT, "%s is a folder; name the file inside it", path);
	input->path = strdup(path);
	input->packed = malloc(PACKED_BYTES);
	if (!input->path || !input->packed)
		return kwhy_fail_memory(error, "reading a file");
	return KWHY_OK;
}

/* Whether the file begins with the byte order mark of UTF-16, which editors and shells of Windows write. */
static bool is_utf16(const struct kwhy_input *input)
{
	return input->packed_size >= 2 &&
		(!memcmp(input->packed, "\xFF\xFE", 2) || !memcmp(input->packed, "\xFE\xFF", 2));
}

static enum kwhy_status check_head(struct kwhy_input *input, struct kwhy_error *error)
{
	static const char pointer[] = "version https://git-lfs.github.com/spec/";
	size_t size = sizeof(pointer) - 1;

	if (input->packed_size == 0)
		return kwhy_fail(
			error, KWHY_E_INPUT, "%s is empty; export or copy the file again", input->path);
	if (input->packed_size >= size && !memcmp(input->packed, pointer, size))
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s is a Git LFS pointer, not the data itself; fetch it with \"git lfs pull\"",
			input->path);
	if (is_utf16(input))
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s is text in UTF-16; save it as UTF-8, or convert it with \"iconv -f UTF-16 -t "
			"UTF-8\"",
			input->path);
	return KWHY_OK;
}

static enum kwhy_status choose_codec(struct kwhy_input *input, struct kwhy_error *error)
{
	const struct codec *codec = codecs;
	enum kwhy_status status;

	while (!codec->probe(input->packed, input->packed_size))
		codec++;
	status = codec->begin(input, error);
	if (!status)
		input->codec = codec;
	return status;
}

enum kwhy_status kwhy_input_open(const char *path, struct kwhy_input **out, struct kwhy_error *error)
{
	struct kwhy_input *input = calloc(1, sizeof(*input));
	enum kwhy_status status;

	if (!input)
		return kwhy_fail_memory(error, "reading a file");
	status = open_file(input, path, error);
	if (!status)
		status = refill(input, error);
	if (!status)
		status = check_head(input, error);
	if (!status)
		status = choose_codec(input, error);
	if (status) {
		kwhy_input_close(input);
		return status;
	}
	*out = input;
	return KWHY_OK;
}

/*
 * Fills `out` up to `size` bytes, the end of the data or an error, and returns the number of bytes. The error
 * is kept in input->failure, so that the bytes before it can be given first.
 */
static size_t unpack_all(struct kwhy_input *input, unsigned char *out, size_t size)
{
	size_t filled = 0, got = 1;

	while (filled < size && got > 0 && !input->failure.status) {
		enum kwhy_status status;

		got = 0;
		status = input->codec->unpack(input, out + filled, size - filled, &got, &input->failure);
		input->failure.status = status;
		filled += got;
	}
	return filled;
}

enum kwhy_status kwhy_input_read(
	struct kwhy_input *input, void *out, size_t size, size_t *out_size, struct kwhy_error *error)
{
	size_t filled = unpack_all(input, out, size);

	if (filled == 0 && size > 0 && input->failure.status) {
		*error = input->failure;
		return input->failure.status;
	}
	*out_size = filled;
	return KWHY_OK;
}

bool kwhy_input_is_packed(const struct kwhy_input *input)
{
	return input->codec->unpack != plain_unpack;
}

void kwhy_input_close(struct kwhy_input *input)
{
	if (!input)
		return;
	if (input->codec)
		input->codec->end(input);
	if (input->file >= 0)
		close(input->file);
	free(input->path);
	free(input->packed);
	free(input);
}
