/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/changes.h"

#include "whatif/whatif.h"

#include <string.h>

#define ARGUMENT_NONE NULL
#define ARGUMENT_N "N"
#define ARGUMENT_OPTIONAL_N "[N]"

const struct kwhy_whatif_change kwhy_whatif_changes[KWHY_WHATIF_CHANGES] = {
#define X(function, argument, number, least, bound, effort, risk, id, title, finding, premise, help) \
	{id, title, ARGUMENT_##argument, number, least, KWHY_BOUND_##bound, KWHY_EFFORT_##effort,    \
		KWHY_RISK_##risk, finding, premise, kwhy_whatif_##function},
#include "whatif/changes.def"
#undef X
};

const size_t kwhy_whatif_change_count = KWHY_WHATIF_CHANGES;

const struct kwhy_whatif_change *kwhy_whatif_change_find(const char *id)
{
	for (size_t i = 0; i < kwhy_whatif_change_count; i++)
		if (strcmp(kwhy_whatif_changes[i].id, id) == 0)
			return &kwhy_whatif_changes[i];
	return NULL;
}
