/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/live/owner_show.h"

#include "base/csv_cell.h"
#include "base/iso_time.h"
#include "base/quantity.h"
#include "cli/output.h"
#include "fit/running.h"
#include "report/json/writer.h"
#include "report/table.h"
#include "report/text_context.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NJ_PER_J 1e9

/*
 * Width, in columns, of the text for a file or a pipe: so wide that no name is cut, because other programs
 * search for names there.
 */
enum { WHOLE_COLUMNS = 4096 };

#define NS_PER_S 1e9
#define S_PER_HOUR 3600.0

static double joules(kwhy_wide_nj energy_nj)
{
	return (double)energy_nj / NJ_PER_J;
}

/*
 * Energy in kWh from which cost and emissions are computed: that of the owner's devices and of its share of
 * the host, multiplied by the PUE (power usage effectiveness of the building).
 */
static double kwh_of(const struct kwhy_owner_table *table, const struct kwhy_owner_summary *item)
{
	return joules(item->energy_nj + item->host_nj) / KWHY_JOULES_PER_KWH * table->pue;
}

static double mean_w(const struct kwhy_owner_summary *item)
{
	return item->held_ns > 0 ? joules(item->energy_nj) / ((double)item->held_ns / NS_PER_S) : NAN;
}

static double gpu_hours(const struct kwhy_owner_summary *item)
{
	return (double)item->held_ns / NS_PER_S / S_PER_HOUR;
}

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : NAN;
}

static double busy_ratio(const struct kwhy_owner_summary *item)
{
	return ratio((double)item->busy_ns, (double)(item->held_ns - item->unknown_ns));
}

static double idle_ratio(const struct kwhy_owner_summary *item)
{
	if (!kwhy_owner_is_program(item->owner.kind) || item->unknown_ns >= item->held_ns)
		return NAN;
	return ratio((double)item->idle_nj, (double)item->energy_nj);
}

/* Writes an owner's kind and name: "slurm 4711", "kubernetes research/llama-0", "idle". */
static void write_name(const struct kwhy_owner *owner, struct kwhy_text *out)
{
	kwhy_text_clear(out);
	kwhy_text_add(out, kwhy_owner_kind_name(owner->kind));
	if (*owner->space || *owner->name)
		kwhy_text_add(out, " ");
	kwhy_text_add(out, owner->space);
	if (*owner->space && *owner->name)
		kwhy_text_add(out, "/");
	kwhy_text_add(out, owner->name);
}

static bool is_modelled(const struct kwhy_owner_summary *item)
{
	return item->low_nj != item->high_nj;
}

static void energy_cell(struct kwhy_table *to, const struct kwhy_owner_summary *item)
{
	char number[KWHY_QUANTITY_BYTES];

	kwhy_table_cell(to, kwhy_quantity_si(number, joules(item->energy_nj), "J", 4));
}

/*
 * Adds a cell with both ends of the interval, because their distances from the energy may differ: "2.04 to
 * 7.58 kJ".
 */
static void interval_cell(struct kwhy_table *to, const struct kwhy_owner_summary *item)
{
	char low[KWHY_QUANTITY_BYTES], high[KWHY_QUANTITY_BYTES], text[2 * KWHY_QUANTITY_BYTES + 4];
	const char *low_unit, *high_unit;

	kwhy_quantity_si(low, joules(item->low_nj), "J", 3);
	kwhy_quantity_si(high, joules(item->high_nj), "J", 3);
	low_unit = strchr(low, ' ');
	high_unit = strchr(high, ' ');
	if (low_unit && high_unit && strcmp(low_unit, high_unit) == 0)
		low[low_unit - low] = '\0';
	snprintf(text, sizeof(text), "%s to %s", low, high);
	kwhy_table_cell(to, is_modelled(item) ? text : "");
}

static void plain_cell(struct kwhy_table *to, double value, const char *unit)
{
	char number[KWHY_QUANTITY_BYTES], text[KWHY_QUANTITY_BYTES + 20];

	kwhy_quantity_plain(number, value);
	snprintf(text, sizeof(text), "%s%s%s", number, *unit ? " " : "", unit);
	kwhy_table_cell(to, isfinite(value) ? text : NULL);
}

static bool has_modelled(const struct kwhy_owner_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		if (is_modelled(&table->items[i]))
			return true;
	return false;
}

/*
 * Groups of columns, as bits: use (user, energy, power, time), amounts (emissions, cost) and words (the
 * finding). If a table with all columns is too wide for the terminal, two are written instead: one with
 * PART_USE, then one with PART_AMOUNTS and PART_WORDS.
 */
enum { PART_USE = 1, PART_AMOUNTS = 2, PART_WORDS = 4, PART_ALL = 7, COLUMNS_MAX = 10 };

