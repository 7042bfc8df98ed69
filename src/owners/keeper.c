/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/keeper.h"

#include "base/cpu_time.h"
#include "owners/holders.h"
#include "owners/missed.h"
#include "owners/sharing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Number of looks (searches for the holders of all devices, one in each period) for each transaction of the
 * file. After kill -9 the owners of at most this number of periods are lost; their energy is then counted as
 * unwatched.
 */
enum { LOOKS_A_TRANSACTION = 5 };
/*
 * In ns: a period counts as over this long before its end, or half a period before if that is less, so that
 * one late call does not delay the following looks.
 */
#define EARLY_NS INT64_C(1000000000)
/*
 * While a device has one holder, whose power is known (kwhy_watts_is_settled()), the driver is asked for the
 * use at only one of this many looks.
 */
enum { ALONE_LOOKS = 10 };
/*
 * If a device's energy was unknown for longer than MISSED_NS and for more than MISSED_LOOKS looks, it is
 * divided among all who held the device at one of these looks.
 */
#define MISSED_NS INT64_C(10000000000)
enum { MISSED_LOOKS = 3 };
/* In ns: owners that held and used nothing for this time lose their labels. */
#define FORGET_NS INT64_C(3600000000000)

/* A meter between two searches for the holders of its device. */
struct watched {
	uint32_t device; /* KWHY_SENSOR_NO_DEVICE: a domain of the host */
	struct kwhy_total_window window;
	double low_w, high_w;	    /* lowest and highest power so far, W */
	struct kwhy_holders before; /* holders at the last search */
	bool was_seen;
	struct kwhy_missed
		missed; /* the looks from the one at which the energy was divided last to the present one */
	struct kwhy_sharing sharing;
	uint32_t alone_looks; /* number of successive looks at which the use was not asked for */
};

struct kwhy_keeper {
	struct kwhy_keeper_request request;
	struct kwhy_accounts *accounts;
	struct kwhy_holder_finder *finder;
	struct kwhy_store *store; /* NULL: accounts are kept in memory only */
	struct kwhy_store_meter *meters;
	struct watched *watched; /* [meter_count] */
	size_t meter_count;
	struct kwhy_arena arena;
	char boot[KWHY_BOOT_BYTES];
	uint32_t idle, unwatched; /* rows for idle and for unwatched energy, which are never freed */
	int64_t looked_ns, stored_ns,
		stored_unix_ns; /* times of the last search for holders (looked_ns, CLOCK_MONOTONIC) and of
				   the last transaction (stored_ns, CLOCK_MONOTONIC; stored_unix_ns) */
	double busy_s; /* busy time of all CPUs at the last division of the host's energy, s; NAN: there was
			  none */
	bool has_host;
	uint64_t store_failures;
	struct kwhy_error store_error;
};

static void follow(void *context, const struct kwhy_live_readings *readings)
{
	struct kwhy_keeper *keeper = context;
	struct kwhy_total_readings of = {.curve = readings->curve,
		.has_counter = readings->has_counter,
		.counter = readings->counter,
		.meter = readings->meter,
		.wrap = readings->wrap};
	struct kwhy_total_window window, *sum = &keeper->watched[readings->metered].window;
	struct kwhy_store_meter *meter = &keeper->meters[readings->metered];

	if (!meter->key)
		return;
	if (readings->has_counter)
		meter->source = kwhy_meter_name(readings->meter);
	if (!kwhy_total_advance(&meter->total, &of, &window))
		return;
	if (!sum->end_ns)
		sum->start_ns = window.start_ns;
	sum->end_ns = window.end_ns;
	sum->energy_nj += window.energy_nj;
	sum->unwatched_nj += window.unwatched_nj;
}

/* Sets the key and the name of a meter. Meters of wall power get no key: their energy has no owners. */
static enum kwhy_status name_meter(struct kwhy_keeper *keeper, size_t i, struct kwhy_error *error)
{
	const struct kwhy_live_snapshot *snapshot = kwhy_live_snapshot(keeper->request.live);
	const struct kwhy_live_metered *metered = &snapshot->metered[i];
	struct kwhy_store_meter *meter = &keeper->meters[i];

