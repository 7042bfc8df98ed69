/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/sink.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

enum kwhy_status kwhy_sink_open(
	struct kwhy_sink *sink, const char *path, bool compress, struct kwhy_error *error)
{
	*sink = (struct kwhy_sink){.path = path};
	sink->file = gzopen(path, compress ? "wb6" : "wbT");
	if (!sink->file)
		return kwhy_fail(error, KWHY_E_IO, "cannot write %s: %s", path, strerror(errno));
	gzbuffer(sink->file, KWHY_SINK_PIECE_BYTES);
	return KWHY_OK;
}

void kwhy_sink_drain(struct kwhy_sink *sink, size_t limit)
{
	if (sink->text.length <= limit)
		return;
	if (gzwrite(sink->file, sink->text.data, (unsigned)sink->text.length) != (int)sink->text.length)
		sink->failed = true;
	sink->failed |= sink->text.failed;
	kwhy_text_clear(&sink->text);
}

enum kwhy_status kwhy_sink_close(struct kwhy_sink *sink, struct kwhy_error *error)
{
	bool failed;

	kwhy_sink_drain(sink, 0);
	failed = sink->failed | sink->text.failed;
	failed |= gzclose(sink->file) != Z_OK;
	kwhy_text_done(&sink->text);
	return failed ? kwhy_fail(error, KWHY_E_IO, "cannot write %s: the disk is full or failed", sink->path)
		      : KWHY_OK;
}
