/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/rank_wire.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum kind {
	BYTE,
	UNSIGNED_32,
	SIGNED_32,
	UNSIGNED_64,
	SIGNED_64,
	REAL, /* double; NAN: unknown */
	TEXT  /* ends with NUL within its size; has no control characters but tabs and line ends */
};

/* What the upper limit of a field is. */
enum bound {
	/* the field's member `most` */
	CONSTANT,
	/* number of ranks minus 1 */
	BELOW_RANKS,
	/* size of the buffers in bytes */
	CAPACITY,
	/* value of the field of the same kind at offset `most` of the message */
	ANOTHER_FIELD,
};

struct field {
	const char *name;
	size_t at, count; /* `at`: offset; `count`: bytes of a text, or elements of an array */
	enum kind kind;
	enum bound bound;
	double least, most;
};

struct message {
	size_t size;
	const struct field *fields; /* ends with a row whose name is NULL */
	bool of_each_rank;	    /* the message is an array of this struct, one for each rank */
};

/*
 * Upper limit of memory sizes, round numbers and numbers of readings: 2^53, up to which a double holds every
 * integer exactly.
 */
#define LARGE 9007199254740992.0
#define NUMBER_32 4294967295.0
#define NUMBER_63 9223372036854775807.0

enum { ROW_MAX = 1024, NUMA_MAX = 65535 };

#define AT(type, field, k, b, low, high)                          \
	{                                                         \
#field, offsetof(type, field), 1, k, b, low, high \
	}
#define TEXT_AT(type, field)                                                                    \
	{                                                                                       \
#field, offsetof(type, field), sizeof(((type *)0)->field), TEXT, CONSTANT, 0, 0 \
	}
#define END                  \
	{                    \
		.name = NULL \
	}

#define KEY_FIELDS(type, member)                                                             \
	AT(type, member.engine, UNSIGNED_32, CONSTANT, 0, KWHY_PAIR_ENGINE_COUNT - 1),       \
		AT(type, member.load, UNSIGNED_32, CONSTANT, 0, KWHY_PAIR_LOAD_COUNT - 1),   \
		AT(type, member.clock, UNSIGNED_32, CONSTANT, 0, KWHY_PAIR_CLOCK_COUNT - 1), \
		AT(type, member.source, UNSIGNED_32, BELOW_RANKS, 0, 0),                     \
		AT(type, member.target, UNSIGNED_32, BELOW_RANKS, 0, 0),                     \
		AT(type, member.bytes, UNSIGNED_64, CAPACITY, 1, 0)

#define SAMPLE_FIELDS(i)                                                                               \
	AT(struct kwhy_rank_batch, samples[i].start_unix_ns, SIGNED_64, ANOTHER_FIELD, 0,              \
		offsetof(struct kwhy_rank_batch, samples[i].end_unix_ns)),                             \
		AT(struct kwhy_rank_batch, samples[i].end_unix_ns, SIGNED_64, CONSTANT, 0, NUMBER_63), \
		AT(struct kwhy_rank_batch, samples[i].seconds, REAL, CONSTANT, -1e9, 1e9)

#define CONDITION_FIELDS(type, member)                                         \
	AT(type, member temperature_c, REAL, CONSTANT, -1e3, 1e6),             \
		AT(type, member clock_hz, REAL, CONSTANT, 0, INFINITY),        \
		AT(type, member memory_clock_hz, REAL, CONSTANT, 0, INFINITY), \
		AT(type, member power_w, REAL, CONSTANT, -1e9, 1e9),           \
		AT(type, member throttle_bits, UNSIGNED_32, CONSTANT, 0, NUMBER_32)

static const struct field hello_fields[] = {
	/*
	 * Here, `rank` and `size` are checked only against the limits of every run; rank_link.c compares them
	 * with those of this run, because it can give clearer messages.
	 */
	AT(struct kwhy_rank_hello, rank, UNSIGNED_32, CONSTANT, 0, KWHY_PAIR_GPUS_MAX - 1),
	AT(struct kwhy_rank_hello, size, UNSIGNED_32, CONSTANT, 2, KWHY_PAIR_GPUS_MAX),
	AT(struct kwhy_rank_hello, port, UNSIGNED_32, CONSTANT, 0, UINT16_MAX),
	AT(struct kwhy_rank_hello, process, SIGNED_64, CONSTANT, 1, INT32_MAX),
	TEXT_AT(struct kwhy_rank_hello, host), END};
