/* SPDX-License-Identifier: Apache-2.0 */
#include "import/trace_head.h"

#include "import/input.h"

enum kwhy_status kwhy_trace_head_read(const char *path, unsigned char out[KWHY_TRACE_HEAD_BYTES],
	size_t *out_length, struct kwhy_error *error)
{
	struct kwhy_input *input;
	enum kwhy_status status = kwhy_input_open(path, &input, error);

	if (status)
		return status;
	status = kwhy_input_read(input, out, KWHY_TRACE_HEAD_BYTES, out_length, error);
	kwhy_input_close(input);
	return status;
}
