/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_PROGRESS_H
#define KWHY_CLI_PROGRESS_H

#include <stdbool.h>

/*
 * One line on stderr that says what a long job is at and for how long: only when stderr is a terminal, and
 * only once the job has taken two seconds. A thread of its own draws it.
 */
struct kwhy_progress;

/* NULL when there is nothing to draw on; every call below takes NULL. */
struct kwhy_progress *kwhy_progress_begin(bool quiet);
/* `what` must outlive the step: "reading", with `of` the file or NULL. */
void kwhy_progress_step(struct kwhy_progress *progress, const char *what, const char *of);
/* Wipes the line. */
void kwhy_progress_end(struct kwhy_progress *progress);

#endif