	meter->index = -1;
	meter->source = "";
	meter->is_host = metered->kind == KWHY_METERED_HOST;
	keeper->watched[i].device = KWHY_SENSOR_NO_DEVICE;
	keeper->watched[i].low_w = keeper->watched[i].high_w = NAN;
	for (size_t d = 0; d < snapshot->device_count; d++)
		if (snapshot->devices[d].metered == metered) {
			keeper->watched[i].device = (uint32_t)d;
			meter->index = snapshot->devices[d].index;
			meter->name = snapshot->devices[d].name;
			meter->key = snapshot->devices[d].uuid
				? snapshot->devices[d].uuid
				: kwhy_arena_printf(&keeper->arena, "device:%d", meter->index);
			return meter->key ? KWHY_OK : kwhy_fail_memory(error, "the accounts");
		}
	if (!meter->is_host)
		return KWHY_OK;
	keeper->has_host = true;
	meter->name = metered->name;
	meter->key = kwhy_arena_printf(&keeper->arena, "host:%s", metered->name);
	return meter->key ? KWHY_OK : kwhy_fail_memory(error, "the accounts");
}

static enum kwhy_status name_meters(struct kwhy_keeper *keeper, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	keeper->meter_count = kwhy_live_snapshot(keeper->request.live)->metered_count;
	keeper->meters = kwhy_arena_alloc(&keeper->arena, keeper->meter_count + 1, sizeof(*keeper->meters));
	keeper->watched = kwhy_arena_alloc(&keeper->arena, keeper->meter_count + 1, sizeof(*keeper->watched));
	if (!keeper->meters || !keeper->watched)
		return kwhy_fail_memory(error, "the accounts");
	for (size_t i = 0; !status && i < keeper->meter_count; i++)
		status = name_meter(keeper, i, error);
	return status;
}

/*
 * Loads the totals of the meters from the file; kwhy_total_advance() continues each at the first reading of
 * its meter's counter.
 */
static enum kwhy_status load(struct kwhy_keeper *keeper, struct kwhy_error *error)
{
	const struct kwhy_sensors *sensors = keeper->request.sensors;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < keeper->meter_count; i++) {
		struct kwhy_store_meter *meter = &keeper->meters[i];
		const struct kwhy_source_channel *counter = NULL;

		if (!meter->key)
			continue;
		if (keeper->watched[i].device != KWHY_SENSOR_NO_DEVICE)
			counter = kwhy_sensors_best_meter(
				sensors, KWHY_METER_COUNTERS, keeper->watched[i].device);
		if (counter)
			meter->source = kwhy_meter_name(counter->meter);
		status = kwhy_store_load(keeper->store, meter, keeper->boot, error);
	}
	return status;
}

static size_t list_processes(
	void *live, uint32_t device, int64_t now_ns, struct kwhy_sensor_process out[KWHY_SENSOR_PROCESSES])
{
	return kwhy_live_list_processes(live, device, now_ns, out);
}

static int64_t activity_permille(void *live, uint32_t device)
{
	const struct kwhy_live_value
		*active = &kwhy_live_snapshot(live)->devices[device].gauges[KWHY_GAUGE_SM_ACTIVE];

	return active->known ? active->value : -1;
}

static enum kwhy_status open_parts(struct kwhy_keeper *keeper, struct kwhy_error *error)
{
	const struct kwhy_keeper_request *request = &keeper->request;
	const struct kwhy_owner idle = {.kind = KWHY_OWNER_IDLE}, unwatched = {.kind = KWHY_OWNER_UNWATCHED};
	struct kwhy_holder_request finder = {.sensors = request->sensors,
		.list_processes = list_processes,
		.activity_permille = activity_permille,
		.context = request->live,
		.root = request->root,
		.mapping = request->mapping,
		.allocations = request->allocations};
	enum kwhy_status status = kwhy_accounts_new(request->labels_max, &keeper->accounts, error);

