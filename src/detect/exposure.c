/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/exposure.h"

#include "base/column.h"

#include <stdlib.h>

struct bare_list {
	struct kwhy_exposure *exposure;
	size_t capacity;
	struct kwhy_error *error;
};

static enum kwhy_status add_bare(struct bare_list *list, int64_t start_ns, int64_t end_ns)
{
	struct kwhy_exposure *exposure = list->exposure;
	enum kwhy_status status;
	int64_t before_ns = 0;

	if (start_ns >= end_ns)
		return KWHY_OK;
	status = kwhy_column_reserve((void **)&exposure->bare, &list->capacity, exposure->count + 1,
		sizeof(*exposure->bare), "intervals without kernels", list->error);
	if (status)
		return status;
	if (exposure->count) {
		const struct kwhy_bare *last = &exposure->bare[exposure->count - 1];

		before_ns = last->before_ns + last->end_ns - last->start_ns;
	}
	exposure->bare[exposure->count++] = (struct kwhy_bare){start_ns, end_ns, before_ns};
	return KWHY_OK;
}

enum kwhy_status kwhy_exposure_init(struct kwhy_exposure *exposure, const struct kwhy_detect_view *view,
	uint32_t device, unsigned kinds, struct kwhy_error *error)
{
	const struct kwhy_activities *rows = &view->recording->activities;
	const struct kwhy_device_view *seen = &view->devices[device];
	struct bare_list list = {.exposure = exposure, .error = error};
	int64_t reach_ns = seen->first_ns;
	enum kwhy_status status = KWHY_OK;

	*exposure = (struct kwhy_exposure){0};
	for (size_t i = seen->begin; !status && i < seen->end; i++) {
		if (!(kinds >> rows->kind[i] & 1) || rows->end_ns[i] <= rows->start_ns[i])
			continue;
		status = add_bare(&list, reach_ns, rows->start_ns[i]);
		reach_ns = rows->end_ns[i] > reach_ns ? rows->end_ns[i] : reach_ns;
	}
	if (!status)
		status = add_bare(&list, reach_ns, seen->last_ns);
	if (status)
		kwhy_exposure_done(exposure);
	return status;
}

void kwhy_exposure_done(struct kwhy_exposure *exposure)
{
	free(exposure->bare);
	*exposure = (struct kwhy_exposure){0};
}

/* Total length in ns of the exposed intervals, or parts of them, before time_ns. */
static int64_t bare_until(const struct kwhy_exposure *exposure, int64_t time_ns)
{
	size_t low = 0, high = exposure->count;
	const struct kwhy_bare *last;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (exposure->bare[middle].start_ns < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return 0;
	last = &exposure->bare[low - 1];
	return last->before_ns + (time_ns < last->end_ns ? time_ns : last->end_ns) - last->start_ns;
}

int64_t kwhy_exposure_ns(const struct kwhy_exposure *exposure, int64_t start_ns, int64_t end_ns)
{
	return bare_until(exposure, end_ns) - bare_until(exposure, start_ns);
}
