/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --- Keys and values as they are kept: as activations are, or as fp8 (E4M3) with no scale. What attends by
 * the tensor instruction takes those as fp16, whatever activations are ---
 */
#if SHORT_CACHE
struct eight_kept {
	u32 of[2];
};

static __device__ u32 kept_of_four(float a, float b, float c, float d)
{
	return fp8_of(a, b) | fp8_of(c, d) << 16;
}

static __device__ struct eight_kept kept_of(const float v[8])
{
	struct eight_kept kept = {
		{kept_of_four(v[0], v[1], v[2], v[3]), kept_of_four(v[4], v[5], v[6], v[7])}};

	return kept;
}

static __device__ struct eight_kept kept_of_acts(const struct four *acts)
{
	float v[8];

	for (int i = 0; i < 4; i++)
		unpack(acts->of[i], v + 2 * i);
	return kept_of(v);
}

static __device__ struct eight_kept load_kept(const cached *from)
{
	u64 both = load_fresh_two(from);
	struct eight_kept kept = {{(u32)both, (u32)(both >> 32)}};

	return kept;
}

static __device__ void store_kept(cached *to, struct eight_kept kept)
{
	*(u64 *)(void *)to = (u64)kept.of[1] << 32 | kept.of[0];
}

static __device__ void floats_of_kept(const struct eight_kept *kept, float out[8])
{
	for (int i = 0; i < 4; i++)
		floats_of_halves(halves_of_fp8(kept->of[i / 2] >> 16 * (i % 2) & 0xffff), out + 2 * i);
}

static __device__ void keep_one(cached *to, float one)
{
	*to = (cached)fp8_of(one, 0);
}

static __device__ void keep_two(cached *to, float one, float two)
{
	*(u16 *)(void *)to = (u16)fp8_of(one, two);
}

/* 8 activations, as they are kept. */
static __device__ void keep_acts(cached *to, struct four acts)
{
	store_kept(to, kept_of_acts(&acts));
}

/* 8 of them as activations. */
static __device__ struct four acts_of_kept(const struct eight_kept *kept)
{
	float v[8];
	struct four acts;

	floats_of_kept(kept, v);
	for (int i = 0; i < 4; i++)
		acts.of[i] = pack(v[2 * i], v[2 * i + 1]);
	return acts;
}
#else
static __device__ void keep_one(cached *to, float one)
{
	*to = act_of(one);
}

static __device__ void keep_two(cached *to, float one, float two)
{
	store_two(to, one, two);
}

/* 16 bytes of activations. */
static __device__ void keep_acts(cached *to, struct four acts)
{
	*(struct four *)(void *)to = acts;
}
#endif