	if (!status)
		status = kwhy_accounts_find(keeper->accounts, &idle, 0, &keeper->idle, error);
	if (!status)
		status = kwhy_accounts_find(keeper->accounts, &unwatched, 0, &keeper->unwatched, error);
	finder.accounts = keeper->accounts;
	if (!status)
		status = kwhy_holder_finder_new(&finder, &keeper->finder, error);
	if (!status)
		status = name_meters(keeper, error);
	if (!status && request->path)
		status = kwhy_store_open(request->path, &keeper->store, error);
	if (!status && keeper->store)
		status = load(keeper, error);
	for (size_t i = 0; !status && i < keeper->meter_count; i++)
		keeper->watched[i].sharing = (struct kwhy_sharing){.accounts = keeper->accounts,
			.store = keeper->store,
			.meter_key = keeper->meters[i].key,
			.meter = (uint32_t)i};
	return status;
}

static void done(struct kwhy_keeper *keeper)
{
	kwhy_live_set_follower(keeper->request.live, NULL, NULL);
	kwhy_store_close(keeper->store);
	kwhy_holder_finder_free(keeper->finder);
	kwhy_accounts_free(keeper->accounts);
	kwhy_arena_done(&keeper->arena);
	free(keeper);
}

enum kwhy_status kwhy_keeper_new(
	const struct kwhy_keeper_request *request, struct kwhy_keeper **out, struct kwhy_error *error)
{
	struct kwhy_keeper *keeper = calloc(1, sizeof(*keeper));
	enum kwhy_status status;

	if (!keeper)
		return kwhy_fail_memory(error, "the accounts");
	keeper->request = *request;
	keeper->busy_s = NAN;
	keeper->stored_unix_ns = kwhy_clock_unix_ns();
	kwhy_boot_read(NULL, keeper->boot);
	status = open_parts(keeper, error);
	if (status) {
		done(keeper);
		return status;
	}
	kwhy_live_set_follower(request->live, follow, keeper);
	*out = keeper;
	return KWHY_OK;
}

static enum kwhy_status add_all(struct kwhy_keeper *keeper, size_t meter, const struct kwhy_share_of *shares,
	size_t count, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < count; i++)
		status = kwhy_accounts_add(
			keeper->accounts, shares[i].owner, (uint32_t)meter, &shares[i].share, error);
	return status;
}

static bool is_same(const struct kwhy_holders *a, const struct kwhy_holders *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->items[i].owner != b->items[i].owner)
			return false;
	return true;
}

static enum kwhy_status divide(struct kwhy_keeper *keeper, size_t meter, struct kwhy_share_window *window,
	const struct kwhy_sharing_look *look, const struct kwhy_holders *holders, struct kwhy_error *error)
{
	window->holders = holders->items;
	window->holder_count = holders->count;
	window->is_unseen = holders->is_unseen;
	return kwhy_sharing_divide(&keeper->watched[meter].sharing, window, look, error);
}

/*
 * Divides the energy of a device since the last search for holders. If the holders have changed, the
 * holders before get one half of the energy and the time, and the holders now get the other half. If the
 * device was busy and one of the two lists of holders is empty, the other list gets all.
 */
static enum kwhy_status divide_halves(struct kwhy_keeper *keeper, size_t meter,
	struct kwhy_share_window *window, const struct kwhy_sharing_look *look,
	const struct kwhy_holders *now, struct kwhy_error *error)
{
	const struct kwhy_holders *before = &keeper->watched[meter].before;
	const int64_t energy_nj = window->energy_nj, length_ns = window->length_ns;
	enum kwhy_status status;

	if (!keeper->watched[meter].was_seen || is_same(before, now) ||
		(window->busy_permille > 0 && !before->count))
		return divide(keeper, meter, window, look, now, error);
	if (window->busy_permille > 0 && !now->count)
		return divide(keeper, meter, window, look, before, error);
	window->energy_nj = energy_nj / 2;
	window->length_ns = length_ns / 2;
	status = divide(keeper, meter, window, look, before, error);
	window->energy_nj = energy_nj - energy_nj / 2;
	window->length_ns = length_ns - length_ns / 2;
	return status ? status : divide(keeper, meter, window, look, now, error);
}

