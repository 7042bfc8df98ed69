/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/energy_post.h"

#include "ledger/energy/energy_lag.h"
#include "ledger/energy/post.h"

#include <math.h>
#include <stdlib.h>

#define CHECKED_LEAST 3

static enum kwhy_status posting_allocate(
	struct kwhy_posting *posting, size_t classes, size_t intervals, struct kwhy_error *error)
{
	*posting = (struct kwhy_posting){
		.class_count = classes,
		.gross_nj = calloc(classes + 1, sizeof(int64_t)),
		.net_s = calloc(classes + 1, sizeof(double)),
		.base_s = calloc(classes + 1, sizeof(double)),
		.base_unscaled_s = calloc(classes + 1, sizeof(double)),
		.scale = calloc(intervals + 1, sizeof(double)),
	};
	if (posting->gross_nj && posting->net_s && posting->base_s && posting->base_unscaled_s &&
		posting->scale)
		return KWHY_OK;
	kwhy_posting_done(posting);
	return kwhy_fail_memory(error, "the books");
}

void kwhy_posting_done(struct kwhy_posting *posting)
{
	free(posting->gross_nj);
	free(posting->net_s);
	free(posting->base_s);
	free(posting->base_unscaled_s);
	free(posting->scale);
	*posting = (struct kwhy_posting){0};
}

static void add_seen(struct kwhy_posting *posting, const struct kwhy_metered_view *view, size_t interval)
{
	size_t classes = view->class_count;
	const double *seen_s = view->seen_s + interval * (2 * classes + 1);
	double scale = posting->scale[interval];

	for (size_t c = 0; c < classes; c++)
		posting->net_s[c] += scale * seen_s[c];
	for (size_t c = 0; c <= classes; c++) {
		posting->base_s[c] += scale * seen_s[classes + c];
		posting->base_unscaled_s[c] += seen_s[classes + c];
	}
}

enum kwhy_status kwhy_posting_init(struct kwhy_posting *posting, const struct kwhy_metered_total *total,
	const struct kwhy_metered_view *view, const struct kwhy_powers *powers, struct kwhy_error *error)
{
	size_t classes = view->class_count;
	struct kwhy_post post = {0};
	double *modelled_nj = calloc(classes + 1, sizeof(*modelled_nj));
	enum kwhy_status status = posting_allocate(posting, classes, total->count, error);

	if (!status)
		status = modelled_nj ? kwhy_post_init(&post, classes + 1, error)
				     : kwhy_fail_memory(error, "the books");
	for (size_t i = 0; !status && i < total->count; i++) {
		double sum_nj = kwhy_metered_view_energy_nj(view, i, powers, modelled_nj);
		int64_t energy_nj = total->intervals[i].energy_nj;

		posting->scale[i] = sum_nj > 0 ? (double)energy_nj / sum_nj : NAN;
		kwhy_post_divide(&post, energy_nj, modelled_nj, classes + 1, classes, posting->gross_nj);
		if (sum_nj > 0)
			add_seen(posting, view, i);
	}
	kwhy_post_done(&post);
	free(modelled_nj);
	if (status)
		kwhy_posting_done(posting);
	return status;
}

/* False where the meter still remembers time that the recording does not cover. */
static bool is_seen(
	const struct kwhy_metered_view *view, const struct kwhy_metered_interval *interval, size_t at)
{
	size_t classes = view->class_count;
	const double *base_s = view->seen_s + at * (2 * classes + 1) + classes;
	double sum_s = 0;

	for (size_t c = 0; c <= classes; c++)
		sum_s += base_s[c];
	return sum_s > 0.999e-9 * (double)(interval->end_ns - interval->start_ns);
}

enum kwhy_status kwhy_posting_check(const struct kwhy_metered_total *total,
	const struct kwhy_powers_question *question, const struct kwhy_powers *powers, double *out_ratio,
	struct kwhy_error *error)
{
	struct kwhy_metered_view view;
	double *modelled_nj, squares = 0, delay_s;
	size_t count = 0;
	enum kwhy_status status = kwhy_energy_lag_find(total, question, powers, &delay_s, error);

	if (!status)
		status = kwhy_metered_view_init(&view, total, question, powers->tau_s, delay_s, error);
	if (status)
		return status;
	modelled_nj = calloc(view.class_count + 1, sizeof(*modelled_nj));
	for (size_t i = 0; modelled_nj && i < total->count; i++) {
		double sum_nj = kwhy_metered_view_energy_nj(&view, i, powers, modelled_nj);

		if (total->intervals[i].energy_nj <= 0 || !is_seen(&view, &total->intervals[i], i))
			continue;
		squares += pow(sum_nj / (double)total->intervals[i].energy_nj - 1, 2);
		count++;
	}
	kwhy_metered_view_done(&view);
	if (!modelled_nj)
		return kwhy_fail_memory(error, "metered intervals");
	free(modelled_nj);
	*out_ratio = count >= CHECKED_LEAST ? sqrt(squares / (double)count) : NAN;
	return KWHY_OK;
}
