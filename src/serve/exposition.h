/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_EXPOSITION_H
#define KWHY_SERVE_EXPOSITION_H

#include "base/text.h"

#include <stdbool.h>

/*
 * Writes metrics as text, in the form of Prometheus 0.0.4 or of OpenMetrics 1.0.0. A family is described
 * once, with its first sample, so a family without samples is absent. Failures stay in `out`.
 */
enum kwhy_exposition_form { KWHY_EXPOSITION_PROMETHEUS, KWHY_EXPOSITION_OPENMETRICS };

/* The Content-Type header of each form. */
const char *kwhy_exposition_content_type(enum kwhy_exposition_form form);

enum kwhy_family_kind { KWHY_FAMILY_GAUGE, KWHY_FAMILY_COUNTER, KWHY_FAMILY_INFO };

struct kwhy_family {
	const char *name; /* without _total and _info, which `kind` adds; ends in its unit */
	enum kwhy_family_kind kind;
	const char *unit; /* base unit, plural; "": no unit */
	const char *help; /* one sentence */
};

struct kwhy_exposition {
	struct kwhy_text *out;
	enum kwhy_exposition_form form;
	const struct kwhy_family *described; /* the family last written */
};

struct kwhy_label {
	const char *name, *value; /* value NULL: the label is left out */
};

enum { KWHY_LABELS_MAX = 8 }; /* including the end */

/* Writes one sample. `labels` end with a NULL name. A `value` of NAN is unknown and is not written. */
void kwhy_exposition_add(struct kwhy_exposition *exposition, const struct kwhy_family *family,
	const struct kwhy_label *labels, double value);

/* Writes the end that the form requires. */
void kwhy_exposition_end(struct kwhy_exposition *exposition);

#endif