static bool has_amounts(const struct kwhy_owner_table *table)
{
	return isfinite(table->g_per_kwh) || isfinite(table->price_per_kwh);
}

static void add_name(const struct kwhy_owner_summary *item, struct kwhy_table *to)
{
	struct kwhy_text name = {0};

	write_name(&item->owner, &name);
	to->failed |= name.failed;
	kwhy_table_cell(to, name.data);
	kwhy_text_done(&name);
}

static void add_use(
	const struct kwhy_owner_table *table, const struct kwhy_owner_summary *item, struct kwhy_table *to)
{
	kwhy_table_cell(to, item->owner.user);
	energy_cell(to, item);
	if (has_modelled(table))
		interval_cell(to, item);
	if (kwhy_owner_is_program(item->owner.kind)) {
		kwhy_table_real(to, mean_w(item), "W");
		plain_cell(to, gpu_hours(item), "h");
		kwhy_table_percent(to, busy_ratio(item));
	} else {
		for (int i = 0; i < 3; i++)
			kwhy_table_cell(to, "");
	}
}

static void add_row(const struct kwhy_owner_table *table, const struct kwhy_owner_summary *item, int parts,
	struct kwhy_table *to)
{
	char words[KWHY_SUMMARY_WORDS_BYTES];

	kwhy_summary_words(item, words);
	if (parts == PART_WORDS && !*words)
		return;
	add_name(item, to);
	if (parts & PART_USE)
		add_use(table, item, to);
	if (parts & PART_AMOUNTS && isfinite(table->g_per_kwh))
		plain_cell(to, kwh_of(table, item) * table->g_per_kwh, "g");
	if (parts & PART_AMOUNTS && isfinite(table->price_per_kwh))
		plain_cell(to, kwh_of(table, item) * table->price_per_kwh, table->currency);
	if (parts & PART_WORDS)
		kwhy_table_cell(to, words);
}

static size_t choose_columns(
	const struct kwhy_owner_table *table, int parts, struct kwhy_table_column columns[COLUMNS_MAX])
{
	const struct {
		const char *title;
		enum kwhy_column_kind kind;
		bool is_shown;
	} all[COLUMNS_MAX] = {{"owner", KWHY_COLUMN_NAME, true}, {"user", KWHY_COLUMN_LEFT, parts & PART_USE},
		{"energy", KWHY_COLUMN_RIGHT, parts & PART_USE},
		{"90 %", KWHY_COLUMN_RIGHT, parts & PART_USE && has_modelled(table)},
		{"a GPU", KWHY_COLUMN_RIGHT, parts & PART_USE},
		{"GPU time", KWHY_COLUMN_RIGHT, parts & PART_USE},
		{"busy", KWHY_COLUMN_RIGHT, parts & PART_USE},
		{"CO2e", KWHY_COLUMN_RIGHT, parts & PART_AMOUNTS && isfinite(table->g_per_kwh)},
		{"cost", KWHY_COLUMN_RIGHT, parts & PART_AMOUNTS && isfinite(table->price_per_kwh)},
		{"", KWHY_COLUMN_LEFT, parts & PART_WORDS}};
	size_t count = 0;

	for (size_t i = 0; i < COLUMNS_MAX; i++)
		if (all[i].is_shown)
			columns[count++] = (struct kwhy_table_column){all[i].title, all[i].kind};
	return count;
}

static void write_rows(const struct kwhy_owner_table *table, int parts, const struct kwhy_text_style *style,
	struct kwhy_text *out)
{
	struct kwhy_table_column columns[COLUMNS_MAX];
	struct kwhy_table text;

	kwhy_table_init(&text, columns, choose_columns(table, parts, columns));
	for (size_t i = 0; i < table->count; i++)
		add_row(table, &table->items[i], parts, &text);
	if (text.cell_count || parts & PART_USE)
		kwhy_table_write(&text, style, out);
}

/* Number of terminal columns of the widest line of a text. */
static size_t width_of(const struct kwhy_text *text)
{
	struct kwhy_text line = {0};
	size_t widest = 0;

	for (size_t at = 0, length; at < text->length; at += length + 1) {
		length = strcspn(text->data + at, "\n");
		kwhy_text_clear(&line);
		kwhy_text_add_bytes(&line, text->data + at, length);
		if (length && !line.failed && kwhy_text_columns(line.data) > widest)
			widest = kwhy_text_columns(line.data);
	}
	kwhy_text_done(&line);
	return widest;
}

static void write_tables(
	const struct kwhy_owner_table *table, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	const int rest = has_amounts(table) ? PART_AMOUNTS | PART_WORDS : PART_WORDS;

	write_rows(table, PART_ALL, style, out);
	if (width_of(out) <= style->columns)
		return;
	kwhy_text_clear(out);
	write_rows(table, PART_USE, style, out);
	kwhy_text_add(out, "\n");
	write_rows(table, rest, style, out);
}

