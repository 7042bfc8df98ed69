/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "import/kineto/file.h"

#include <inttypes.h>

enum { SHOWN_MAX = 3 };

enum kwhy_status kwhy_kineto_unknown_add(
	struct kwhy_kineto_file *file, const char *text, size_t length, struct kwhy_error *error)
{
	struct kwhy_kineto_unknown *unknown = &file->unknown;
	enum kwhy_status status;
	uint32_t name;

	unknown->events++;
	status = kwhy_kineto_name(file, text, length, &name, error);
	if (status)
		return status;
	for (size_t i = 0; i < unknown->count; i++)
		if (unknown->kinds[i].name == name) {
			unknown->kinds[i].events++;
			return KWHY_OK;
		}
	if (unknown->count < KWHY_KINETO_UNKNOWN_MAX) {
		unknown->kinds[unknown->count].name = name;
		unknown->kinds[unknown->count++].events = 1;
	}
	return KWHY_OK;
}

/* Index of the kind with the most events among those whose `shown` is false. */
static size_t largest(const struct kwhy_kineto_unknown *unknown, const bool *shown)
{
	size_t best = unknown->count;

	for (size_t i = 0; i < unknown->count; i++)
		if (!shown[i] &&
			(best == unknown->count || unknown->kinds[i].events > unknown->kinds[best].events))
			best = i;
	return best;
}

void kwhy_kineto_unknown_list(const struct kwhy_kineto_file *file, struct kwhy_text *out)
{
	const struct kwhy_kineto_unknown *unknown = &file->unknown;
	bool shown[KWHY_KINETO_UNKNOWN_MAX] = {0};

	for (size_t i = 0; i < SHOWN_MAX && i < unknown->count; i++) {
		size_t row = largest(unknown, shown);
		const char *name = kwhy_names_get(&file->recording->names, unknown->kinds[row].name);

		shown[row] = true;
		kwhy_text_addf(out, "%s%" PRIu64 " of %s%.60s%s", i ? ", " : "", unknown->kinds[row].events,
			*name ? "\"" : "no category", name, *name ? "\"" : "");
	}
	if (unknown->count > SHOWN_MAX)
		kwhy_text_addf(out, ", and others");
}
