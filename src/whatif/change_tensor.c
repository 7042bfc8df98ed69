/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/changes.h"

#include "model/gpu_generation.h"
#include "model/product_names.h"
#include "whatif/edits.h"

#include <stdlib.h>

/*
 * Change that runs matrix products on tensor cores, if their kernels have names of products on FP32 units.
 * Kernels that convert number formats would come in addition and are not counted, so the saving is an upper
 * bound.
 */

/*
 * For the lower bound of the saving, products are faster by SLOW_SHARE times the ratio of the peak rates.
 * With TF32, whole steps of a perceptron on an H200 were 3.0 times as fast, while the peak rates differ by a
 * factor of 7.4 (docs/results/projections.md).
 */
static const double SLOW_SHARE = 0.4;

/*
 * Ratio of the peak rates of FP32 matrix products on tensor cores (TF32) and on FP32 units, and whether it
 * was measured.
 */
struct speedup {
	double ratio; /* 0: the device has no tensor cores */
	bool is_measured;
};

static struct speedup speedup_of(const struct kwhy_whatif *whatif, uint32_t device)
{
	enum kwhy_tensor_cores cores = kwhy_gpu_generation_of(&whatif->recording->devices[device])
					       ->tensor_cores;
	const struct kwhy_profile *profile = whatif->profile;
	double measured = profile ? profile->peak_flop_per_s[KWHY_PRECISION_TF32] /
			profile->peak_flop_per_s[KWHY_PRECISION_FP32]
				  : 0;

	if (cores == KWHY_TENSOR_NONE)
		return (struct speedup){0, false};
	return measured > 1 ? (struct speedup){measured, true} : (struct speedup){KWHY_TENSOR_SPEEDUP, false};
}

/*
 * Returns, for each name, [name_count], whether it is that of a matrix product on FP32 units. The caller
 * frees the array. NULL: out of memory.
 */
static bool *mark_fp32_names(const struct kwhy_names *names)
{
	bool *marks = malloc(names->count + 1);

	for (uint32_t name = 0; marks && name < names->count; name++)
		marks[name] = kwhy_product_of(kwhy_names_get(names, name)) == KWHY_PRODUCT_FP32;
	return marks;
}

/* Whether an activity is a matrix product on FP32 units that no change has shortened yet. */
static bool is_fp32_product(const struct kwhy_whatif *whatif, const bool *fp32_names, uint32_t row)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;

	return rows->kind[row] == KWHY_ACTIVITY_KERNEL && fp32_names[rows->name[row]] &&
		!kwhy_whatif_row_is_dropped(whatif, row) &&
		kwhy_whatif_own_ns(whatif->graph, &whatif->graph->nodes[row]) >=
		rows->end_ns[row] - rows->start_ns[row];
}

void kwhy_whatif_use_tensor_cores(
	struct kwhy_whatif *whatif, uint32_t number, struct kwhy_whatif_effect *effect)
{
	const size_t *first = whatif->recording->activities.first;
	bool *fp32_names = mark_fp32_names(&whatif->recording->names);
	struct speedup used = {0};

	(void)number;
	whatif->out_of_memory |= !fp32_names;
	if (!fp32_names)
		return;
	for (uint32_t d = 0; d < whatif->recording->device_count; d++) {
		struct speedup speedup = speedup_of(whatif, d);
		double ratio = whatif->corner == KWHY_CORNER_SLOW ? SLOW_SHARE * speedup.ratio
								  : speedup.ratio;

		for (uint32_t row = (uint32_t)first[d]; ratio > 1 && row < first[d + 1]; row++) {
			if (!is_fp32_product(whatif, fp32_names, row))
				continue;
			kwhy_whatif_resize_row(whatif, row,
				(double)kwhy_whatif_own_ns(whatif->graph, &whatif->graph->nodes[row]) /
					ratio);
			effect->places++;
			used = speedup;
		}
	}
	free(fp32_names);
	if (effect->places)
		kwhy_whatif_say(effect,
			"%s matrix products on FP32 units take 1/%.3g of their time on tensor cores, as the "
			"peaks of %s differ, at most; kernels that convert types are not counted",
			KWHY_WHATIF_COUNT(effect->places), used.ratio,
			used.is_measured ? "the machine profile" : "data sheets");
	else
		kwhy_whatif_refuse(effect,
			"no kernel is named after a matrix product on FP32 units, or there are no tensor "
			"cores");
}
