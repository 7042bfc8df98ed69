/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_CGROUP_H
#define KWHY_OWNERS_CGROUP_H

#include "base/span.h"
#include "owners/owner.h"

#include <stddef.h>

/*
 * Finds the owner of a process from its cgroups: the text of /proc/PID/cgroup, versions 1 and 2. Pure.
 *
 * The paths that these programs make are recognised: Slurm; the kubelet with containerd, cri-o and Docker
 * (cgroup drivers cgroupfs and systemd); Docker, Podman, containerd, LXC and systemd. Paths relative to the
 * root of another cgroup namespace ("/../../kubepods-...") are recognised, too.
 */
enum { KWHY_CONTAINER_ID_BYTES = 65, KWHY_POD_UID_BYTES = 37 };

struct kwhy_cgroup {
	/*
	 * Has kind, name and part; paths do not state user and namespace. The name of a pod is its uid. If
	 * no path is recognised, it is KWHY_OWNER_USER without a name.
	 */
	struct kwhy_owner owner;
	char container_id[KWHY_CONTAINER_ID_BYTES]; /* id of the container; "": the process is in no container
						     */
	char pod_uid[KWHY_POD_UID_BYTES];	    /* "": the process is in no pod */
	/*
	 * The cgroup that contains all processes of the owner and no others, in the hierarchy that counts
	 * CPU time: a path from the root of the cgroups. It points into the parsed text. Length 0: there is
	 * no such cgroup.
	 */
	struct kwhy_span cpu_path;
	bool is_v1; /* cpu_path belongs to the version 1 hierarchy of the controller cpuacct */
};

void kwhy_cgroup_parse(const char *text, size_t length, struct kwhy_cgroup *out);

#endif
