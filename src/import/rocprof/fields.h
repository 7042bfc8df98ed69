/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_ROCPROF_FIELDS_H
#define KWHY_IMPORT_ROCPROF_FIELDS_H

#include "import/kineto/walk.h"
#include "import/rocprof/rocprof.h"

/*
 * Chosen fields of JSON objects, which rocprofv3 writes into its JSON files and into columns of its
 * databases. Numbers are read from their digits, because JSON libraries refuse hashes and ids that take all
 * 64 bits.
 */

struct kwhy_rocprof_field {
	const char *parent; /* key of the object that contains the field; "": the outermost object */
	const char *key;
};

struct kwhy_rocprof_value {
	int64_t number; /* KWHY_ROCPROF_UNKNOWN: the value is no whole number of at most 63 bits */
	struct kwhy_span
		text; /* the text without its quotes, escapes not decoded; empty: the value is no text */
};

#define KWHY_ROCPROF_FIELDS_MAX 32

/*
 * Reads the fields of the object at which the walk stands. Its grammar must have been checked by
 * kwhy_kineto_walk_skip().
 */
void kwhy_rocprof_fields_walk(struct kwhy_kineto_walk walk, const struct kwhy_rocprof_field *fields,
	size_t count, struct kwhy_rocprof_value *out);

/* Reads the fields of a text that is a JSON object. Any other text has no fields. */
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_fields_read(struct kwhy_span text,
	const struct kwhy_rocprof_field *fields, size_t count, struct kwhy_rocprof_value *out,
	struct kwhy_error *error);

/* The fields of an agent, and the figures that they state. */
enum { KWHY_ROCPROF_AGENT_FIELDS = 15 };
extern const struct kwhy_rocprof_field kwhy_rocprof_agent_fields[KWHY_ROCPROF_AGENT_FIELDS];
struct kwhy_rocprof_figures kwhy_rocprof_figures_of(
	const struct kwhy_rocprof_value values[KWHY_ROCPROF_AGENT_FIELDS]);

/*
 * Reads rank and number of ranks from the environment of the program, in which launchers set them;
 * KWHY_ROCPROF_UNKNOWN: not set.
 */
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_ranks_read(
	struct kwhy_span environment, struct kwhy_rocprof_ranks *out, struct kwhy_error *error);

#endif
