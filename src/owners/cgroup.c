/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/cgroup.h"

#include <stdio.h>
#include <string.h>

/* What a component of a cgroup's path names if a row's pattern matches it. */
enum field { JOB, STEP, POD, POD_CONTAINER, CONTAINER_ID, CONTAINER_NAME, UNIT, NOTHING };

/*
 * Patterns of the components of paths. "*" matches any text. "$" any text, "#" a number, "@" the id of a
 * container (64 hexadecimal digits) and "!" the uid of a pod, and these four are also captured. The first row
 * that matches counts. above: text that must occur somewhere in the path before the component; NULL: none
 * needs to.
 */
static const struct {
	const char *pattern, *above;
	enum field field;
	const char *runtime; /* program that runs the container, for containers outside Kubernetes */
} rows[] = {
	{"job_#", "slurm", JOB, NULL},
	{"step_$", "slurm", STEP, NULL},
	{"pod!", NULL, POD, NULL},
	/* containerd is configured for cgroupfs, but the kubelet for systemd */
	{"*-pod!.slice:cri-containerd:@", NULL, POD_CONTAINER, "containerd"},
	{"*-pod!.slice", NULL, POD, NULL},
	{"cri-containerd-@.scope", NULL, CONTAINER_ID, "containerd"},
	{"crio-conmon-@.scope", NULL, NOTHING,
		NULL}, /* the process that monitors a container, which is not in it */
	{"crio-@.scope", NULL, CONTAINER_ID, "cri-o"},
	{"crio-@", NULL, CONTAINER_ID, "cri-o"},
	{"docker-@.scope", NULL, CONTAINER_ID, "docker"},
	{"libpod-conmon-@.scope", NULL, NOTHING, NULL},
	{"libpod-@.scope", NULL, CONTAINER_ID, "podman"},
	{"libpod-@", NULL, CONTAINER_ID, "podman"},
	{"nerdctl-@.scope", NULL, CONTAINER_ID, "containerd"},
	{"@", "docker", CONTAINER_ID, "docker"},
	{"@", NULL, CONTAINER_ID, "containerd"},
	{"lxc.payload.$", NULL, CONTAINER_NAME, "lxc"},
	{"session-*.scope", NULL, NOTHING, NULL},
	{"user@*.service", NULL, NOTHING, NULL},
	{"$.service", "system.slice", UNIT, NULL},
	{"$.scope", "system.slice", UNIT, NULL},
	{"$.scope", "machine.slice", UNIT, NULL},
};
enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

/* The texts that the wildcards of a pattern captured. */
struct captures {
	struct kwhy_span number, id, uid, text;
};

