/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_MODEL_CAP_H
#define KWHY_CLI_MODEL_CAP_H

#include "cli/model/page.h"
#include "fit/cap.h"

enum { KWHY_MODEL_CAP_GOALS = KWHY_CAP_GOAL_SLOWDOWN + 1 };

/*
 * Runs of a program under several power limits or clocks, the fit to them, and the setting that is advised
 * for each goal, as `kwhy model cap` and `kwhy tune` show them. slower_percent is the slowdown that the user
 * accepts.
 */
struct kwhy_model_cap {
	struct kwhy_cap cap;
	struct kwhy_cap_advice advice[KWHY_MODEL_CAP_GOALS];
	double slower_percent;
};

/* Computes answer->advice for each goal from answer->cap. */
void kwhy_model_cap_advise(struct kwhy_model_cap *answer);

void kwhy_model_cap_write(const struct kwhy_model_cap *answer, struct kwhy_model_page *page);

#endif