static enum kwhy_status add_unwatched(
	struct kwhy_keeper *keeper, size_t meter, int64_t energy_nj, struct kwhy_error *error)
{
	const struct kwhy_share share = {.energy_nj = energy_nj, .low_nj = energy_nj, .high_nj = energy_nj};

	if (!energy_nj)
		return KWHY_OK;
	return kwhy_accounts_add(keeper->accounts, keeper->unwatched, (uint32_t)meter, &share, error);
}

static void note_powers(struct watched *watched, const struct kwhy_live_metered *metered)
{
	/* fmin(NAN, x) is x, so the first power replaces an unknown one */
	watched->low_w = fmin(watched->low_w, metered->low_w);
	watched->high_w = fmax(watched->high_w, metered->high_w);
}

/*
 * Whether to ask the driver how much each process used the device: true if several owners hold it now or did
 * at the last look. If one owner holds it and it was not idle: true until that owner's power is known, and
 * then at one of ALONE_LOOKS looks. Otherwise false.
 */
static bool asks_use(struct watched *watched, const struct kwhy_holders *now, int64_t busy_permille)
{
	if (now->count > 1 || watched->before.count > 1)
		return true;
	if (now->count != 1 || busy_permille == 0)
		return false;
	if (kwhy_watts_is_settled(&watched->sharing.watts, now->items[0].owner) &&
		++watched->alone_looks < ALONE_LOOKS)
		return false;
	watched->alone_looks = 0;
	return true;
}

/*
 * Divides the energy of a device since the last look; if its holders are the same as at the last look, it
 * first learns from that energy how much power they draw.
 */
static enum kwhy_status divide_window(struct kwhy_keeper *keeper, size_t meter,
	struct kwhy_share_window *window, const struct kwhy_sharing_look *look,
	const struct kwhy_holders *now, struct kwhy_error *error)
{
	struct watched *watched = &keeper->watched[meter];
	enum kwhy_status status = KWHY_OK;

	if (watched->was_seen && is_same(&watched->before, now)) {
		window->holders = now->items;
		window->holder_count = now->count;
		status = kwhy_sharing_learn(&watched->sharing, window, look, error);
	}
	return status ? status : divide_halves(keeper, meter, window, look, now, error);
}

/*
 * Whether the energy was unknown for more than MISSED_LOOKS looks and longer than MISSED_NS, and the holders
 * of the present look do not stand for those of all these looks.
 */
static bool has_missed(const struct watched *watched)
{
	return watched->missed.looks > MISSED_LOOKS && kwhy_missed_differs(&watched->missed) &&
		watched->window.end_ns - watched->window.start_ns > MISSED_NS;
}

/*
 * Divides the energy of a time in which the meters could not be read. It is unknown when in that time the
 * energy was used, so all who held the device at a look in that time get a part (kwhy_missed_divide()).
 */
static enum kwhy_status divide_missed(
	struct kwhy_keeper *keeper, size_t meter, struct kwhy_share_window *window, struct kwhy_error *error)
{
	struct kwhy_share_of shares[KWHY_HOLDERS_MAX];

	return add_all(keeper, meter, shares,
		kwhy_missed_divide(&keeper->watched[meter].missed, window, shares), error);
}

/*
 * Adds the holders of a look to watched->missed, and sets used_ns of all owners in watched->missed to now_ns,
 * so that kwhy_accounts_forget() keeps their rows until their energy is divided.
 */
static void note_holders(struct kwhy_keeper *keeper, struct watched *watched, const struct kwhy_holders *now,
	bool has_uses, int64_t now_ns)
{
	struct kwhy_missed *missed = &watched->missed;
	size_t count;
	struct kwhy_owner_row *rows = kwhy_accounts_rows(keeper->accounts, &count);

	kwhy_missed_add(missed, now, has_uses);
	for (size_t i = 0; i < missed->all.count; i++)
		rows[missed->all.items[i].owner].used_ns = now_ns;
}

