/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/block.h"

#include <limits.h>
#include <zlib.h>

enum { GZIP_WINDOW = 15 + 16, CHUNK = 64 << 10 };

static void add_base64(struct kwhy_text *out, const unsigned char *bytes, size_t length)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < length; i += 3) {
		size_t left = length - i;
		unsigned word = (unsigned)bytes[i] << 16 | (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
			(left > 2 ? bytes[i + 2] : 0);
		char four[4] = {digits[word >> 18], digits[word >> 12 & 63],
			left > 1 ? digits[word >> 6 & 63] : '=', left > 2 ? digits[word & 63] : '='};

		kwhy_text_add_bytes(out, four, sizeof(four));
	}
}

/*
 * Compresses `length` bytes with deflate and appends the result to `out`. It passes at most UINT_MAX / 2
 * bytes in one call, since zlib's avail_in has 32 bits.
 */
static int deflate_all(z_stream *stream, const unsigned char *bytes, size_t length, struct kwhy_text *out)
{
	unsigned char chunk[CHUNK];
	int result = Z_OK;

	do {
		size_t part = length > UINT_MAX / 2 ? UINT_MAX / 2 : length;

		stream->next_in = (unsigned char *)bytes;
		stream->avail_in = (uInt)part;
		bytes += part;
		length -= part;
		do {
			stream->next_out = chunk;
			stream->avail_out = CHUNK;
			result = deflate(stream, length ? Z_NO_FLUSH : Z_FINISH);
			kwhy_text_add_bytes(out, chunk, CHUNK - stream->avail_out);
		} while (stream->avail_out == 0);
	} while (length);
	return result;
}

static enum kwhy_status gzip(
	const void *bytes, size_t length, struct kwhy_text *out, struct kwhy_error *error)
{
	z_stream stream = {0};
	int result;

	if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		return kwhy_fail_memory(error, "compressing the page");
	result = deflate_all(&stream, bytes, length, out);
	deflateEnd(&stream);
	if (result != Z_STREAM_END || out->failed)
		return kwhy_fail_memory(error, "compressing the page");
	return KWHY_OK;
}

enum kwhy_status kwhy_page_block(
	const char *id, const void *bytes, size_t length, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_text packed = {0};
	enum kwhy_status status = gzip(bytes, length, &packed, error);

	if (!status) {
		kwhy_text_addf(out, "<script id=\"%s\" type=\"application/octet-stream\">", id);
		add_base64(out, (const unsigned char *)packed.data, packed.length);
		kwhy_text_add(out, "</script>\n");
		status = kwhy_text_check(out, error);
	}
	kwhy_text_done(&packed);
	return status;
}
