/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/pods.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

/*
 * Splits a text at its first underscore. In the file names of the kubelet an underscore separates two names,
 * because names in Kubernetes contain none. False: there is no underscore, or the text before or after it is
 * empty.
 */
static bool split(struct kwhy_span text, struct kwhy_span *first, struct kwhy_span *second)
{
	const char *line = memchr(text.bytes, '_', text.length);

	if (!line || line == text.bytes)
		return false;
	*first = (struct kwhy_span){text.bytes, (size_t)(line - text.bytes)};
	*second = (struct kwhy_span){line + 1, text.length - first->length - 1};
	return second->length > 0;
}

/*
 * Finds the first entry of a folder whose name ends with `end`, and copies the name without this end. False:
 * there is none, or the copy would not fit.
 */
static bool find_entry(const char *folder, const char *end, char *out, size_t out_bytes)
{
	DIR *entries = opendir(folder);
	struct dirent *entry;
	const size_t end_length = strlen(end);
	bool found = false;

	while (entries && !found && (entry = readdir(entries))) {
		size_t length = strlen(entry->d_name);

		if (length <= end_length || length - end_length >= out_bytes ||
			strcmp(entry->d_name + length - end_length, end) != 0)
			continue;
		memcpy(out, entry->d_name, length - end_length);
		out[length - end_length] = '\0';
		found = true;
	}
	if (entries)
		closedir(entries);
	return found;
}

static bool name_by_container(const char *root, const struct kwhy_cgroup *cgroup, struct kwhy_owner *owner)
{
	char folder[320], end[80], name[512];
	struct kwhy_span pod, rest, space, container;

	if (!*cgroup->container_id)
		return false;
	snprintf(folder, sizeof(folder), "%s/var/log/containers", root);
	snprintf(end, sizeof(end), "-%s.log", cgroup->container_id);
	if (!find_entry(folder, end, name, sizeof(name)) ||
		!split((struct kwhy_span){name, strlen(name)}, &pod, &rest) ||
		!split(rest, &space, &container))
		return false;
	kwhy_owner_text(owner->name, sizeof(owner->name), pod.bytes, pod.length);
	kwhy_owner_text(owner->space, sizeof(owner->space), space.bytes, space.length);
	kwhy_owner_text(owner->part, sizeof(owner->part), container.bytes, container.length);
	return true;
}

static void name_by_pod(const char *root, const struct kwhy_cgroup *cgroup, struct kwhy_owner *owner)
{
	char folder[320], end[48], name[512];
	struct kwhy_span space, pod;

	snprintf(folder, sizeof(folder), "%s/var/log/pods", root);
	snprintf(end, sizeof(end), "_%s", cgroup->pod_uid);
	if (!find_entry(folder, end, name, sizeof(name)) ||
		!split((struct kwhy_span){name, strlen(name)}, &space, &pod))
		return;
	kwhy_owner_text(owner->name, sizeof(owner->name), pod.bytes, pod.length);
	kwhy_owner_text(owner->space, sizeof(owner->space), space.bytes, space.length);
}

void kwhy_pod_name(const char *root, const struct kwhy_cgroup *cgroup, struct kwhy_owner *owner)
{
	if (!name_by_container(root, cgroup, owner))
		name_by_pod(root, cgroup, owner);
}
