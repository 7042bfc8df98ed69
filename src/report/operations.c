/* SPDX-License-Identifier: Apache-2.0 */
#include "report/operations.h"

#include "base/quantile.h"
#include "model/known_sum.h"
#include "report/totals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_account(struct kwhy_operation *operation, const struct kwhy_account *account)
{
	operation->count += account->count;
	kwhy_time_add(&operation->time_ns, account->time_ns);
	kwhy_known_add(&operation->gross_nj, account->gross_nj);
	kwhy_known_add(&operation->low_nj, account->low_nj);
	kwhy_known_add(&operation->high_nj, account->high_nj);
	if (account->mean_power_mw < 0)
		return;
	operation->known_count += account->count;
	kwhy_time_add(&operation->known_ns, account->time_ns);
	operation->whole_nj += (double)account->mean_power_mw * 1e-3 * (double)account->time_ns;
	/*
	 * The metered time of an account is its metered energy divided by its mean power, but at most the
	 * account's time: the mean power is rounded down to whole mW, so the quotient may be larger than
	 * that.
	 */
	if (account->mean_power_mw > 0 && account->gross_nj != KWHY_UNKNOWN_NJ)
		operation->metered_ns += fmin((double)account->time_ns,
			(double)account->gross_nj * 1e3 / (double)account->mean_power_mw);
}

double kwhy_operation_each_nj(const struct kwhy_operation *operation)
{
	return operation->known_count ? operation->whole_nj / (double)operation->known_count : NAN;
}

/*
 * Makes the energy of an operation unknown if no account of the operation has a known power, because no meter
 * reading covers the accounts' times; the ledger then has 0 J for them.
 */
static void forget_unseen(struct kwhy_operation *operation)
{
	if (!operation->known_count)
		operation->gross_nj = operation->low_nj = operation->high_nj = KWHY_UNKNOWN_NJ;
}

void kwhy_operations_kinds(const struct kwhy_recording *recording,
	const struct kwhy_device_ledger *device_ledger, uint32_t device, uint8_t *kinds)
{
	const struct kwhy_activities *rows = &recording->activities;
	size_t first = rows->first[device], end = rows->first[device + 1];

	memset(kinds, KWHY_COPY_KIND_COUNT, device_ledger->account_count);
	for (size_t row = first; row < end; row++) {
		uint32_t account = device_ledger->account_of ? device_ledger->account_of[row - first]
							     : KWHY_NONE;

		if (rows->kind[row] != KWHY_ACTIVITY_COPY || account >= device_ledger->account_count)
			continue;
		if (kinds[account] == KWHY_COPY_KIND_COUNT)
			kinds[account] = rows->copy_kind[row];
		else if (kinds[account] != rows->copy_kind[row])
			kinds[account] = KWHY_COPY_UNKNOWN;
	}
}

static void sum_accounts(
	const struct kwhy_device_ledger *device_ledger, const uint8_t *kinds, struct kwhy_operations *out)
{
	for (size_t i = 0; i < device_ledger->account_count; i++) {
		const struct kwhy_account *account = &device_ledger->accounts[i];
		size_t kind = kinds[i] < KWHY_COPY_KIND_COUNT ? kinds[i] : KWHY_COPY_UNKNOWN;
		bool copy = account->category == KWHY_CATEGORY_COPY;

		if (!copy && account->category != KWHY_CATEGORY_MEMSET)
			continue;
		add_account(copy ? &out->copies[kind] : &out->memset, account);
		add_account(&out->sum, account);
	}
	for (size_t kind = 0; kind < KWHY_COPY_KIND_COUNT; kind++)
		forget_unseen(&out->copies[kind]);
	forget_unseen(&out->memset);
	forget_unseen(&out->sum);
}

/*
 * State of one pass over the activities of a device in order of start, with a cursor in the calls of each
 * thread that moves along.
 */
struct splitting {
	const struct kwhy_recording *recording;
	const struct kwhy_ledger *ledger;
	uint32_t device;
	struct thread_cursor {
		size_t next;		  /* index of the thread's next unread call */
		int64_t blocked_until_ns; /* latest end of the blocking calls read so far */
	} * threads;
	struct kwhy_transfer_split *splits;
	struct rests {
		int64_t *values; /* rests of the copies of one kind (see take_gap()), those above 0 */
		size_t count;
	} rests[KWHY_COPY_KIND_COUNT];
};

/*
 * Length in ns of the part of [start, end) during which a thread is inside a synchronising or copying call.
 * The intervals that are asked for must ascend in time for each thread, because the thread's cursor only
 * moves forward.
 */
