/* SPDX-License-Identifier: Apache-2.0 */
#include "report/potential.h"

#include <string.h>

static const struct {
	const char *id;
	enum kwhy_category category;
} targets[] = {
	{"small-copies", KWHY_CATEGORY_COPY},
	{"scalar-readbacks", KWHY_CATEGORY_SYNC},
	{"pageable-copies", KWHY_CATEGORY_COPY},
	{"redundant-syncs", KWHY_CATEGORY_SYNC},
	{"sync-after-every-op", KWHY_CATEGORY_SYNC},
	{"launch-bound", KWHY_CATEGORY_LAUNCH},
	{"tiny-kernel-chains", KWHY_CATEGORY_LAUNCH},
	{"under-filled-kernels", KWHY_CATEGORY_COMPUTE},
	{"batch-could-grow", KWHY_CATEGORY_COMPUTE},
	{"allocation-churn", KWHY_CATEGORY_ALLOC},
	{"memset-churn", KWHY_CATEGORY_MEMSET},
	{"unoverlapped-copies", KWHY_CATEGORY_COPY},
	{"round-trips", KWHY_CATEGORY_COPY},
	{"staged-peer-copies", KWHY_CATEGORY_COPY},
	{"exposed-collectives", KWHY_CATEGORY_COLLECTIVE},
	{"rank-imbalance", KWHY_CATEGORY_COLLECTIVE},
	{"host-gaps", KWHY_CATEGORY_HOST},
	{"idle-context", KWHY_CATEGORY_OUTSIDE},
	{"fp32-matmul", KWHY_CATEGORY_COMPUTE},
	{"dense-on-sparse", KWHY_CATEGORY_COMPUTE},
};

/* What a finding's cure acts on: the category whose time or energy it would take away. */
static enum kwhy_category category_of(const char *finding_id)
{
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
		if (strcmp(targets[i].id, finding_id) == 0)
			return targets[i].category;
	return KWHY_CATEGORY_COUNT;
}

static double share_of(const struct kwhy_finding *finding, int64_t whole_nj, int64_t whole_ns)
{
	if (whole_nj != KWHY_UNKNOWN_NJ && finding->saving.energy_nj != KWHY_UNKNOWN_NJ)
		return whole_nj > 0 ? (double)finding->saving.energy_nj / (double)whole_nj : 0;
	return whole_ns > 0 ? (double)finding->saving.time_ns / (double)whole_ns : 0;
}

enum kwhy_potential kwhy_potential_of(
	const struct kwhy_findings *findings, enum kwhy_category category, int64_t whole_nj, int64_t whole_ns)
{
	bool found = false;
	double best = 0;

	for (size_t i = 0; findings && i < findings->count; i++) {
		double share = share_of(&findings->items[i], whole_nj, whole_ns);

		if (category_of(findings->items[i].id) != category)
			continue;
		found = true;
		best = share > best ? share : best;
	}
	if (!found)
		return KWHY_POTENTIAL_NONE;
	return best >= 0.10 ? KWHY_POTENTIAL_HIGH : best >= 0.03 ? KWHY_POTENTIAL_MEDIUM : KWHY_POTENTIAL_LOW;
}

const char *kwhy_potential_name(enum kwhy_potential potential)
{
	static const char *const names[] = {"none found", "low", "medium", "high"};

	return names[potential];
}
