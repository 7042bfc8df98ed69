/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_CGROUP_H
#define KWHY_OWNERS_CGROUP_H

#include "base/span.h"
#include "owners/owner.h"

#include <stddef.h>

/*
 * What the cgroups of a process say about its owner: the text of /proc/PID/cgroup, versions 1 and 2. Pure.
 * Recognised are the paths of Slurm, of the kubelet with containerd, cri-o and Docker (drivers cgroupfs and
 * systemd), of Docker, Podman, containerd, LXC, and systemd. Paths seen from another cgroup namespace
 * ("/../../kubepods-...") are, too.
 */
enum { KWHY_CONTAINER_ID_BYTES = 65, KWHY_POD_UID_BYTES = 37 };

struct kwhy_cgroup {
	/*
	 * kind, name and part; user and namespace are not in a path. The name of a pod is its uid. Without
	 * any of the owners above it is KWHY_OWNER_USER without a name.
	 */
	struct kwhy_owner owner;
	char container_id[KWHY_CONTAINER_ID_BYTES]; /* id of the container; "": the process is in none */
	char pod_uid[KWHY_POD_UID_BYTES];	    /* "": not in a pod */
	/*
	 * The cgroup of the whole owner, as a path from the cgroups' root, in the hierarchy that counts CPU
	 * time; a part of the text that was parsed. Length 0: no cgroup belongs to the owner alone.
	 */
	struct kwhy_span cpu_path;
	bool is_v1; /* cpu_path is in the version 1 hierarchy of the controller cpuacct */
};

void kwhy_cgroup_parse(const char *text, size_t length, struct kwhy_cgroup *out);

#endif
