/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_OWNER_H
#define KWHY_OWNERS_OWNER_H

#include <stdbool.h>

/*
 * Who uses a device, as plain data. All texts are names that other programs chose. They are stored as valid
 * UTF-8 without control characters, cut to the size of their field; whoever prints them must escape them.
 */

#define KWHY_OWNER_KINDS(X)                                                                                 \
	X(SLURM, "slurm")	    /* a Slurm job: name is its id, part its step */                        \
	X(KUBERNETES, "kubernetes") /* a pod: name is its name or, if that is unknown, its uid; part is its \
				       container */                                                         \
	X(CONTAINER, "container")   /* a container outside Kubernetes: name is its id, part its runtime */  \
	X(UNIT, "unit")		    /* a unit of systemd */                                                 \
	X(USER, "user")		    /* processes of a user's session */                                     \
	X(MAPPED, "job")	    /* a job that the folder of `--job-mapping` names */                    \
	X(UNKNOWN, "unknown") /* something ran on the device, but kwhy cannot see its process, for example  \
				 in another PID namespace */                                                \
	X(IDLE, "idle") /* no process held the device; of the host's energy: the part that the owners of    \
			   devices did not cause */                                                         \
	X(UNWATCHED, "unwatched") /* energy used while `kwhy serve` did not run */                          \
	X(OTHER, "other")	  /* sum over the owners beyond the limit of labels */

enum kwhy_owner_kind {
#define X(kind, text) KWHY_OWNER_##kind,
	KWHY_OWNER_KINDS(X)
#undef X
		KWHY_OWNER_KIND_COUNT
};

const char *kwhy_owner_kind_name(enum kwhy_owner_kind kind);
/* Finds the kind with this name. False: there is none. */
bool kwhy_owner_kind_find(const char *name, enum kwhy_owner_kind *out);

enum {
	KWHY_OWNER_NAME_BYTES = 128,
	KWHY_OWNER_PART_BYTES = 72,
	KWHY_OWNER_SPACE_BYTES = 72,
	KWHY_OWNER_USER_BYTES = 36
};

struct kwhy_owner {
	enum kwhy_owner_kind kind;
	/* "" in each text: this kind of owner has no such text, or it is unknown */
	char name[KWHY_OWNER_NAME_BYTES];
	char part[KWHY_OWNER_PART_BYTES];
	char space[KWHY_OWNER_SPACE_BYTES]; /* namespace of the pod */
	char user[KWHY_OWNER_USER_BYTES]; /* login name; the user's number if this machine has no name for it
					   */
};

/*
 * Whether owners of this kind are programs, known or not; the other kinds are idle time, unwatched time and
 * a sum.
 */
bool kwhy_owner_is_program(enum kwhy_owner_kind kind);

bool kwhy_owner_is_same(const struct kwhy_owner *a, const struct kwhy_owner *b);

/*
 * Copies `length` bytes as valid UTF-8 without control characters, cut between two characters to fit into
 * out_bytes with a NUL.
 */
void kwhy_owner_text(char *out, unsigned long out_bytes, const char *bytes, unsigned long length);

#endif
