/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_MODEL_CAP_H
#define KWHY_CLI_MODEL_CAP_H

#include "cli/model/page.h"
#include "fit/cap.h"

enum { KWHY_MODEL_CAP_GOALS = KWHY_CAP_GOAL_SLOWDOWN + 1 };

/*
 * Results of a sweep over settings, their fit, and the advice for each goal, as `kwhy model cap` and `kwhy
 * tune` show them.
 */
struct kwhy_model_cap {
	struct kwhy_cap cap;
	struct kwhy_cap_advice advice[KWHY_MODEL_CAP_GOALS];
	double slower_percent;
};

/* Computes the advice for each goal from the fit. */
void kwhy_model_cap_advise(struct kwhy_model_cap *answer);

void kwhy_model_cap_write(const struct kwhy_model_cap *answer, struct kwhy_model_page *page);

#endif