static enum kwhy_status look_at(
	struct kwhy_keeper *keeper, size_t meter, int64_t now_ns, struct kwhy_error *error)
{
	const struct kwhy_live_snapshot *snapshot = kwhy_live_snapshot(keeper->request.live);
	struct watched *watched = &keeper->watched[meter];
	const struct kwhy_live_value *gauges = snapshot->devices[watched->device].gauges;
	const struct kwhy_live_value *busy = &gauges[KWHY_GAUGE_BUSY], *clock = &gauges[KWHY_GAUGE_SM_CLOCK];
	const struct kwhy_owner unknown = {.kind = KWHY_OWNER_UNKNOWN};
	const int64_t busy_permille = busy->known ? busy->value : -1;
	struct kwhy_share_window window = {.energy_nj = watched->window.energy_nj,
		.length_ns = watched->window.end_ns - watched->window.start_ns,
		.idle_owner = keeper->idle,
		.busy_permille = busy_permille};
	enum kwhy_holder_uses uses = KWHY_USES_NONE;
	struct kwhy_sharing_look look = {.clock_hz = clock->known ? (double)clock->value : NAN};
	struct kwhy_holders now;
	enum kwhy_status status;

	note_powers(watched, &snapshot->metered[meter]);
	window.low_w = watched->low_w;
	window.high_w = watched->high_w;
	status = kwhy_holders_find(keeper->finder, watched->device, now_ns, &now, error);
	if (!status && asks_use(watched, &now, busy_permille))
		status = kwhy_holders_use(
			keeper->finder, watched->device, now_ns, &watched->before, &now, &uses, error);
	window.uses_known = look.has_uses = uses != KWHY_USES_NONE;
	look.is_repeated = uses == KWHY_USES_REPEATED;
	if (!status)
		status = add_unwatched(keeper, meter, watched->window.unwatched_nj, error);
	if (!status)
		note_holders(keeper, watched, &now, look.has_uses, now_ns);
	if (!status && (!now.count || watched->missed.all.is_unseen))
		status = kwhy_accounts_find(keeper->accounts, &unknown, now_ns, &window.unknown_owner, error);
	if (!status && watched->window.end_ns) {
		status = has_missed(watched) ? divide_missed(keeper, meter, &window, error)
					     : divide_window(keeper, meter, &window, &look, &now, error);
		watched->missed = (struct kwhy_missed){0};
		kwhy_missed_add(&watched->missed, &now, look.has_uses);
	}
	watched->window = (struct kwhy_total_window){0};
	watched->before = now;
	watched->was_seen = true;
	return status;
}

static enum kwhy_status divide_domain(struct kwhy_keeper *keeper, size_t meter,
	const struct kwhy_holder_cpu *used, size_t count, double busy_s, struct kwhy_error *error)
{
	struct watched *watched = &keeper->watched[meter];
	uint32_t owners[KWHY_HOLDERS_MAX];
	int64_t used_ns[KWHY_HOLDERS_MAX];
	struct kwhy_share_of shares[KWHY_HOLDERS_MAX + 1];
	struct kwhy_share_host host = {.energy_nj = watched->window.energy_nj,
		.length_ns = watched->window.end_ns - watched->window.start_ns,
		.busy_ns = isfinite(busy_s) ? llround(busy_s * 1e9) : 0,
		.owners = owners,
		.used_ns = used_ns,
		.count = count,
		.idle_owner = keeper->idle};
	enum kwhy_status status;

	host.capacity_ns = sysconf(_SC_NPROCESSORS_ONLN) * host.length_ns;
	for (size_t i = 0; i < count; i++) {
		owners[i] = used[i].owner;
		used_ns[i] = used[i].used_ns;
	}
	kwhy_share_divide_host(&host, shares);
	status = add_unwatched(keeper, meter, watched->window.unwatched_nj, error);
	watched->window = (struct kwhy_total_window){0};
	return status ? status : add_all(keeper, meter, shares, count + 1, error);
}

static enum kwhy_status divide_host(struct kwhy_keeper *keeper, struct kwhy_error *error)
{
	struct kwhy_holder_cpu used[KWHY_HOLDERS_MAX];
	const double before_s = keeper->busy_s;
	enum kwhy_status status = KWHY_OK;
	double busy_s;
	size_t count;

