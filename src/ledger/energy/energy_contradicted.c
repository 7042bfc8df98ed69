/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/energy_contradicted.h"

#include "ledger/energy/energy_apportion.h"

#include <math.h>
#include <stdlib.h>

#define TOGETHER_NS 200000000

/* Consecutive metered intervals, at least TOGETHER_NS long in all, that are compared as one. */
struct stretch {
	int64_t start_ns, length_ns;
	double metered_nj, modelled_nj;
};

static size_t list_stretches(const struct kwhy_metered_total *total, const struct kwhy_metered_view *view,
	const struct kwhy_powers *powers, double *scratch, struct stretch *out)
{
	struct stretch stretch = {0};
	size_t count = 0;

	for (size_t i = 0; i < total->count; i++) {
		const struct kwhy_metered_interval *interval = &total->intervals[i];

		if (kwhy_metered_view_unrecorded_s(view, i) > 0 ||
			!kwhy_apportioned_is_covered(view, interval, i))
			continue;
		if (!stretch.length_ns)
			stretch.start_ns = interval->start_ns;
		stretch.length_ns += interval->end_ns - interval->start_ns;
		stretch.metered_nj += (double)interval->energy_nj;
		stretch.modelled_nj += kwhy_metered_view_energy_nj(view, i, powers, scratch);
		if (stretch.length_ns < TOGETHER_NS)
			continue;
		out[count++] = stretch;
		stretch = (struct stretch){0};
	}
	return count;
}

static void compare(const struct stretch *stretches, size_t count, struct kwhy_contradiction *out)
{
	double metered_nj = 0, modelled_nj = 0, squares = 0, length_ns = 0, largest_nj = 0;

	for (size_t i = 0; i < count; i++) {
		metered_nj += stretches[i].metered_nj;
		modelled_nj += stretches[i].modelled_nj;
	}
	if (!(metered_nj > 0 && modelled_nj > 0))
		return;
	out->count = count;
	for (size_t i = 0; i < count; i++) {
		const struct stretch *stretch = &stretches[i];
		const double expected_nj = stretch->modelled_nj * metered_nj / modelled_nj;
		const double difference_nj = stretch->metered_nj - expected_nj;

		squares += (double)stretch->length_ns * pow(difference_nj / expected_nj, 2);
		length_ns += (double)stretch->length_ns;
		if (fabs(difference_nj) > largest_nj) {
			largest_nj = fabs(difference_nj);
			out->largest_ns = stretch->start_ns;
		}
	}
	out->scatter_ratio = sqrt(squares / length_ns);
}

enum kwhy_status kwhy_energy_contradiction(const struct kwhy_metered_total *total,
	const struct kwhy_metered_view *view, const struct kwhy_powers *powers,
	struct kwhy_contradiction *out, struct kwhy_error *error)
{
	struct stretch *stretches = calloc(total->count + 1, sizeof(*stretches));
	double *scratch = calloc(view->class_count + 1, sizeof(*scratch));
	enum kwhy_status status = KWHY_OK;

	*out = (struct kwhy_contradiction){0};
	if (!stretches || !scratch)
		status = kwhy_fail_memory(error, "metered intervals");
	else
		compare(stretches, list_stretches(total, view, powers, scratch, stretches), out);
	free(stretches);
	free(scratch);
	return status;
}
