/* SPDX-License-Identifier: Apache-2.0 */
#include "import/nsys/export.h"
#include "import/nsys/nsys.h"
#include "import/reader.h"

#include <string.h>
#include <strings.h>

/* Timeout of nsys, 30 minutes; for a report of some GiB it needs minutes. */
enum { TIMEOUT_MS = 30 * 60 * 1000 };

static bool ends_in(const char *path, const char *suffix)
{
	size_t length = strlen(path), tail = strlen(suffix);

	return length >= tail && !strcasecmp(path + length - tail, suffix);
}

/* Recognises a report by its name, because its format is private to Nsight Systems. */
static bool probe_report(const char *path, const unsigned char *head, size_t length)
{
	(void)head;
	(void)length;
	return ends_in(path, ".nsys-rep") || ends_in(path, ".qdrep");
}

static enum kwhy_status read_report(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error)
{
	struct kwhy_nsys_export made;
	enum kwhy_status status = kwhy_nsys_export_make(&made, path, TIMEOUT_MS, error);

	if (status)
		return status;
	status = kwhy_nsys_read(recording,
		&(struct kwhy_sqlite_file){made.database, path, "record it again with \"nsys profile\""},
		options, error);
	kwhy_nsys_export_remove(&made);
	return status;
}

const struct kwhy_trace_reader kwhy_reader_nsys_report = {.probe = probe_report, .read = read_report};