static void write_notes(const struct kwhy_owner_table *table, size_t columns, struct kwhy_text *out)
{
	struct kwhy_text_style style = {.columns = columns};
	const struct kwhy_text_context context = {.style = &style, .out = out};
	char first[KWHY_ISO_TIME_BYTES], until[KWHY_ISO_TIME_BYTES];
	double host_j = 0;

	for (size_t i = 0; i < table->count; i++)
		host_j += joules(table->items[i].host_nj);
	kwhy_text_context_linef(&context, "", "accounts from %s to %s",
		kwhy_iso_time(first, table->stored->first_unix_ns),
		kwhy_iso_time(until, table->stored->until_unix_ns));
	if (has_modelled(table))
		kwhy_text_context_linef(&context, "",
			"energies with an interval (90 %%) are modelled, because others used the device at "
			"the same time");
	if (host_j > 0) {
		char text[KWHY_QUANTITY_BYTES];

		kwhy_text_context_linef(&context, "",
			"the host used %s in that time, divided by CPU time (modelled); see --json",
			kwhy_quantity_si(text, host_j, "J", 3));
	}
	if (isfinite(table->g_per_kwh) && table->region)
		kwhy_text_context_linef(&context, "", "%s: %.4g g CO2e a kWh, mean of %d (%s)",
			table->region->name, table->g_per_kwh, table->region->year, table->region->source);
	if (isfinite(table->g_per_kwh) || isfinite(table->price_per_kwh))
		kwhy_text_context_linef(
			&context, "", "amounts are of devices and host, times a PUE of %.4g", table->pue);
}

void kwhy_owners_text(const struct kwhy_owner_table *table, bool on_terminal, struct kwhy_text *out)
{
	const struct kwhy_text_style style = {.columns = on_terminal ? kwhy_output_columns() : WHOLE_COLUMNS};

	write_tables(table, &style, out);
	write_notes(table, kwhy_output_columns(), out);
}

/*
 * Whether the stored accounts have energy of the host. If not, the host had no meter, and each owner's share
 * of the host's energy is unknown.
 */
static bool has_host(const struct kwhy_stored *stored)
{
	for (size_t i = 0; i < stored->count; i++)
		if (stored->items[i].is_host)
			return true;
	return false;
}

static void interval_json(
	struct kwhy_json *json, const char *key, kwhy_wide_nj value, kwhy_wide_nj low, kwhy_wide_nj high)
{
	kwhy_json_row(json, key);
	kwhy_json_real(json, "value", joules(value));
	kwhy_json_real(json, "low", joules(low));
	kwhy_json_real(json, "high", joules(high));
	kwhy_json_object_end(json);
}

static void finding_json(struct kwhy_json *json, const struct kwhy_owner_summary *item)
{
	static const char *const ids[] = {[KWHY_HELD_WELL] = NULL,
		[KWHY_HELD_IDLE_DEVICES] = "held-idle-devices",
		[KWHY_HELD_IDLE_TIME] = "held-idle-time"};
	char words[KWHY_SUMMARY_WORDS_BYTES];
	kwhy_wide_nj waste_nj;
	enum kwhy_held_waste waste = kwhy_summary_waste(item, &waste_nj);

	if (waste == KWHY_HELD_WELL) {
		kwhy_json_null(json, "finding");
		return;
	}
	kwhy_json_row(json, "finding");
	kwhy_json_string(json, "id", ids[waste]);
	kwhy_json_string(json, "text", kwhy_summary_words(item, words));
	kwhy_json_real(json, "energy_j", joules(waste_nj));
	kwhy_json_object_end(json);
}