static int64_t blocked_ns(struct splitting *splitting, uint32_t thread, int64_t start_ns, int64_t end_ns)
{
	const struct kwhy_calls *calls = &splitting->recording->calls;
	struct thread_cursor *cursor = &splitting->threads[thread];
	int64_t covered_ns = start_ns, sum_ns = 0;

	if (cursor->blocked_until_ns > covered_ns) {
		covered_ns = cursor->blocked_until_ns < end_ns ? cursor->blocked_until_ns : end_ns;
		sum_ns = covered_ns - start_ns;
	}
	for (; cursor->next < calls->first[thread + 1] && calls->start_ns[cursor->next] < end_ns;
		cursor->next++) {
		size_t call = cursor->next;
		int64_t from_ns = calls->start_ns[call] > covered_ns ? calls->start_ns[call] : covered_ns;
		int64_t to_ns = calls->end_ns[call] < end_ns ? calls->end_ns[call] : end_ns;

		if (calls->class[call] != KWHY_CALL_SYNC && calls->class[call] != KWHY_CALL_COPY)
			continue;
		if (calls->end_ns[call] > cursor->blocked_until_ns)
			cursor->blocked_until_ns = calls->end_ns[call];
		if (to_ns <= from_ns)
			continue;
		sum_ns += to_ns - from_ns;
		covered_ns = to_ns;
	}
	return sum_ns;
}

/*
 * The thread that issued an activity: that of its API call or, if the call is unknown, the recording's only
 * thread. KWHY_NONE: the thread is unknown.
 */
static uint32_t thread_of(const struct kwhy_recording *recording, size_t row)
{
	uint32_t call = recording->activities.call[row];

	if (call != KWHY_NONE)
		return recording->calls.thread[call];
	return recording->thread_count == 1 ? 0 : KWHY_NONE;
}

/*
 * Divides the idle interval [start_ns, end_ns) after the copy in row `last` into the time that the issuing
 * thread was blocked (wait) and the other time (rest), and adds both to the split of the copy's kind. Adds
 * nothing if the thread is unknown.
 */
static void take_gap(struct splitting *splitting, size_t last, int64_t start_ns, int64_t end_ns)
{
	const struct kwhy_activities *rows = &splitting->recording->activities;
	struct kwhy_transfer_split *split = &splitting->splits[rows->copy_kind[last]];
	struct rests *rests = &splitting->rests[rows->copy_kind[last]];
	uint32_t thread = thread_of(splitting->recording, last);
	double idle_nj = kwhy_ledger_idle_nj(splitting->ledger, splitting->device, start_ns, end_ns);
	int64_t wait_ns, wait_nj, gap_nj;

	if (thread == KWHY_NONE)
		return;
	wait_ns = blocked_ns(splitting, thread, start_ns, end_ns);
	kwhy_time_add(&split->wait_ns, wait_ns);
	kwhy_time_add(&split->rest_ns, end_ns - start_ns - wait_ns);
	if (end_ns - start_ns > wait_ns)
		rests->values[rests->count++] = end_ns - start_ns - wait_ns;
	if (!(fabs(idle_nj) < 9e18)) {
		split->wait_nj = split->rest_nj = KWHY_UNKNOWN_NJ;
		return;
	}
	gap_nj = llround(idle_nj);
	wait_nj = llround(idle_nj * ((double)wait_ns / (double)(end_ns - start_ns)));
	kwhy_known_add(&split->wait_nj, wait_nj);
	kwhy_known_add(&split->rest_nj, gap_nj - wait_nj);
}

static void walk(struct splitting *splitting)
{
	const struct kwhy_activities *rows = &splitting->recording->activities;
	size_t first = rows->first[splitting->device], end = rows->first[splitting->device + 1], last = first;

	for (size_t row = first; row < end; row++) {
		if (rows->start_ns[row] > rows->end_ns[last] && rows->kind[last] == KWHY_ACTIVITY_COPY &&
			!kwhy_ledger_is_unrecorded(&splitting->ledger->devices[splitting->device],
				rows->end_ns[last], rows->start_ns[row]))
			take_gap(splitting, last, rows->end_ns[last], rows->start_ns[row]);
		if (rows->end_ns[row] >= rows->end_ns[last])
			last = row;
		if (rows->kind[row] != KWHY_ACTIVITY_COPY ||
			thread_of(splitting->recording, row) == KWHY_NONE)
			continue;
		splitting->splits[rows->copy_kind[row]].count++;
		kwhy_time_add(&splitting->splits[rows->copy_kind[row]].dma_ns,
			rows->end_ns[row] - rows->start_ns[row]);
	}
}

/*
 * Computes dma_nj of each kind of copy, the energy of the copies whose thread is known: the energy of all
 * copies of the kind whose power is known, times the share of the time of all copies of the kind that is of
 * copies whose thread is known. If no energy is known, all energies of the split become unknown.
 */
