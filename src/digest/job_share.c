/* SPDX-License-Identifier: Apache-2.0 */
#include "digest/heads.h"
#include "digest/joining.h"

#include <math.h>

/* Reduces the energies of shared devices to those of one rank. */

static void reduce(int64_t *energy_nj, double ratio)
{
	if (*energy_nj != INT64_MIN)
		*energy_nj = llround((double)*energy_nj * ratio);
}

static void reduce_device(struct kwhy_digest *digest, uint32_t device, double ratio)
{
	reduce(&digest->device[device].measured_nj, ratio);
	reduce(&digest->device[device].attributed_nj, ratio);
	reduce(&digest->device[device].run_nj, ratio);
	reduce(&digest->device[device].run_unmetered_nj, ratio);
	for (size_t i = 0; i < digest->category_count; i++) {
		struct kwhy_digest_category *row = &digest->category[i];

		if (row->device == device) {
			reduce(&row->gross_nj, ratio);
			reduce(&row->idle_nj, ratio);
			reduce(&row->net_nj, ratio);
		}
	}
	for (size_t i = 0; i < digest->account_count; i++) {
		struct kwhy_digest_account *row = &digest->account[i];

		if (row->device == device) {
			reduce(&row->gross_nj, ratio);
			reduce(&row->idle_nj, ratio);
			reduce(&row->net_nj, ratio);
		}
	}
	for (size_t i = 0; i < digest->finding_count; i++) {
		struct kwhy_digest_finding *row = &digest->finding[i];

		if (row->device == device || (row->device == UINT32_MAX && digest->device_count == 1)) {
			reduce(&row->energy_nj, ratio);
			reduce(&row->saved_nj, ratio);
		}
	}
}

void kwhy_job_divide(struct kwhy_digest *digest, const struct kwhy_head *head)
{
	/* The file may have other devices now than when its head was read. */
	for (uint32_t d = 0; d < digest->device_count && d < head->device_count; d++)
		if (head->each[d].is_shared)
			reduce_device(digest, d, head->each[d].energy_ratio);
}
