/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RECORDINGS_PATH_LIST_H
#define KWHY_CLI_RECORDINGS_PATH_LIST_H

#include "base/arena.h"
#include "cli/options.h"

#include <stdbool.h>

/* A list of files of any length. Zero-initialise; end with kwhy_path_list_done(). */
struct kwhy_path_list {
	const char **items;
	size_t count;
	struct kwhy_arena arena;
};

/*
 * Adds the operands of a command: files and folders as they are, the lines of standard input for "-", and
 * the files that a pattern such as "digests/rank-*" matches if no file has that name.
 */
KWHY_MUST_USE enum kwhy_status kwhy_path_list_add(
	struct kwhy_path_list *list, const struct kwhy_operands *operands, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_path_list_add_one(
	struct kwhy_path_list *list, const char *path, struct kwhy_error *error);
void kwhy_path_list_done(struct kwhy_path_list *list);

#endif
