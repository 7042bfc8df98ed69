/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_CHANGES_H
#define KWHY_WHATIF_CHANGES_H

#include "whatif/change.h"

/* Declares the functions of all changes, which are defined in change_*.c. */
#define X(function, argument, number, least, bound, effort, risk, id, title, finding, premise, help) \
	void kwhy_whatif_##function(struct kwhy_whatif *, uint32_t, struct kwhy_whatif_effect *);
#include "whatif/changes.def"
#undef X

#endif
