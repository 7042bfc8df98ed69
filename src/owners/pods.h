/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_PODS_H
#define KWHY_OWNERS_PODS_H

#include "owners/cgroup.h"
#include "owners/owner.h"

/*
 * Sets name, namespace and container of a pod from the names of the kubelet's log files below `root`:
 * var/log/containers/POD_NAMESPACE_CONTAINER-ID.log or, without that file, name and namespace from the folder
 * var/log/pods/NAMESPACE_POD_UID. What is not found stays as kwhy_cgroup_parse() set it: the uid as the pod's
 * name, "" as its namespace, and the first digits of the container's id as the container.
 */
void kwhy_pod_name(const char *root, const struct kwhy_cgroup *cgroup, struct kwhy_owner *owner);

#endif