static size_t count_while(struct kwhy_span text, size_t most, bool (*is_part)(char c))
{
	size_t count = 0;

	while (count < text.length && count < most && is_part(text.bytes[count]))
		count++;
	return count;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool is_uid(char c)
{
	return is_hex(c) || c == '-' || c == '_';
}

/*
 * Captures the start of `text` for a wildcard. Returns the number of captured bytes; 0: the text does not
 * match. A uid has 36 characters, or 32 without dashes, as those of static pods.
 */
static size_t capture(char wildcard, struct kwhy_span text, struct captures *captures)
{
	size_t count;

	switch (wildcard) {
	case '#':
		count = count_while(text, 20, is_digit);
		captures->number = (struct kwhy_span){text.bytes, count};
		return count;
	case '@':
		count = count_while(text, KWHY_CONTAINER_ID_BYTES, is_hex);
		captures->id = (struct kwhy_span){text.bytes, count};
		return count == 64 ? count : 0;
	default: /* '!' */
		count = count_while(text, KWHY_POD_UID_BYTES, is_uid);
		captures->uid = (struct kwhy_span){text.bytes, count};
		return count == 36 || count == 32 ? count : 0;
	}
}

static struct kwhy_span after(struct kwhy_span text, size_t count)
{
	return (struct kwhy_span){text.bytes + count, text.length - count};
}

/* Whether the whole component matches the pattern, which has at most one "*" or "$". */
static bool fits(const char *pattern, struct kwhy_span text, struct captures *captures)
{
	for (; *pattern; pattern++) {
		size_t count = 1;

		if (*pattern == '*' || *pattern == '$') {
			for (count = text.length; count > 0; count--)
				if (fits(pattern + 1, after(text, count), captures)) {
					captures->text = (struct kwhy_span){text.bytes, count};
					return true;
				}
			return false;
		}
		if (strchr("#@!", *pattern)) {
			count = capture(*pattern, text, captures);
			if (!count)
				return false;
		} else if (!text.length || text.bytes[0] != *pattern) {
			return false;
		}
		text = after(text, count);
	}
	return text.length == 0;
}

/* State while a path is read, with the owner as far as it is known. */
struct walk {
	struct kwhy_span path;
	struct kwhy_cgroup *out;
	size_t owner_end; /* length of the start of the path that is the path of the owner's cgroup; 0: the
			     owner has no cgroup of its own */
};

static void set_container(struct walk *walk, struct kwhy_span id, const char *runtime, size_t end)
{
	struct kwhy_cgroup *out = walk->out;

	snprintf(out->container_id, sizeof(out->container_id), "%.*s", (int)id.length, id.bytes);
	if (out->owner.kind == KWHY_OWNER_KUBERNETES) {
		snprintf(out->owner.part, sizeof(out->owner.part), "%.12s", out->container_id);
		return;
	}
	if (out->owner.kind == KWHY_OWNER_SLURM)
		return; /* a container that the job started: the job stays the owner */
	out->owner.kind = KWHY_OWNER_CONTAINER;
	snprintf(out->owner.name, sizeof(out->owner.name), "%.12s", out->container_id);
	snprintf(out->owner.part, sizeof(out->owner.part), "%s", runtime);
	walk->owner_end = end;
}

static void set_pod(struct walk *walk, struct kwhy_span uid, size_t end)
{
	struct kwhy_cgroup *out = walk->out;

	snprintf(out->pod_uid, sizeof(out->pod_uid), "%.*s", (int)uid.length, uid.bytes);
	for (char *at = out->pod_uid; *at; at++)
		if (*at == '_')
			*at = '-';
	out->owner = (struct kwhy_owner){.kind = KWHY_OWNER_KUBERNETES};
	kwhy_owner_text(out->owner.name, sizeof(out->owner.name), out->pod_uid, strlen(out->pod_uid));
	walk->owner_end = end;
}

static void set_named(struct walk *walk, enum kwhy_owner_kind kind, struct kwhy_span name, size_t end)
{
	walk->out->owner = (struct kwhy_owner){.kind = kind};
	kwhy_owner_text(walk->out->owner.name, sizeof(walk->out->owner.name), name.bytes, name.length);
	walk->owner_end = end;
}

static void set_step(struct walk *walk, struct kwhy_span step)
{
	struct kwhy_owner *owner = &walk->out->owner;

	if (owner->kind == KWHY_OWNER_SLURM)
		kwhy_owner_text(owner->part, sizeof(owner->part), step.bytes, step.length);
}

static void take(struct walk *walk, size_t row, const struct captures *captures, struct kwhy_span component,
	size_t end)
{
	struct kwhy_owner *owner = &walk->out->owner;

	/*
	 * below user@N.service, users can make cgroups of any name, so jobs and pods are not believed there
	 */
	if (rows[row].field <= POD_CONTAINER &&
		memmem(walk->path.bytes, (size_t)(component.bytes - walk->path.bytes), "/user@", 6))
		return;
	switch (rows[row].field) {
	case JOB:
		set_named(walk, KWHY_OWNER_SLURM, captures->number, end);
		break;
	case STEP:
		set_step(walk, captures->text);
		break;
	case POD:
		set_pod(walk, captures->uid, end);
		break;
	case POD_CONTAINER:
		set_pod(walk, captures->uid, end);
		set_container(walk, captures->id, rows[row].runtime, end);
		break;
	case CONTAINER_ID:
		set_container(walk, captures->id, rows[row].runtime, end);
		break;
	case CONTAINER_NAME:
		set_named(walk, KWHY_OWNER_CONTAINER, captures->text, end);
		snprintf(owner->part, sizeof(owner->part), "%s", rows[row].runtime);
		break;
	case UNIT:
		if (owner->kind == KWHY_OWNER_USER || owner->kind == KWHY_OWNER_UNIT)
			set_named(walk, KWHY_OWNER_UNIT, component, end);
		break;
	case NOTHING:
		break;
	}
}

static bool is_above(const struct walk *walk, const char *word, size_t start)
{
	return !word || memmem(walk->path.bytes, start, word, strlen(word));
}

static void take_component(struct walk *walk, size_t start, size_t end)
{
	struct kwhy_span component = {walk->path.bytes + start, end - start};
	const struct kwhy_span nothing = {"", 0};
	struct captures captures = {nothing, nothing, nothing, nothing};

	for (size_t row = 0; row < ROW_COUNT; row++)
		if (is_above(walk, rows[row].above, start) && fits(rows[row].pattern, component, &captures)) {
			take(walk, row, &captures, component, end);
			return;
		}
}

static void read_path(struct kwhy_span path, struct kwhy_cgroup *out)
{
	struct walk walk = {.path = path, .out = out};

	*out = (struct kwhy_cgroup){.owner = {.kind = KWHY_OWNER_USER}};
	for (size_t start = 0, end; start < path.length; start = end + 1) {
		const char *slash = memchr(path.bytes + start, '/', path.length - start);

		end = slash ? (size_t)(slash - path.bytes) : path.length;
		if (end > start)
			take_component(&walk, start, end);
	}
	out->cpu_path = (struct kwhy_span){path.bytes, walk.owner_end};
}

/* Splits a line "NUMBER:CONTROLLERS:PATH". False: it has another form. */
static bool read_line(struct kwhy_span line, struct kwhy_span *controllers, struct kwhy_span *path)
{
	const char *first = memchr(line.bytes, ':', line.length), *second;

	if (!first)
		return false;
	second = memchr(first + 1, ':', line.length - (size_t)(first + 1 - line.bytes));
	if (!second)
		return false;
	*controllers = (struct kwhy_span){first + 1, (size_t)(second - first - 1)};
	*path = (struct kwhy_span){second + 1, line.length - (size_t)(second + 1 - line.bytes)};
	return true;
}

/* Whether one of the controllers, which are separated by commas, begins with `name`. */
static bool has_controller(struct kwhy_span controllers, const char *name)
{
	const char *found = memmem(controllers.bytes, controllers.length, name, strlen(name));

	return found && (found == controllers.bytes || found[-1] == ',');
}

/*
 * Whether `a` states the owner more precisely than `b`: its kind comes earlier in enum kwhy_owner_kind, which
 * is sorted for that, or the kinds are equal and `b` has no part.
 */
static bool is_better(const struct kwhy_cgroup *a, const struct kwhy_cgroup *b)
{
	return a->owner.kind < b->owner.kind || (a->owner.kind == b->owner.kind && !*b->owner.part);
}

void kwhy_cgroup_parse(const char *text, size_t length, struct kwhy_cgroup *out)
{
	struct kwhy_span cpu = {"", 0};
	bool has_v1 = false;

	*out = (struct kwhy_cgroup){.owner = {.kind = KWHY_OWNER_USER}};
	for (size_t start = 0, end; start < length; start = end + 1) {
		const char *newline = memchr(text + start, '\n', length - start);
		struct kwhy_span controllers, path;
		struct kwhy_cgroup read;

		end = newline ? (size_t)(newline - text) : length;
		if (!read_line((struct kwhy_span){text + start, end - start}, &controllers, &path))
			continue;
		read_path(path, &read);
		if (is_better(&read, out))
			*out = read;
		if (has_controller(controllers, "cpuacct") || (!controllers.length && !has_v1)) {
			cpu = read.cpu_path;
			has_v1 = controllers.length > 0;
		}
	}
	out->cpu_path = cpu;
	out->is_v1 = has_v1;
}
