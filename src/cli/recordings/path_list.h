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
 * Adds the operands of a command to the list. "-" stands for the paths on standard input, one per line. A
 * pattern such as "digests/rank-*" stands for the files that it matches, unless a file has that very name; a
 * pattern without matches is added as it is, like all other operands.
 */
KWHY_MUST_USE enum kwhy_status kwhy_path_list_add(
	struct kwhy_path_list *list, const struct kwhy_operands *operands, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_path_list_add_one(
	struct kwhy_path_list *list, const char *path, struct kwhy_error *error);
void kwhy_path_list_done(struct kwhy_path_list *list);

#endif
