/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_PROGRESS_H
#define KWHY_CLI_PROGRESS_H

#include <stdbool.h>

/*
 * A line on standard error that shows the current step of a long job, and how long the job has run. It
 * appears if standard error is a terminal and the job has taken two seconds. A thread of its own draws it.
 */
struct kwhy_progress;

/*
 * Begins the line. NULL: nothing is drawn, because of `quiet` or because standard error is no terminal. All
 * functions below accept NULL.
 */
struct kwhy_progress *kwhy_progress_begin(bool quiet);
/*
 * Sets the current step. `what`, such as "reading", must stay valid until the next step. `of` is the file
 * that the step works on, or NULL.
 */
void kwhy_progress_step(struct kwhy_progress *progress, const char *what, const char *of);
/* Erases the line. */
void kwhy_progress_end(struct kwhy_progress *progress);

#endif
