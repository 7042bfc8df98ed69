/* SPDX-License-Identifier: Apache-2.0 */
#include "import/trace_head.h"

#include "import/stream.h"

enum kwhy_status kwhy_trace_head_read(const char *path, unsigned char out[KWHY_TRACE_HEAD_BYTES],
	size_t *out_length, struct kwhy_error *error)
{
	struct kwhy_stream *stream;
	enum kwhy_status status = kwhy_stream_open(path, &stream, error);

	if (status)
		return status;
	status = kwhy_stream_read(stream, out, KWHY_TRACE_HEAD_BYTES, out_length, error);
	kwhy_stream_close(stream);
	return status;
}