static const struct field address_fields[] = {
	AT(struct kwhy_rank_address, rank, UNSIGNED_32, BELOW_RANKS, 0, 0),
	AT(struct kwhy_rank_address, port, UNSIGNED_32, CONSTANT, 0, UINT16_MAX),
	AT(struct kwhy_rank_address, family, UNSIGNED_32, CONSTANT, 0, 6),
	AT(struct kwhy_rank_address, scope, UNSIGNED_32, CONSTANT, 0, NUMBER_32),
	AT(struct kwhy_rank_address, process, SIGNED_64, CONSTANT, 1, INT32_MAX),
	TEXT_AT(struct kwhy_rank_address, host), END};
static const struct field facts_fields[] = {TEXT_AT(struct kwhy_pair_rank_facts, name),
	TEXT_AT(struct kwhy_pair_rank_facts, pci_address), TEXT_AT(struct kwhy_pair_rank_facts, driver_api),
	TEXT_AT(struct kwhy_pair_rank_facts, driver), TEXT_AT(struct kwhy_pair_rank_facts, nccl),
	TEXT_AT(struct kwhy_pair_rank_facts, host), TEXT_AT(struct kwhy_pair_rank_facts, settings),
	TEXT_AT(struct kwhy_pair_rank_facts, no_nccl),
	AT(struct kwhy_pair_rank_facts, process, SIGNED_64, CONSTANT, 1, INT32_MAX),
	AT(struct kwhy_pair_rank_facts, memory_bytes, UNSIGNED_64, CONSTANT, 0, LARGE),
	AT(struct kwhy_pair_rank_facts, numa_node, SIGNED_32, CONSTANT, -1, NUMA_MAX),
	AT(struct kwhy_pair_rank_facts, architecture, SIGNED_32, CONSTANT, 0, INT32_MAX),
	AT(struct kwhy_pair_rank_facts, sm_count, UNSIGNED_32, CONSTANT, 0, UINT16_MAX),
	AT(struct kwhy_pair_rank_facts, seed, UNSIGNED_32, CONSTANT, 0, NUMBER_32),
	AT(struct kwhy_pair_rank_facts, shares, UNSIGNED_32, CONSTANT, 0, 1), END};
static const struct field reach_fields[] = {{"is_direct", 0, KWHY_PAIR_GPUS_MAX, BYTE, CONSTANT, 0, 1}, END};
static const struct field batch_fields[] = {KEY_FIELDS(struct kwhy_rank_batch, key),
	AT(struct kwhy_rank_batch, verifies, UNSIGNED_32, CONSTANT, 0, 1),
	AT(struct kwhy_rank_batch, most, UNSIGNED_32, CONSTANT, 0, KWHY_PAIR_BATCH_SAMPLES),
	AT(struct kwhy_rank_batch, count, UNSIGNED_32, ANOTHER_FIELD, 0,
		offsetof(struct kwhy_rank_batch, most)),
	AT(struct kwhy_rank_batch, verified, UNSIGNED_32, CONSTANT, 0, 1), SAMPLE_FIELDS(0), SAMPLE_FIELDS(1),
	SAMPLE_FIELDS(2), SAMPLE_FIELDS(3), SAMPLE_FIELDS(4), END};
_Static_assert(KWHY_PAIR_BATCH_SAMPLES == 5, "a row for each sample");
static const struct field nccl_fields[] = {AT(struct kwhy_rank_nccl, all, UNSIGNED_32, CONSTANT, 0, 1), END};
static const struct field begin_fields[] = {KEY_FIELDS(struct kwhy_rank_begin, key),
	AT(struct kwhy_rank_begin, spoils, UNSIGNED_32, CONSTANT, 0, 1), END};
static const struct field rounds_fields[] = {
	AT(struct kwhy_rank_rounds, put, UNSIGNED_64, CONSTANT, 0, LARGE),
	AT(struct kwhy_rank_rounds, together, UNSIGNED_64, CONSTANT, 0, LARGE), END};
