/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_EXPORT_EXPORT_H
#define KWHY_REPORT_EXPORT_EXPORT_H

#include "report/report.h"

/*
 * Formats that other tools read. Each is written row by row, so that memory use does not grow with the
 * recording. compress: writes gzip; false for formats that are uncompressed. An existing file at `path` is
 * overwritten. On failure the file may be incomplete, so callers write to a temporary name and rename it.
 */
struct kwhy_exporter {
	const char *name;	  /* "perfetto" */
	const char *extension;	  /* ".pftrace" */
	const char *description;  /* one line for the help */
	const char *uncompressed; /* why a file of this format is not compressed; NULL: it may be */
	/*
	 * true: this format has no meter readings that kwhy can read back, so a report on such a file is
	 * about time only
	 */
	bool loses_readings;
	/*
	 * true: this format does not mark the launches that kwhy probe repeated, so a report on such a file
	 * counts them as the program's own; nor does it have samples of performance counters, so such a
	 * report cannot estimate powers from them
	 */
	bool loses_bursts;
	enum kwhy_status (*write)(
		const struct kwhy_report *report, const char *path, bool compress, struct kwhy_error *error);
};

const struct kwhy_exporter *kwhy_exporter_find(const char *name); /* NULL: no exporter has that name */
/* Finds the format by the file's extension, which .gz may follow; NULL: no format has it. */
const struct kwhy_exporter *kwhy_exporter_of_file(const char *path);
/*
 * Checks that the name of a file fits the format. KWHY_E_USAGE: its extension is that of another format, or
 * it ends in .gz although the format is uncompressed.
 */
KWHY_MUST_USE enum kwhy_status kwhy_exporter_check_file(
	const struct kwhy_exporter *exporter, const char *path, struct kwhy_error *error);

extern const struct kwhy_exporter kwhy_export_perfetto, kwhy_export_chrome, kwhy_export_sqlite,
	kwhy_export_csv, kwhy_export_parquet, kwhy_export_powers;

#endif
