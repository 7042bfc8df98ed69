/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_IMPORT_H
#define KWHY_IMPORT_IMPORT_H

#include "base/status.h"
#include "model/learnt.h"
#include "model/profile.h"
#include "model/recording.h"

struct kwhy_import_options {
	bool partial;		      /* read the intact rows; skip, count and note the others */
	bool host_alone;	      /* take a trace that holds no work of a device, too */
	const char *collectives_path; /* table of further names of collective kernels; NULL: the built-in
					 table alone */
	const char *power_zone; /* time zone of times that state none: "+02:00", "UTC", "local"; NULL: not
				   stated */
	const char *const *power_devices; /* each "[RANK/]DEVICE=[HOST/]GPU" */
	size_t power_device_count;
};

/*
 * Reads one trace, or the traces of a folder, into a recording that is not finished yet. Several traces are
 * several ranks of one run. The format (model/trace_formats.def) is found from the content, not the name. A
 * copy of an earlier trace is refused (import/identity.h), and so is a trace of another run
 * (import/one_run.h). An unusable file is KWHY_E_INPUT with a message that names file, place and remedy; the
 * recording must then be freed.
 */
KWHY_MUST_USE enum kwhy_status kwhy_import_trace(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error);

/*
 * Reads power readings (docs/formats/csv.md). Called after the traces and before kwhy_recording_finish(). A
 * copy of an earlier power file is refused.
 */
KWHY_MUST_USE enum kwhy_status kwhy_import_power(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error);

/* Reads a machine profile (docs/formats/profile.md), which kwhy_profile_free() ends. */
KWHY_MUST_USE enum kwhy_status kwhy_import_profile(
	const char *path, struct kwhy_profile **out, struct kwhy_error *error);
void kwhy_profile_free(struct kwhy_profile *profile);

/*
 * Reads powers that were learnt from another recording (docs/formats/powers.md); kwhy_learnt_powers_free()
 * ends them.
 */
KWHY_MUST_USE enum kwhy_status kwhy_import_powers(
	const char *path, struct kwhy_learnt_powers **out, struct kwhy_error *error);
/* Whether a file states that it holds learnt powers; other files may be recordings. */
bool kwhy_import_is_powers(const char *path);

#endif
