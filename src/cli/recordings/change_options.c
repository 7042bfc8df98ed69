/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recordings/change_options.h"

void kwhy_change_options_init(struct kwhy_change_options *options)
{
	*options = (struct kwhy_change_options){0};
	for (size_t i = 0; i < KWHY_CHANGE_OPTIONS; i++)
		options->numbers[i] = KWHY_COUNT_NOT_GIVEN;
}

enum kwhy_status kwhy_change_options_list(const struct kwhy_change_options *options,
	struct kwhy_whatif_request change_requests[KWHY_CHANGE_OPTIONS], size_t *out_count,
	struct kwhy_error *error)
{
	*out_count = 0;
	for (size_t i = 0; i < KWHY_CHANGE_OPTIONS; i++) {
		const struct kwhy_whatif_change *change = &kwhy_whatif_changes[i];
		uint64_t number = options->numbers[i];

		if (!options->flags[i] && number == KWHY_COUNT_NOT_GIVEN)
			continue;
		if (number != KWHY_COUNT_NOT_GIVEN && (number < change->least || number > UINT32_MAX))
			return kwhy_fail(error, KWHY_E_USAGE, "--%s takes a number from %u to %u", change->id,
				change->least, UINT32_MAX);
		change_requests[(*out_count)++] = (struct kwhy_whatif_request){
			change, number == KWHY_COUNT_NOT_GIVEN ? change->number : (uint32_t)number};
	}
	return KWHY_OK;
}
