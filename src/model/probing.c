/* SPDX-License-Identifier: Apache-2.0 */
#include "model/probing.h"

#include "base/column.h"
#include "base/probe_width.h"
#include "base/waiting_kernel.h"

#include <stdlib.h>
#include <string.h>

/*
 * Reasons why a kernel was not repeated, for kernels for which the recording has no reason because kwhy probe
 * saw no launch of them.
 */
#define OF_GRAPH "it is launched by a graph whose kernels could not be read"
#define NOT_SEEN                                                                                          \
	"no launch of it was followed: it is launched from the device or by a call that is not, by more " \
	"kernels than are, or the process was killed"

/* Context of adding one recording to `probing`. */
struct adding {
	struct kwhy_probing *probing;
	const struct kwhy_recording *recording;
	uint32_t *names; /* [names of the recording] id of each name in `probing`; 0: not yet looked up */
	bool is_earlier;
	struct kwhy_error *error;
};

/*
 * The key of an account. `name` is the id of the kernel's name, in recording->names or, for looking up an
 * account, in probing->names.
 */
struct shape {
	uint32_t name, blocks;
	uint16_t threads_per_block;
};

enum kwhy_status kwhy_probing_init(struct kwhy_probing *probing, struct kwhy_error *error)
{
	*probing = (struct kwhy_probing){0};
	return kwhy_names_init(&probing->names, error);
}

void kwhy_probing_done(struct kwhy_probing *probing)
{
	kwhy_names_done(&probing->names);
	free(probing->accounts);
	free(probing->first_of_name);
	*probing = (struct kwhy_probing){0};
}

static enum kwhy_status name_of(struct adding *adding, uint32_t name, uint32_t *out)
{
	struct kwhy_probing *probing = adding->probing;
	const char *text = kwhy_names_get(&adding->recording->names, name);
	const size_t before = probing->name_capacity;
	enum kwhy_status status = KWHY_OK;

	if (!adding->names[name])
		status = kwhy_names_intern(
			&probing->names, text, strlen(text), &adding->names[name], adding->error);
	if (!status)
		status = kwhy_column_reserve((void **)&probing->first_of_name, &probing->name_capacity,
			probing->names.count, sizeof(*probing->first_of_name), "names of kernels",
			adding->error);
	if (status)
		return status;
	if (probing->name_capacity > before)
		memset(probing->first_of_name + before, 0,
			(probing->name_capacity - before) * sizeof(*probing->first_of_name));
	*out = adding->names[name];
	return KWHY_OK;
}

static struct kwhy_probing_account *find(const struct kwhy_probing *probing, const struct shape *shape)
{
	uint32_t next = shape->name < probing->name_capacity ? probing->first_of_name[shape->name] : 0;

	for (; next; next = probing->accounts[next - 1].next) {
		struct kwhy_probing_account *account = &probing->accounts[next - 1];

		if (account->blocks == shape->blocks &&
			account->threads_per_block == shape->threads_per_block)
			return account;
	}
	return NULL;
}

/* Finds the account of a kernel of the recording, or adds it. */
static enum kwhy_status account_of(
	struct adding *adding, const struct shape *of_recording, struct kwhy_probing_account **out)
{
	struct kwhy_probing *probing = adding->probing;
	struct shape shape = *of_recording;
	enum kwhy_status status = name_of(adding, of_recording->name, &shape.name);

	*out = status ? NULL : find(probing, &shape);
	if (status || *out)
		return status;
	status = kwhy_column_reserve((void **)&probing->accounts, &probing->capacity, probing->count + 1,
		sizeof(*probing->accounts), "accounts of kernels", adding->error);
	if (status)
		return status;
	*out = &probing->accounts[probing->count++];
	**out = (struct kwhy_probing_account){.name = shape.name,
		.next = probing->first_of_name[shape.name],
		.blocks = shape.blocks,
		.threads_per_block = shape.threads_per_block};
	probing->first_of_name[shape.name] = (uint32_t)probing->count;
	return KWHY_OK;
}

static bool is_kernel(uint8_t kind)
{
	return kind == KWHY_ACTIVITY_KERNEL || kind == KWHY_ACTIVITY_COLLECTIVE ||
		kind == KWHY_ACTIVITY_GRAPH;
}

static enum kwhy_status add_activity(struct adding *adding, size_t row)
{
	const struct kwhy_activities *rows = &adding->recording->activities;
	const struct shape shape = {rows->name[row], rows->blocks[row], rows->threads_per_block[row]};
	const int64_t busy_ns = rows->end_ns[row] - rows->start_ns[row];
	struct kwhy_probing_account *account;
	enum kwhy_status status;

	if (!is_kernel(rows->kind[row]) || rows->origin[row] != KWHY_ORIGIN_PROGRAM)
		return KWHY_OK;
	status = account_of(adding, &shape, &account);
	if (status)
		return status;
	account->busy_ns += busy_ns;
	account->is_of_graph |= rows->kind[row] == KWHY_ACTIVITY_GRAPH || rows->graph_node[row] != KWHY_NONE;
	adding->probing->busy_ns += busy_ns;
	return KWHY_OK;
}

static enum kwhy_status add_burst(struct adding *adding, const struct kwhy_burst *burst)
{
	struct kwhy_probing *probing = adding->probing;
	const struct shape shape = {burst->name, burst->blocks, burst->threads_per_block};
	struct kwhy_probing_account *account;
	enum kwhy_status status = account_of(adding, &shape, &account);