static void owner_json(
	const struct kwhy_owner_table *table, const struct kwhy_owner_summary *item, struct kwhy_json *json)
{
	char nj[KWHY_WIDE_BYTES], time[KWHY_ISO_TIME_BYTES];

	kwhy_json_object(json, NULL);
	kwhy_json_string(json, "kind", kwhy_owner_kind_name(item->owner.kind));
	kwhy_json_string(json, "name", item->owner.name);
	kwhy_json_string(json, "namespace", item->owner.space);
	kwhy_json_string(json, "user", item->owner.user);
	kwhy_json_string(json, "first", kwhy_iso_time(time, item->first_unix_ns));
	kwhy_json_string(json, "last", kwhy_iso_time(time, item->last_unix_ns));
	kwhy_json_string(json, "energy_nj", kwhy_wide_text(nj, item->energy_nj));
	interval_json(json, "energy_j", item->energy_nj, item->low_nj, item->high_nj);
	kwhy_json_real(json, "idle_j", isfinite(idle_ratio(item)) ? joules(item->idle_nj) : NAN);
	if (has_host(table->stored))
		interval_json(json, "host_modelled_j", item->host_nj, item->host_low_nj, item->host_high_nj);
	else
		kwhy_json_null(json, "host_modelled_j");
	kwhy_json_real(json, "mean_w_per_gpu", mean_w(item));
	kwhy_json_real(json, "gpu_hours", gpu_hours(item));
	kwhy_json_real(json, "busy_ratio", busy_ratio(item));
	kwhy_json_real(json, "idle_ratio", idle_ratio(item));
	kwhy_json_count(json, "gpus", item->device_count);
	kwhy_json_count(json, "idle_gpus", item->idle_device_count);
	kwhy_json_real(json, "co2e_g", kwh_of(table, item) * table->g_per_kwh);
	kwhy_json_real(json, "cost", kwh_of(table, item) * table->price_per_kwh);
	finding_json(json, item);
	kwhy_json_object_end(json);
}

void kwhy_owners_json(const struct kwhy_owner_table *table, struct kwhy_text *out)
{
	struct kwhy_json json;
	char nj[KWHY_WIDE_BYTES], time[KWHY_ISO_TIME_BYTES];

	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	kwhy_json_string(&json, "schema", "kwhy.jobs/1");
	kwhy_json_string(&json, "first", kwhy_iso_time(time, table->stored->first_unix_ns));
	kwhy_json_string(&json, "until", kwhy_iso_time(time, table->stored->until_unix_ns));
	kwhy_json_string(&json, "metered_nj", kwhy_wide_text(nj, table->stored->booked_nj));
	kwhy_json_string(&json, "currency", isfinite(table->price_per_kwh) ? table->currency : NULL);
	kwhy_json_real(&json, "price_per_kwh", table->price_per_kwh);
	kwhy_json_real(&json, "g_per_kwh", table->g_per_kwh);
	kwhy_json_real(&json, "pue", table->pue);
	kwhy_json_array(&json, "owners");
	for (size_t i = 0; i < table->count; i++)
		owner_json(table, &table->items[i], &json);
	kwhy_json_array_end(&json);
	kwhy_json_object_end(&json);
}

static void owner_csv(const struct kwhy_owner_table *table, const struct kwhy_owner_summary *item,
	bool with_host, struct kwhy_text *out)
{
	const char *const texts[] = {kwhy_owner_kind_name(item->owner.kind), item->owner.name,
		item->owner.space, item->owner.user};
	const kwhy_wide_nj energies[] = {
		item->energy_nj, item->low_nj, item->high_nj, item->idle_nj, item->host_nj};
	const bool is_known[] = {true, true, true, isfinite(idle_ratio(item)), with_host};
	char words[KWHY_SUMMARY_WORDS_BYTES], text[KWHY_WIDE_BYTES];

	for (size_t i = 0; i < 4; i++) {
		kwhy_csv_add_shown_text(out, texts[i]);
		kwhy_text_add(out, ",");
	}
	kwhy_text_addf(out, "%" PRId64 ",%" PRId64, item->first_unix_ns, item->last_unix_ns);
	for (size_t i = 0; i < 5; i++)
		kwhy_text_addf(out, ",%s", is_known[i] ? kwhy_wide_text(text, energies[i]) : "");
	kwhy_csv_add_real(out, mean_w(item));
	kwhy_csv_add_real(out, gpu_hours(item));
	kwhy_csv_add_real(out, busy_ratio(item));
	kwhy_csv_add_real(out, idle_ratio(item));
	kwhy_text_addf(out, ",%" PRIu32 ",%" PRIu32, item->device_count, item->idle_device_count);
	kwhy_csv_add_real(out, kwh_of(table, item) * table->g_per_kwh);
	kwhy_csv_add_real(out, kwh_of(table, item) * table->price_per_kwh);
	kwhy_text_add(out, ",");
	kwhy_csv_add_text(out, kwhy_summary_words(item, words));
	kwhy_text_add(out, "\n");
}

void kwhy_owners_csv(const struct kwhy_owner_table *table, struct kwhy_text *out)
{
	const bool with_host = has_host(table->stored);

	kwhy_text_add(out,
		"kind,name,namespace,user,first_unix_ns,last_unix_ns,energy_nj,energy_low_nj,energy_high_nj,"
		"idle_nj,host_modelled_nj,mean_w_per_gpu,gpu_hours,busy_ratio,idle_ratio,gpus,idle_gpus,co2e_"
		"g,"
		"cost,finding\n");
	for (size_t i = 0; i < table->count; i++)
		owner_csv(table, &table->items[i], with_host, out);
}
