/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_OWNER_H
#define KWHY_OWNERS_OWNER_H

#include <stdbool.h>

/*
 * Who uses a device, as plain data. All texts are names that other programs chose: they are clean UTF-8 and
 * cut to the size of their field, and renderers escape them.
 */

#define KWHY_OWNER_KINDS(X)                                                                                 \
	X(SLURM, "slurm")	    /* a Slurm job: name is its id, part its step */                        \
	X(KUBERNETES, "kubernetes") /* a pod: name or uid, part is its container */                         \
	X(CONTAINER, "container") /* a container outside of Kubernetes: name is its id, part its runtime */ \
	X(UNIT, "unit")		  /* a unit of systemd */                                                   \
	X(USER, "user")		  /* processes of a user's session */                                       \
	X(MAPPED, "job")	  /* a job that the folder of `--job-mapping` names */                      \
	X(UNKNOWN, "unknown")	  /* something ran that cannot be seen from here */                         \
	X(IDLE, "idle")		  /* nothing held the device; or, of the host, nobody with a device */      \
	X(UNWATCHED, "unwatched") /* used while `kwhy serve` did not run */                                 \
	X(OTHER, "other")	  /* owners beyond the limit of labels, added up */

enum kwhy_owner_kind {
#define X(kind, text) KWHY_OWNER_##kind,
	KWHY_OWNER_KINDS(X)
#undef X
		KWHY_OWNER_KIND_COUNT
};

const char *kwhy_owner_kind_name(enum kwhy_owner_kind kind);
/* Finds the kind of a name; false: there is none. */
bool kwhy_owner_kind_find(const char *name, enum kwhy_owner_kind *out);

enum {
	KWHY_OWNER_NAME_BYTES = 128,
	KWHY_OWNER_PART_BYTES = 72,
	KWHY_OWNER_SPACE_BYTES = 72,
	KWHY_OWNER_USER_BYTES = 36
};

struct kwhy_owner {
	enum kwhy_owner_kind kind;
	/* Each text is "" where the kind has none or it is unknown. */
	char name[KWHY_OWNER_NAME_BYTES];
	char part[KWHY_OWNER_PART_BYTES];
	char space[KWHY_OWNER_SPACE_BYTES]; /* namespace of the pod */
	char user[KWHY_OWNER_USER_BYTES];   /* login name, or the number if it has no name here */
};

/* Whether the owner is a program's and not idle time, unwatched time or a sum. */
bool kwhy_owner_is_program(enum kwhy_owner_kind kind);

bool kwhy_owner_is_same(const struct kwhy_owner *a, const struct kwhy_owner *b);

/* Copies `length` bytes as clean UTF-8, cut at a code point to fit into out_bytes with a NUL. */
void kwhy_owner_text(char *out, unsigned long out_bytes, const char *bytes, unsigned long length);

#endif
