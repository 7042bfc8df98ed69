/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_OUTPUT_H
#define KWHY_BASE_OUTPUT_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/*
 * Where an output goes. Everything that creates, replaces or extends a file which a user names goes through
 * here, since another user may have put something there first. The rule for the last part of the name:
 *  - a link is followed if the link and its folder belong to this user or root and not everybody may write to
 *    the folder; else it is refused. Where it leads need not be there yet; the link itself stays.
 *  - what /proc shows of open files (/dev/stdout, /dev/fd/N, >(command)) is written to as it is;
 *  - a device, a pipe or a file that is extended is refused in a folder that others may write to, unless it
 *    belongs to this user or root.
 * A file that replaces another has the other's permission bits (0777) if that one was a regular file of this
 * user, else what the umask leaves; never its owner or its setuid, setgid and sticky bits.
 */
struct kwhy_output {
	int folder;	   /* open; -1: none */
	char name[256];	   /* in there; no link */
	struct stat facts; /* of what is there */
	bool exists;
	bool is_in_proc; /* it leads to an open file of some process */
};

/* End with kwhy_output_done(). KWHY_E_IO: the sentence names file, place and cure. */
KWHY_MUST_USE enum kwhy_status kwhy_output_find(
	const char *path, struct kwhy_output *out, struct kwhy_error *error);
void kwhy_output_done(struct kwhy_output *output);

/* A regular file of this user, whose permission bits are kept. */
bool kwhy_output_keeps_mode(const struct kwhy_output *output);
/* Neither a regular file nor nothing: written to, never replaced. */
bool kwhy_output_is_direct(const struct kwhy_output *output);

enum kwhy_output_how {
	KWHY_OUTPUT_TRUNCATE, /* made if need be, emptied */
	KWHY_OUTPUT_APPEND,   /* made if need be, written at the end */
	KWHY_OUTPUT_AS_IT_IS, /* must be there; nothing is changed by opening */
};

/* The descriptor is the caller's. */
KWHY_MUST_USE enum kwhy_status kwhy_output_open(
	const char *path, enum kwhy_output_how how, int *out_file, struct kwhy_error *error);
/* A folder that is there already serves, also through a link that the rule allows. */
KWHY_MUST_USE enum kwhy_status kwhy_output_folder(const char *path, struct kwhy_error *error);

/* The sentence for errno. */
KWHY_MUST_USE enum kwhy_status kwhy_output_fail(const char *path, struct kwhy_error *error);

#endif
