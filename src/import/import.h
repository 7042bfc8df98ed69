/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_IMPORT_H
#define KWHY_IMPORT_IMPORT_H

#include "base/status.h"
#include "model/learnt.h"
#include "model/profile.h"
#include "model/recording.h"

struct kwhy_import_options {
	bool partial; /* take what is whole, skip, count and note the rest */
	const char *
		collectives_path; /* table of further collective kernel names; NULL: the built-in one alone */
	const char *power_zone;	  /* of times without one: "+02:00", "UTC", "local"; NULL: not stated */
	const char *const *power_devices; /* "[RANK/]DEVICE=[HOST/]GPU" */
	size_t power_device_count;
};

/*
 * Reads one trace into a recording that is not finished yet; several traces are several ranks. The format
 * is found from the content, not the name: Kineto/Chrome JSON (plain, gzip, zstd), Nsight Systems sqlite,
 * kwhy CSV, a recording of kwhy (a file or a folder). A copy of an earlier trace is refused
 * (import/identity.h), and so is one of another run (import/one_run.h). An unusable file is KWHY_E_INPUT with
 * a sentence that names file, place and cure; the recording must then be freed.
 */
KWHY_MUST_USE enum kwhy_status kwhy_import_trace(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error);

/*
 * Reads power readings (docs/formats/csv.md); after the traces, before kwhy_recording_finish(). A copy of an
 * earlier power file is refused.
 */
KWHY_MUST_USE enum kwhy_status kwhy_import_power(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error);

/* Reads a machine profile (docs/formats/profile.md). kwhy_profile_free() ends it. */
KWHY_MUST_USE enum kwhy_status kwhy_import_profile(
	const char *path, struct kwhy_profile **out, struct kwhy_error *error);
void kwhy_profile_free(struct kwhy_profile *profile);

/* Reads powers that another recording taught (docs/formats/powers.md). kwhy_learnt_powers_free() ends it. */
KWHY_MUST_USE enum kwhy_status kwhy_import_powers(
	const char *path, struct kwhy_learnt_powers **out, struct kwhy_error *error);
/* Whether a file says that it holds such powers: else it may be a recording. */
bool kwhy_import_is_powers(const char *path);

#endif
