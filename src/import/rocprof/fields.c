/* SPDX-License-Identifier: Apache-2.0 */
#include "import/rocprof/fields.h"

#include "base/decimal.h"
#include "import/json_bridge.h"
#include "import/kineto/number.h"

#include <string.h>

struct reading {
	const struct kwhy_rocprof_field *fields;
	size_t count;
	struct kwhy_rocprof_value *out;
};

static struct kwhy_span span_of(const struct kwhy_kineto_walk *walk, struct kwhy_kineto_span span)
{
	return (struct kwhy_span){walk->text + span.at, span.length};
}

static void clear(struct kwhy_rocprof_value *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		values[i] = (struct kwhy_rocprof_value){KWHY_ROCPROF_UNKNOWN, {"", 0}};
}

static void take(
	const struct reading *reading, struct kwhy_span parent, struct kwhy_span key, struct kwhy_span value)
{
	for (size_t i = 0; i < reading->count; i++) {
		struct kwhy_rocprof_value *out = &reading->out[i];

		if (!kwhy_span_is(key, reading->fields[i].key) ||
			!kwhy_span_is(parent, reading->fields[i].parent))
			continue;
		if (value.bytes[0] == '"')
			out->text = (struct kwhy_span){value.bytes + 1, value.length - 2};
		else if (!kwhy_kineto_number_integer(value.bytes, value.length, &out->number))
			out->number = KWHY_ROCPROF_UNKNOWN;
		return;
	}
}

/*
 * Nested objects are searched for fields down to this depth, at which the sizes and ids in dispatch_info are.
 */
enum { DEPTH_MAX = 3 };

static void walk_object(
	const struct reading *reading, struct kwhy_kineto_walk *walk, struct kwhy_span parent, unsigned depth)
{
	struct kwhy_kineto_span key, value;

	for (walk->token++; kwhy_kineto_walk_peek(walk) != '}';
		walk->token += kwhy_kineto_walk_peek(walk) == ',') {
		if (!kwhy_kineto_walk_key(walk, &key))
			return;
		if (kwhy_kineto_walk_peek(walk) == '{' && depth < DEPTH_MAX)
			walk_object(reading, walk, span_of(walk, key), depth + 1);
		else if (!kwhy_kineto_walk_value(walk, &value))
			return;
		else
			take(reading, parent, span_of(walk, key), span_of(walk, value));
	}
	walk->token++;
}

void kwhy_rocprof_fields_walk(struct kwhy_kineto_walk walk, const struct kwhy_rocprof_field *fields,
	size_t count, struct kwhy_rocprof_value *out)
{
	const struct reading reading = {fields, count, out};

	clear(out, count);
	if (kwhy_kineto_walk_peek(&walk) == '{')
		walk_object(&reading, &walk, (struct kwhy_span){"", 0}, 0);
}

enum kwhy_status kwhy_rocprof_fields_read(struct kwhy_span text, const struct kwhy_rocprof_field *fields,
	size_t count, struct kwhy_rocprof_value *out, struct kwhy_error *error)
{
	struct kwhy_json_index *index;
	struct kwhy_kineto_walk walk = {.text = text.bytes}, check;
	enum kwhy_json_index_result result;
	size_t tokens;

	clear(out, count);
	if (text.length < 2 || text.length > UINT32_MAX / 2)
		return KWHY_OK;
	index = kwhy_json_index_new();
	if (!index)
		return kwhy_fail_memory(error, "reading a trace");
	result = kwhy_json_index_make(index, text.bytes, text.length, &walk.token, &tokens);
	check = walk;
	if (result == KWHY_JSON_INDEXED && tokens > 0 && kwhy_kineto_walk_skip(&check) &&
		check.token == walk.token + tokens)
		kwhy_rocprof_fields_walk(walk, fields, count, out);
	kwhy_json_index_free(index);
	return result == KWHY_JSON_NO_MEMORY ? kwhy_fail_memory(error, "reading a trace") : KWHY_OK;
}

const struct kwhy_rocprof_field kwhy_rocprof_agent_fields[KWHY_ROCPROF_AGENT_FIELDS] = {
	{"id", "handle"},
	{"", "logical_node_type_id"},
	{"", "type"},
	{"", "cu_count"},
	{"", "max_waves_per_cu"},
	{"", "max_waves_per_simd"},
	{"", "simd_per_cu"},
	{"", "wave_front_size"},
	{"", "lds_size_in_kb"},
	{"", "domain"},
	{"", "location_id"},
	{"", "local_mem_size"},
	{"", "product_name"},
	{"", "model_name"},
	{"", "name"},
};

struct kwhy_rocprof_figures kwhy_rocprof_figures_of(
	const struct kwhy_rocprof_value values[KWHY_ROCPROF_AGENT_FIELDS])
{
	return (struct kwhy_rocprof_figures){
		.id = values[0].number,
		.number = values[1].number,
		.is_gpu = values[2].number == 2, /* ROCPROFILER_AGENT_TYPE_GPU */
		.units = values[3].number,
		.waves_per_unit = values[4].number,
		.waves_per_simd = values[5].number,
		.simds_per_unit = values[6].number,
		.threads_per_wave = values[7].number,
		.lds_kib = values[8].number,
		.domain = values[9].number,
		.location = values[10].number,
		.memory_bytes = values[11].number,
		.product = values[12].text,
		.model = values[13].text,
		.name = values[14].text,
	};
}

enum { LAUNCHER_FIELDS = 8 };

/*
 * Environment variables of rank and number of ranks by launcher, in the order of preference: the launcher
 * that starts the process itself (torchrun) comes first, the scheduler (Slurm) last.
 */
static const struct kwhy_rocprof_field launcher_fields[LAUNCHER_FIELDS] = {
	{"", "RANK"},
	{"", "WORLD_SIZE"},
	{"", "OMPI_COMM_WORLD_RANK"},
	{"", "OMPI_COMM_WORLD_SIZE"},
	{"", "PMI_RANK"},
	{"", "PMI_SIZE"},
	{"", "SLURM_PROCID"},
	{"", "SLURM_NTASKS"},
};

static int64_t number_of(struct kwhy_span text)
{
	int64_t number;

	return kwhy_decimal_within(text, 0, UINT32_MAX, &number) ? number : KWHY_ROCPROF_UNKNOWN;
}

enum kwhy_status kwhy_rocprof_ranks_read(
	struct kwhy_span environment, struct kwhy_rocprof_ranks *out, struct kwhy_error *error)
{
	struct kwhy_rocprof_value values[LAUNCHER_FIELDS];
	enum kwhy_status status = kwhy_rocprof_fields_read(
		environment, launcher_fields, LAUNCHER_FIELDS, values, error);

	*out = (struct kwhy_rocprof_ranks){KWHY_ROCPROF_UNKNOWN, KWHY_ROCPROF_UNKNOWN};
	for (size_t i = 0; !status && i < LAUNCHER_FIELDS && out->world_size < 2; i += 2)
		*out = (struct kwhy_rocprof_ranks){number_of(values[i].text), number_of(values[i + 1].text)};
	return status;
}