	if (status)
		return status;
	account->bursts += burst->repeats > 0 && burst->form != KWHY_BURST_COPIES;
	account->repeated_ns += burst->repeated_ns;
	if (adding->is_earlier)
		return KWHY_OK;
	probing->bursts += burst->repeats > 0;
	probing->repeats += burst->repeats;
	probing->spent_ns += burst->end_ns - burst->start_ns;
	probing->checked += burst->check != KWHY_BURST_UNCHECKED;
	probing->different += burst->check == KWHY_BURST_DIFFERENT;
	if (burst->check == KWHY_BURST_DIFFERENT && !probing->different_name)
		probing->different_name = account->name;
	return KWHY_OK;
}

/*
 * Sets the reason of a kernel's account to this one if more launches have it than have the account's reason
 * so far. The string is interned and lives as long as `probing`.
 */
static enum kwhy_status add_unprobed(struct adding *adding, const struct kwhy_unprobed *unprobed)
{
	struct kwhy_probing *probing = adding->probing;
	struct shape shape = {.blocks = unprobed->blocks, .threads_per_block = unprobed->threads_per_block};
	struct kwhy_probing_account *account;
	enum kwhy_status status = name_of(adding, unprobed->name, &shape.name);
	uint32_t reason;

	account = status ? NULL : find(probing, &shape);
	if (!account || unprobed->launches <= account->reason_launches)
		return status;
	status = kwhy_names_intern(
		&probing->names, unprobed->reason, strlen(unprobed->reason), &reason, adding->error);
	if (status)
		return status;
	account->reason = kwhy_names_get(&probing->names, reason);
	account->reason_launches = unprobed->launches;
	return KWHY_OK;
}

static enum kwhy_status add_all(struct adding *adding)
{
	const struct kwhy_recording *recording = adding->recording;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && !adding->is_earlier && i < recording->activities.count; i++)
		status = add_activity(adding, i);
	for (size_t i = 0; !status && i < recording->burst_count; i++)
		status = add_burst(adding, &recording->bursts[i]);
	for (size_t i = 0; !status && !adding->is_earlier && i < recording->unprobed_count; i++)
		status = add_unprobed(adding, &recording->unprobed[i]);
	return status;
}

enum kwhy_status kwhy_probing_add(struct kwhy_probing *probing, const struct kwhy_recording *recording,
	bool is_earlier, struct kwhy_error *error)
{
	struct adding adding = {
		.probing = probing, .recording = recording, .is_earlier = is_earlier, .error = error};
	enum kwhy_status status;

	adding.names = calloc(recording->names.count + 1, sizeof(*adding.names));
	if (!adding.names)
		return kwhy_fail_memory(error, "names of kernels");
	status = add_all(&adding);
	free(adding.names);
	return status;
}

const struct kwhy_probing_account *kwhy_probing_find(
	const struct kwhy_probing *probing, const char *name, uint32_t blocks, uint16_t threads_per_block)
{
	for (size_t i = 0; i < probing->count; i++) {
		const struct kwhy_probing_account *account = &probing->accounts[i];

		if (account->blocks == blocks && account->threads_per_block == threads_per_block &&
			!strcmp(kwhy_names_get(&probing->names, account->name), name))
			return account;
	}
	return NULL;
}

static void count(struct kwhy_probing_part *part, const struct kwhy_probing_account *account)
{
	part->accounts++;
	part->busy_ns += account->busy_ns;
}

struct kwhy_probing_parts kwhy_probing_count(const struct kwhy_probing *probing, double within_ratio)
{
	struct kwhy_probing_parts parts = {0};

	for (size_t i = 0; i < probing->count; i++) {
		const struct kwhy_probing_account *account = &probing->accounts[i];

		if (!account->busy_ns)
			continue;
		count(&parts.all, account);
		if (kwhy_waiting_kernel(kwhy_names_get(&probing->names, account->name)))
			count(&parts.waiting, account);
		if (account->bursts)
			count(&parts.probed, account);
		if (kwhy_probe_width_is_within(account->bursts, account->repeated_ns, within_ratio))
			count(&parts.known, account);
	}
	return parts;
}

static const char *reason_of(const struct kwhy_probing_account *account)
{
	if (account->reason)
		return account->reason;
	return account->is_of_graph ? OF_GRAPH : NOT_SEEN;
}

static int by_time(const void *a, const void *b)
{
	const struct kwhy_probing_part *left = a, *right = b;

	return (left->busy_ns < right->busy_ns) - (left->busy_ns > right->busy_ns);
}

/* The 64 entries of `parts` suffice, since inject/probe/reasons.h has fewer reasons. */
size_t kwhy_probing_list_unprobed(
	const struct kwhy_probing *probing, struct kwhy_probing_part *out, size_t most)
{
	struct kwhy_probing_part parts[64] = {{0}};
	const size_t space = sizeof(parts) / sizeof(*parts);
	size_t found = 0;

	for (size_t i = 0; i < probing->count; i++) {
		const struct kwhy_probing_account *account = &probing->accounts[i];
		size_t at = 0;

		if (!account->busy_ns || account->bursts)
			continue;
		while (at < found && strcmp(parts[at].reason, reason_of(account)) != 0)
			at++;
		if (at == space)
			continue;
		found += at == found;
		parts[at].reason = reason_of(account);
		count(&parts[at], account);
	}
	qsort(parts, found, sizeof(*parts), by_time);
	found = found < most ? found : most;
	memcpy(out, parts, found * sizeof(*out));
	return found;
}
