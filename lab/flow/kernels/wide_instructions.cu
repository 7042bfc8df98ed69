/* SPDX-License-Identifier: Apache-2.0 */
/* --- The instructions of the gates --- */

#ifdef __CUDA_ARCH__

static __device__ INLINE u32 shared_place(const void *place)
{
	return (u32)__cvta_generic_to_shared(place);
}

/* A barrier in shared memory that so many arrive at in each round, and bytes that are on their way. */
static __device__ INLINE void barrier_init(u64 *barrier, u32 count)
{
	asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_place(barrier)), "r"(count) : "memory");
}

static __device__ INLINE void barrier_expect(u64 *barrier, u32 bytes)
{
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_place(barrier)), "r"(bytes) : "memory");
}

enum : i64 { WAIT_MOST = (i64)4 << 30 }; /* cycles: a wait of some seconds never ends */

/* Until the round of that parity is over. */
static __device__ INLINE void barrier_wait(u64 *barrier, u32 parity)
{
	i64 start = 0;
	u32 done = 0;

	for (;;) {
		asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
			     : "=r"(done)
			     : "r"(shared_place(barrier)), "r"(parity)
			     : "memory");
		if (done)
			return;
		if (!start)
			start = clock64();
		else if (clock64() - start > WAIT_MOST)
			asm volatile("trap;");
	}
}

/* A warp has done with an image. */
static __device__ INLINE void barrier_leave(u64 *barrier)
{
	__syncwarp();
	if (threadIdx.x % 32 == 0)
		asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_place(barrier)) : "memory");
}

/* The copy engine brings them, and then arrives. */
static __device__ INLINE void copy_in(void *to, const void *from, u32 bytes, u64 *barrier)
{
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_place(to)),
		     "l"(from), "r"(bytes), "r"(shared_place(barrier))
		     : "memory");
}

/* What threads wrote to shared memory is seen by the copy engine, too. */
static __device__ INLINE void show_engine(void)
{
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

static __device__ INLINE void meet_some(u32 which, u32 threads)
{
	asm volatile("bar.sync %0, %1;" ::"r"(which), "r"(threads) : "memory");
}

static __device__ INLINE void let_go(u32 which, u32 threads)
{
	asm volatile("bar.arrive %0, %1;" ::"r"(which), "r"(threads) : "memory");
}

/* How a tensor instruction is told of an image, or of weights, whose 8 rows follow each other by 1024 bytes. 32 bytes are 2 of it. */
static __device__ INLINE u64 place_of(const u16 *image)
{
	return (u64)(shared_place(image) >> 4) | (u64)1 << 16 | (u64)(1024 >> 4) << 32 | (u64)1 << 62;
}

#define EIGHT(x, i) "+f"(x[i]), "+f"(x[i + 1]), "+f"(x[i + 2]), "+f"(x[i + 3]), "+f"(x[i + 4]), "+f"(x[i + 5]), "+f"(x[i + 6]), "+f"(x[i + 7])
#define SUMS_OF(x) EIGHT(x, 0), EIGHT(x, 8), EIGHT(x, 16), EIGHT(x, 24)

/* 64 rows of 16 numbers, as lanes have them, times those of 40 outputs; the sums are there after await_products(). */
static __device__ INLINE void multiply_out(float *x, const u32 rows[4], u64 weights)
{
	asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n40k16.f32.bf16.bf16 "
		     "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19}, "
		     "{%20, %21, %22, %23}, %24, p, 1, 1, 0; }"
		     : EIGHT(x, 0), EIGHT(x, 8), "+f"(x[16]), "+f"(x[17]), "+f"(x[18]), "+f"(x[19])
		     : "r"(rows[0]), "r"(rows[1]), "r"(rows[2]), "r"(rows[3]), "l"(weights));
}

/* 64 rows of 16 numbers of an image times those of three times 64 outputs, of twice, or of 64; not `more`: sums begin with it. */
static __device__ INLINE void multiply_thrice(float *x, float *y, float *z, u64 rows, u64 weights, u32 more)
{
	asm volatile("{ .reg .pred p; setp.ne.b32 p, %98, 0; wgmma.mma_async.sync.aligned.m64n192k16.f32.bf16.bf16 "
		     "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "
		     "%24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, "
		     "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, "
		     "%68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, "
		     "%90, %91, %92, %93, %94, %95}, %96, %97, p, 1, 1, 0, 0; }"
		     : SUMS_OF(x), SUMS_OF(y), SUMS_OF(z)
		     : "l"(rows), "l"(weights), "r"(more));
}

static __device__ INLINE void multiply_twice(float *x, float *y, u64 rows, u64 weights, u32 more)
{
	asm volatile("{ .reg .pred p; setp.ne.b32 p, %66, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
		     "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "
		     "%24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, "
		     "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
		     "%64, %65, p, 1, 1, 0, 0; }"
		     : SUMS_OF(x), SUMS_OF(y)
		     : "l"(rows), "l"(weights), "r"(more));
}

static __device__ INLINE void multiply_once(float *x, u64 rows, u64 weights, u32 more)
{
	asm volatile("{ .reg .pred p; setp.ne.b32 p, %34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
		     "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "
		     "%24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1, 0, 0; }"
		     : SUMS_OF(x)
		     : "l"(rows), "l"(weights), "r"(more));
}

static __device__ INLINE void begin_products(void)
{
	asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

static __device__ INLINE void end_products(void)
{
	asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* All but the last groups of them. */
#define await_but(count) asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(count) : "memory")

static __device__ INLINE void await_products(void)
{
	asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

/* 16 rows of 16 numbers of an image from number 16 k on. */
static __device__ INLINE void load_image_rows(u32 to[4], const u16 *image, u32 row, u32 k)
{
	u32 lane = threadIdx.x % 32;

	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
		     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
		     : "r"(shared_place(image + image_place(row + lane % 16, k * 16 + lane / 16 * 8)))
		     : "memory");
}

/* Four numbers of shared memory: of a pointer that may be to any memory the compiler would make slower loads. */
static __device__ INLINE void take_four(float to[4], const float *from)
{
	asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3]) : "r"(shared_place(from)));
}

/* 16 bytes to memory in one store. */
static __device__ INLINE void put_four(void *to, u32 x, u32 y, u32 z, u32 w)
{
	asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(x), "r"(y), "r"(z), "r"(w) : "memory");
}

/* Registers of those that multiply and of those that do not. */
static __device__ INLINE void take_registers(void)
{
	asm volatile("setmaxnreg.inc.sync.aligned.u32 216;");
}

static __device__ INLINE void leave_registers(void)
{
	asm volatile("setmaxnreg.dec.sync.aligned.u32 72;");
}

#endif