static const struct field issue_fields[] = {
	AT(struct kwhy_rank_issue, warm, UNSIGNED_32, CONSTANT, 0, ROW_MAX),
	AT(struct kwhy_rank_issue, count, UNSIGNED_32, CONSTANT, 1, ROW_MAX),
	AT(struct kwhy_rank_issue, is_held, UNSIGNED_32, CONSTANT, 0, 1),
	AT(struct kwhy_rank_issue, put_rounds, UNSIGNED_64, CONSTANT, 0, LARGE),
	AT(struct kwhy_rank_issue, together_rounds, UNSIGNED_64, CONSTANT, 0, LARGE), END};
static const struct field seconds_fields[] = {{"seconds", 0, 1, REAL, CONSTANT, -1e9, 1e9}, END};
static const struct field flag_fields[] = {{"flag", 0, 1, UNSIGNED_32, CONSTANT, 0, 1}, END};
static const struct field stream_fields[] = {
	AT(struct kwhy_rank_stream, count, UNSIGNED_32, CONSTANT, 1, ROW_MAX),
	AT(struct kwhy_rank_stream, returns, UNSIGNED_32, CONSTANT, 0, 1), END};
static const struct field clock_fields[] = {
	AT(struct kwhy_rank_clock, unix_ns, SIGNED_64, CONSTANT, 0, NUMBER_63),
	AT(struct kwhy_rank_clock, mono_ns, SIGNED_64, CONSTANT, 0, NUMBER_63), END};
static const struct field sense_fields[] = {CONDITION_FIELDS(struct kwhy_rank_sense, conditions.),
	AT(struct kwhy_rank_sense, readings, UNSIGNED_64, CONSTANT, 0, LARGE), END};
static const struct field condition_fields[] = {CONDITION_FIELDS(struct kwhy_transfer_conditions, ), END};
static const struct field drift_fields[] = {AT(struct kwhy_pair_drift, ppm, REAL, CONSTANT, -1e6, 1e6),
	AT(struct kwhy_pair_drift, half_width_ppm, REAL, CONSTANT, 0, INFINITY), END};
static const struct field no_fields[] = {END};

/* The bodies by request number: [0] of the request, [1] of its answer. */
static const struct message messages[][2] = {
	[KWHY_RANK_FACTS] = {{0, no_fields}, {sizeof(struct kwhy_pair_rank_facts), facts_fields}},
	[KWHY_RANK_LEARN] = {{sizeof(struct kwhy_pair_rank_facts), facts_fields, true},
		{KWHY_PAIR_GPUS_MAX, reach_fields}},
	[KWHY_RANK_BATCH] = {{sizeof(struct kwhy_rank_batch), batch_fields},
		{sizeof(struct kwhy_rank_batch), batch_fields}},
	[KWHY_RANK_NCCL] = {{sizeof(struct kwhy_rank_nccl), nccl_fields}, {0, no_fields}},
	[KWHY_RANK_BEGIN] = {{sizeof(struct kwhy_rank_begin), begin_fields},
		{sizeof(struct kwhy_rank_rounds), rounds_fields}},
	[KWHY_RANK_ISSUE] = {{sizeof(struct kwhy_rank_issue), issue_fields}, {0, no_fields}},
	[KWHY_RANK_GO] = {{0, no_fields}, {0, no_fields}},
	[KWHY_RANK_DRAIN] = {{0, no_fields}, {sizeof(double), seconds_fields}},
	[KWHY_RANK_VERIFY] = {{0, no_fields}, {sizeof(uint32_t), flag_fields}},
	[KWHY_RANK_STREAM] = {{sizeof(struct kwhy_rank_stream), stream_fields}, {0, no_fields}},
	[KWHY_RANK_CLOCK] = {{0, no_fields}, {sizeof(struct kwhy_rank_clock), clock_fields}},
	[KWHY_RANK_SENSE] = {{sizeof(struct kwhy_rank_sense), sense_fields},
		{sizeof(struct kwhy_transfer_conditions), condition_fields}},
	[KWHY_RANK_MARK] = {{sizeof(uint32_t), flag_fields}, {0, no_fields}},
	[KWHY_RANK_DRIFT] = {{0, no_fields}, {sizeof(struct kwhy_pair_drift), drift_fields}},
	[KWHY_RANK_PART] = {{0, no_fields}, {0, no_fields}},
	[KWHY_RANK_STOP] = {{0, no_fields}, {0, no_fields}},
	[KWHY_RANK_HELLO] = {{sizeof(struct kwhy_rank_hello), hello_fields}, {0, no_fields}},
	[KWHY_RANK_ADDRESSES] = {{sizeof(struct kwhy_rank_address), address_fields, true}, {0, no_fields}},
};

