/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_IMPORT_H
#define KWHY_IMPORT_IMPORT_H

#include "base/status.h"
#include "model/learnt.h"
#include "model/profile.h"
#include "model/recording.h"

struct kwhy_import_options {
	bool partial;		      /* skip unusable rows and note their number, instead of failing */
	bool host_alone;	      /* whether a trace without any work of a device is accepted */
	const char *collectives_path; /* path of the user's table of collectives; NULL: only the built-in
					 table is used */
	const char *power_zone; /* time zone for those times in power files that have no zone: "+02:00", "UTC"
				   or "local"; NULL: the user gave no zone */
	const char *const *power_devices; /* each item assigns a device of the traces to a GPU of the power
					     files: "[RANK/]DEVICE=[HOST/]GPU" */
	size_t power_device_count;
	const char *const *power_paths; /* files of power readings that are read besides the traces */
	size_t power_path_count;
};

/*
 * Reads one trace, or the traces of a folder, into a recording that is not finished yet. Traces that are
 * read into one recording count as the ranks of one run. The format (model/trace_formats.def) is found from
 * the content; only for a damaged recording of kwhy, with `partial`, from the name. A copy of an earlier
 * trace is refused (import/identity.h), and so is a trace of another run (import/one_run.h). An unusable file
 * is KWHY_E_INPUT with a message that names file, place and remedy; the recording must then be freed.
 */
KWHY_MUST_USE enum kwhy_status kwhy_import_trace(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error);

/*
 * Reads a file of power readings (docs/formats/csv.md). Call it after kwhy_import_trace() and before
 * kwhy_recording_finish(). A copy of an earlier power file is refused.
 */
KWHY_MUST_USE enum kwhy_status kwhy_import_power(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error);

/*
 * Whether a file is a trace, by the start of its content. kwhy_import_trace() reads the files of a folder for
 * which this is true and leaves out the others, such as settings in JSON. False also if the file cannot be
 * read.
 */
bool kwhy_import_is_trace(const char *path);

/* Whether a file that begins with head[0, length) holds power readings that kwhy_import_power() can read. */
bool kwhy_import_is_power(const unsigned char *head, size_t length);

/* Reads a machine profile (docs/formats/profile.md). Free it with kwhy_profile_free(). */
KWHY_MUST_USE enum kwhy_status kwhy_import_profile(
	const char *path, struct kwhy_profile **out, struct kwhy_error *error);
void kwhy_profile_free(struct kwhy_profile *profile);

/*
 * Reads powers that were learnt from another recording (docs/formats/powers.md). Free them with
 * kwhy_learnt_powers_free().
 */
KWHY_MUST_USE enum kwhy_status kwhy_import_powers(
	const char *path, struct kwhy_learnt_powers **out, struct kwhy_error *error);

#endif