	if (!keeper->has_host)
		return KWHY_OK;
	busy_s = kwhy_cpu_busy_s(NULL);
	count = kwhy_holders_cpu(keeper->finder, used, KWHY_HOLDERS_MAX);
	keeper->busy_s = busy_s;
	for (size_t i = 0; !status && i < keeper->meter_count; i++)
		if (keeper->meters[i].key && keeper->meters[i].is_host && keeper->watched[i].window.end_ns)
			status = divide_domain(keeper, i, used, count, busy_s - before_s, error);
	return status;
}

/*
 * Stores the accounts. If that fails, what was not stored stays in memory, and the next transaction stores
 * it, too.
 */
static void store(struct kwhy_keeper *keeper)
{
	const int64_t now_unix_ns = kwhy_clock_unix_ns();
	struct kwhy_store_batch batch = {.accounts = keeper->accounts,
		.meters = keeper->meters,
		.meter_count = keeper->meter_count,
		.boot = keeper->boot,
		.from_unix_ns = keeper->stored_unix_ns,
		.until_unix_ns = now_unix_ns};

	if (!keeper->store) {
		kwhy_accounts_stored(keeper->accounts);
		return;
	}
	if (kwhy_store_write(keeper->store, &batch, &keeper->store_error)) {
		keeper->store_failures++;
		return;
	}
	keeper->store_error = (struct kwhy_error){0};
	keeper->stored_unix_ns = now_unix_ns;
}

static enum kwhy_status look(struct kwhy_keeper *keeper, int64_t now_ns, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	keeper->looked_ns = now_ns;
	for (size_t i = 0; !status && i < keeper->meter_count; i++)
		if (keeper->meters[i].key && keeper->watched[i].device != KWHY_SENSOR_NO_DEVICE)
			status = look_at(keeper, i, now_ns, error);
	kwhy_holders_tidy(keeper->finder);
	return status;
}

/*
 * Whether `periods` periods have passed since since_ns, up to EARLY_NS early; true if since_ns is 0 (never).
 */
static bool is_over(const struct kwhy_keeper *keeper, int64_t since_ns, int64_t periods, int64_t now_ns)
{
	const int64_t period_ns = keeper->request.period_ns;
	const int64_t early_ns = period_ns / 2 < EARLY_NS ? period_ns / 2 : EARLY_NS;

	return !since_ns || now_ns - since_ns >= periods * period_ns - early_ns;
}

enum kwhy_status kwhy_keeper_tick(struct kwhy_keeper *keeper, int64_t now_mono_ns, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (!is_over(keeper, keeper->looked_ns, 1, now_mono_ns))
		return KWHY_OK;
	status = look(keeper, now_mono_ns, error);
	if (status || !is_over(keeper, keeper->stored_ns, LOOKS_A_TRANSACTION, now_mono_ns))
		return status;
	status = divide_host(keeper, error);
	keeper->stored_ns = now_mono_ns;
	if (!status)
		store(keeper);
	kwhy_accounts_forget(keeper->accounts, now_mono_ns - FORGET_NS);
	return status;
}

enum kwhy_status kwhy_keeper_close(struct kwhy_keeper *keeper, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (!keeper)
		return KWHY_OK;
	status = look(keeper, kwhy_sensors_now_ns(keeper->request.sensors), error);
	if (!status)
		status = divide_host(keeper, error);
	if (!status) {
		store(keeper);
		status = keeper->store_error.status;
		if (status)
			*error = keeper->store_error;
	}
	done(keeper);
	return status;
}

struct kwhy_keeper_state kwhy_keeper_state(struct kwhy_keeper *keeper)
{
	struct kwhy_keeper_state state = {.meters = keeper->meters,
		.meter_count = keeper->meter_count,
		.store_failures = keeper->store_failures,
		.store_problem = keeper->store_error.status ? keeper->store_error.text : NULL};

	state.rows = kwhy_accounts_rows(keeper->accounts, &state.row_count);
	return state;
}
