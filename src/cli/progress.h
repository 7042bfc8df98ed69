/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_PROGRESS_H
#define KWHY_CLI_PROGRESS_H

#include <stdbool.h>

/*
 * One line on stderr that shows the present step of a long job and its duration. It appears only when stderr
 * is a terminal and the job has taken two seconds. A thread of its own draws it.
 */
struct kwhy_progress;

/* NULL: there is no terminal to draw on. Every function below accepts NULL. */
struct kwhy_progress *kwhy_progress_begin(bool quiet);
/* Names the step: `what`, "reading", must outlive it; `of` is the file, or NULL. */
void kwhy_progress_step(struct kwhy_progress *progress, const char *what, const char *of);
/* Erases the line. */
void kwhy_progress_end(struct kwhy_progress *progress);

#endif