static void price_copies(struct kwhy_operations *out, bool energy_known)
{
	for (size_t kind = 0; kind < KWHY_COPY_KIND_COUNT; kind++) {
		struct kwhy_transfer_split *split = &out->splits[kind];
		const struct kwhy_operation *copies = &out->copies[kind];
		double share = copies->time_ns > 0 ? (double)split->dma_ns / (double)copies->time_ns : NAN;
		double dma_nj = copies->whole_nj * share;

		split->priced_count = copies->known_count * split->count / (copies->count + !copies->count);
		split->dma_nj = energy_known && split->priced_count ? kwhy_whole_nj(dma_nj) : KWHY_UNKNOWN_NJ;
		if (!energy_known)
			split->wait_nj = split->rest_nj = KWHY_UNKNOWN_NJ;
	}
}

/*
 * Points the list of rests of each kind of copy to its part of `values`, an array with an element for each
 * copy of the device.
 */
static void place_rests(struct splitting *splitting, int64_t *values)
{
	const struct kwhy_activities *rows = &splitting->recording->activities;
	size_t counts[KWHY_COPY_KIND_COUNT] = {0};

	for (size_t row = rows->first[splitting->device]; row < rows->first[splitting->device + 1]; row++)
		if (rows->kind[row] == KWHY_ACTIVITY_COPY)
			counts[rows->copy_kind[row]]++;
	for (size_t kind = 0; kind < KWHY_COPY_KIND_COUNT; kind++) {
		splitting->rests[kind].values = values;
		values += counts[kind];
	}
}

/*
 * Finds the median and the longest rest (idle time after a copy in which the issuing thread is not blocked)
 * of each kind of copy. The lists contain only rests above 0; each copy that is in no list counts as a rest
 * of 0.
 */
static void find_typical_rests(struct splitting *splitting)
{
	for (size_t kind = 0; kind < KWHY_COPY_KIND_COUNT; kind++) {
		struct kwhy_transfer_split *split = &splitting->splits[kind];
		const struct rests *rests = &splitting->rests[kind];
		const size_t zeros = split->count - rests->count;

		kwhy_sort_integers(rests->values, rests->count);
		if (split->count / 2 >= zeros && rests->count)
			split->rest_median_ns = rests->values[split->count / 2 - zeros];
		if (rests->count)
			split->rest_longest_ns = rests->values[rests->count - 1];
	}
}

static enum kwhy_status split(const struct kwhy_recording *recording, const struct kwhy_ledger *ledger,
	uint32_t device, struct kwhy_operations *out, struct kwhy_error *error)
{
	const size_t *first = recording->activities.first;
	int64_t *rests = malloc((first[device + 1] - first[device] + 1) * sizeof(*rests));
	struct splitting splitting = {.recording = recording,
		.ledger = ledger,
		.device = device,
		.threads = calloc(recording->thread_count + 1, sizeof(*splitting.threads)),
		.splits = out->splits};

	if (!splitting.threads || !rests) {
		free(splitting.threads);
		free(rests);
		return kwhy_fail_memory(error, "the split of transfers");
	}
	for (size_t i = 0; i < recording->thread_count; i++)
		splitting.threads[i] = (struct thread_cursor){recording->calls.first[i], INT64_MIN};
	place_rests(&splitting, rests);
	walk(&splitting);
	find_typical_rests(&splitting);
	price_copies(out, ledger->devices[device].energy.known);
	out->split_known = true;
	free(splitting.threads);
	free(rests);
	return KWHY_OK;
}

enum kwhy_status kwhy_operations_of(const struct kwhy_recording *recording, const struct kwhy_ledger *ledger,
	uint32_t device, struct kwhy_operations *out, struct kwhy_error *error)
{
	const struct kwhy_device_ledger *device_ledger = &ledger->devices[device];
	uint8_t *kinds = malloc(device_ledger->account_count + 1);

	if (!kinds)
		return kwhy_fail_memory(error, "the table of operations");
	*out = (struct kwhy_operations){0};
	kwhy_operations_kinds(recording, device_ledger, device, kinds);
	sum_accounts(device_ledger, kinds, out);
	free(kinds);
	return recording->has_calls ? split(recording, ledger, device, out, error) : KWHY_OK;
}

enum kwhy_status kwhy_operations_new(const struct kwhy_recording *recording, const struct kwhy_ledger *ledger,
	struct kwhy_operations **out, struct kwhy_error *error)
{
	struct kwhy_operations *items = calloc(ledger->device_count + 1, sizeof(*items));
	enum kwhy_status status = KWHY_OK;

	if (!items)
		return kwhy_fail_memory(error, "the table of operations");
	for (uint32_t device = 0; !status && device < ledger->device_count; device++)
		status = kwhy_operations_of(recording, ledger, device, &items[device], error);
	if (status)
		free(items);
	else
		*out = items;
	return status;
}
