/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_ROCPROF_FIELDS_H
#define KWHY_IMPORT_ROCPROF_FIELDS_H

#include "import/kineto/walk.h"
#include "import/rocprof/rocprof.h"

/*
 * This header reads chosen fields of the JSON objects that rocprofv3 writes into its JSON files and into
 * columns of its databases. Numbers are read from their digits, because JSON libraries refuse hashes and ids
 * that take all 64 bits.
 */

struct kwhy_rocprof_field {
	const char *parent; /* key of the object that contains the field; "": the outermost object */
	const char *key;
};

struct kwhy_rocprof_value {
	int64_t number; /* KWHY_ROCPROF_UNKNOWN: the field is missing or its value is no number in the range
			   of int64_t */
	struct kwhy_span text; /* the text without its quotes, escapes not decoded; empty: the field is
				  missing or no text */
};

#define KWHY_ROCPROF_FIELDS_MAX 32

/*
 * Reads `fields` of the object at which the walk stands, and of objects inside it, into out[count].
 * kwhy_kineto_walk_skip() must have checked the grammar of the object before.
 */
void kwhy_rocprof_fields_walk(struct kwhy_kineto_walk walk, const struct kwhy_rocprof_field *fields,
	size_t count, struct kwhy_rocprof_value *out);

/*
 * Reads `fields` of a text that is a JSON object into out[count]. In any other text all fields are missing.
 */
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_fields_read(struct kwhy_span text,
	const struct kwhy_rocprof_field *fields, size_t count, struct kwhy_rocprof_value *out,
	struct kwhy_error *error);

/* The fields that describe an agent, and the conversion of their values to figures. */
enum { KWHY_ROCPROF_AGENT_FIELDS = 15 };
extern const struct kwhy_rocprof_field kwhy_rocprof_agent_fields[KWHY_ROCPROF_AGENT_FIELDS];
struct kwhy_rocprof_figures kwhy_rocprof_figures_of(
	const struct kwhy_rocprof_value values[KWHY_ROCPROF_AGENT_FIELDS]);

/*
 * Reads rank and number of ranks from the program's environment variables, a JSON object, in which launchers
 * set them; KWHY_ROCPROF_UNKNOWN: not set.
 */
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_ranks_read(
	struct kwhy_span environment, struct kwhy_rocprof_ranks *out, struct kwhy_error *error);

#endif