#define READ_AS(type)                              \
	{                                          \
		type value;                        \
		memcpy(&value, at, sizeof(value)); \
		return (long double)value;         \
	}

/*
 * Value of the field at address `at`. On x86 a long double holds 64-bit integers exactly; on other machines
 * it may round them, so that limits near 2^63 are checked less exactly.
 */
static long double value_of(enum kind kind, const unsigned char *at)
{
	switch (kind) {
	case BYTE:
		return at[0];
	case UNSIGNED_32:
		READ_AS(uint32_t)
	case SIGNED_32:
		READ_AS(int32_t)
	case UNSIGNED_64:
		READ_AS(uint64_t)
	case SIGNED_64:
		READ_AS(int64_t)
	default:
		READ_AS(double)
	}
}

static bool is_text(const unsigned char *at, size_t size)
{
	size_t length = strnlen((const char *)at, size);

	for (size_t i = 0; i < length; i++)
		if ((at[i] < ' ' && at[i] != '\t' && at[i] != '\n') || at[i] == 0x7f)
			return false;
	return length < size;
}

static long double most_of(
	const struct field *field, const unsigned char *message, const struct kwhy_rank_limits *limits)
{
	switch (field->bound) {
	case BELOW_RANKS:
		return (long double)limits->ranks - 1;
	case CAPACITY:
		return (long double)limits->bytes_most;
	case ANOTHER_FIELD:
		return value_of(field->kind, message + (size_t)field->most);
	default:
		return field->most;
	}
}

static enum kwhy_status check_field(const struct field *field, const unsigned char *message,
	const struct kwhy_rank_limits *limits, struct kwhy_error *error)
{
	const unsigned char *at = message + field->at;
	const long double most = field->kind == TEXT ? 0 : most_of(field, message, limits);

	if (field->kind == TEXT)
		return is_text(at, field->count)
			? KWHY_OK
			: kwhy_fail(error, KWHY_E_INPUT,
				  "a rank sends a text without an end, or with control characters, as '%s'; "
				  "run one version of kwhy on all ranks",
				  field->name);
	for (size_t i = 0; i < field->count; i++) {
		long double value = value_of(field->kind, at + i);

		if (!(value >= field->least && value <= most) && !(field->kind == REAL && isnan(value)))
			return kwhy_fail(error, KWHY_E_INPUT,
				"a rank sends %.10Lg as '%s', which is from %.10g to %.10Lg; run one version "
				"of kwhy on all ranks",
				value, field->name, field->least, most);
	}
	return KWHY_OK;
}

static enum kwhy_status check_message(const struct message *message, const unsigned char *bytes,
	const struct kwhy_rank_limits *limits, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (const struct field *field = message->fields; !status && field->name; field++)
		status = check_field(field, bytes, limits, error);
	return status;
}

enum kwhy_status kwhy_rank_wire_check(enum kwhy_rank_word word, bool is_answer, const void *bytes,
	size_t length, const struct kwhy_rank_limits *limits, struct kwhy_error *error)
{
	const struct message *message;
	enum kwhy_status status = KWHY_OK;
	size_t count;

	if ((size_t)word >= sizeof(messages) / sizeof(messages[0]) || !messages[word][0].fields)
		return kwhy_fail(error, KWHY_E_INPUT,
			"a rank asks an unknown request; run one version of kwhy on all ranks");
	message = &messages[word][is_answer];
	count = message->of_each_rank ? limits->ranks : 1;
	if (length != count * message->size)
		return kwhy_fail(error, KWHY_E_INPUT,
			"a rank sends %zu bytes where %zu belong; run one version of kwhy on all of them",
			length, count * message->size);
	for (size_t i = 0; !status && i < count; i++)
		status = check_message(
			message, (const unsigned char *)bytes + i * message->size, limits, error);
	return status;
}
