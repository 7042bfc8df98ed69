/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_EXPOSITION_H
#define KWHY_SERVE_EXPOSITION_H

#include "base/text.h"

#include <stdbool.h>

/*
 * Writes metrics as text, in the format of Prometheus 0.0.4 or of OpenMetrics 1.0.0. A family is described
 * once, before its first sample, so a family without samples does not appear. A failure of memory stays in
 * `out`.
 */
enum kwhy_exposition_form { KWHY_EXPOSITION_PROMETHEUS, KWHY_EXPOSITION_OPENMETRICS };

/* The value of the Content-Type header for a format. */
const char *kwhy_exposition_content_type(enum kwhy_exposition_form form);

enum kwhy_family_kind { KWHY_FAMILY_GAUGE, KWHY_FAMILY_COUNTER, KWHY_FAMILY_INFO };

struct kwhy_family {
	const char *name; /* name without the endings _total and _info, which follow from `kind`; it ends in
			     `unit` */
	enum kwhy_family_kind kind;
	const char *unit; /* base unit in the plural, such as "joules"; "": no unit */
	const char *help; /* description for users, one sentence */
};

struct kwhy_exposition {
	struct kwhy_text *out;
	enum kwhy_exposition_form form;
	const struct kwhy_family *described; /* family that was described last; NULL: no family yet */
};

struct kwhy_label {
	const char *name, *value; /* value NULL: the label is left out */
};

enum { KWHY_LABELS_MAX = 8 }; /* number of entries of a list of labels, including the NULL at its end */

/* Writes one sample. `labels` end with a NULL name. A `value` of NAN is unknown and is not written. */
void kwhy_exposition_add(struct kwhy_exposition *exposition, const struct kwhy_family *family,
	const struct kwhy_label *labels, double value);

/* Writes the last line that OpenMetrics requires; Prometheus text has none. */
void kwhy_exposition_end(struct kwhy_exposition *exposition);

#endif
