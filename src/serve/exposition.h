/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_EXPOSITION_H
#define KWHY_SERVE_EXPOSITION_H

#include "base/text.h"

#include <stdbool.h>

/*
 * Writes metrics as text, in the format of Prometheus 0.0.4 or of OpenMetrics 1.0.0. A family is a set of
 * samples of one name with different labels; its description is written before its first sample, so all
 * samples of a family must be added in a row. If memory runs out, out->failed is set.
 */
enum kwhy_exposition_form { KWHY_EXPOSITION_PROMETHEUS, KWHY_EXPOSITION_OPENMETRICS };

/* The value of the Content-Type header for a format. */
const char *kwhy_exposition_content_type(enum kwhy_exposition_form form);

enum kwhy_family_kind { KWHY_FAMILY_GAUGE, KWHY_FAMILY_COUNTER, KWHY_FAMILY_INFO };

struct kwhy_family {
	const char *name; /* name that ends in `unit`, without the suffix _total or _info, which is added
			     according to `kind` */
	enum kwhy_family_kind kind;
	const char *unit; /* base unit in the plural, such as "joules"; "": no unit */
	const char *help; /* description for users, one sentence */
};

struct kwhy_exposition {
	struct kwhy_text *out;
	enum kwhy_exposition_form form;
	const struct kwhy_family *described; /* family whose description was written last; NULL: none yet */
};

struct kwhy_label {
	const char *name, *value; /* value NULL: the label is left out */
};

enum {
	KWHY_LABELS_MAX = 8
}; /* size of the callers' arrays of labels, including the entry with name NULL at the end */

/*
 * Writes one sample. If the sample before was of another family, the description of this family is written
 * first. `labels` end with a NULL name. A `value` that is not finite is unknown: nothing is written.
 */
void kwhy_exposition_add(struct kwhy_exposition *exposition, const struct kwhy_family *family,
	const struct kwhy_label *labels, double value);

/* Ends the text: adds "# EOF", which OpenMetrics requires; in the Prometheus format it does nothing. */
void kwhy_exposition_end(struct kwhy_exposition *exposition);

#endif
