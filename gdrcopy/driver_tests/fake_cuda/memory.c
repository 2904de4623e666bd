// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Memory: allocations, what an address is, and copies. */
#include "fake_cuda.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "../fake_nvidia/fakegpu.h"

#define PAGE 65536ul
#define MOST 4096

struct allocation {
	CUdeviceptr address;
	size_t size, asked;
	unsigned long long id;
	int of_host; /* memory of the process's own, which the GPU may reach */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct allocation allocations[MOST];
static unsigned long long next_id = 1;

static struct allocation *find(CUdeviceptr address)
{
	int i;

	for (i = 0; i < MOST; i++)
		if (allocations[i].address && address >= allocations[i].address &&
		    address < allocations[i].address + allocations[i].size)
			return &allocations[i];
	return NULL;
}

ENTRY CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
	struct fakegpu_alloc asked = { .size = (bytes + PAGE - 1) / PAGE * PAGE };
	CUresult result = bytes ? OUT_OF_MEMORY : INVALID_VALUE;
	int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < MOST && bytes; i++) {
		if (allocations[i].address)
			continue;
		if (!ioctl(fake_gpu, FAKEGPU_ALLOC, &asked)) {
			allocations[i] = (struct allocation){ asked.address, asked.size, bytes, next_id++, 0 };
			*address = asked.address;
			result = SUCCESS;
		}
		break;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

ENTRY CUresult cuMemFree_v2(CUdeviceptr address)
{
	struct fakegpu_free asked = { .address = address };
	struct allocation *found;
	CUresult result = INVALID_VALUE;

	pthread_mutex_lock(&lock);
	found = find(address);
	if (found && !found->of_host && found->address == address && !ioctl(fake_gpu, FAKEGPU_FREE, &asked)) {
		found->address = 0;
		result = SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

/* The GPU sees the host's memory at the same addresses. */
ENTRY CUresult cuMemHostRegister_v2(void *memory, size_t bytes, unsigned int flags)
{
	CUdeviceptr address = (uintptr_t)memory;
	CUresult result = INVALID_VALUE;
	int i;

	(void)flags;
	pthread_mutex_lock(&lock);
	for (i = 0; i < MOST && bytes && !find(address); i++)
		if (!allocations[i].address) {
			allocations[i] = (struct allocation){ address, bytes, bytes, next_id++, 1 };
			result = SUCCESS;
			break;
		}
	pthread_mutex_unlock(&lock);
	return result;
}

ENTRY CUresult cuMemHostUnregister(void *memory)
{
	struct allocation *found;
	CUresult result = INVALID_VALUE;

	pthread_mutex_lock(&lock);
	found = find((uintptr_t)memory);
	if (found && found->of_host && found->address == (uintptr_t)memory) {
		found->address = 0;
		result = SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

ENTRY CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *memory, unsigned int flags)
{
	(void)flags;
	*address = (uintptr_t)memory;
	return SUCCESS;
}

ENTRY CUresult cuMemHostAlloc(void **memory, size_t bytes, unsigned int flags)
{
	CUresult result;

	bytes = (bytes + PAGE - 1) / PAGE * PAGE;
	*memory = aligned_alloc(PAGE, bytes);
	result = *memory ? cuMemHostRegister_v2(*memory, bytes, flags) : OUT_OF_MEMORY;
	if (result)
		free(*memory);
	return result;
}

ENTRY CUresult cuMemFreeHost(void *memory)
{
	CUresult result = cuMemHostUnregister(memory);

	if (!result)
		free(memory);
	return result;
}

/* Into the host's memory, which all that was copied on the stream before it has reached. */
ENTRY CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value, unsigned int flags)
{
	struct allocation *found;
	CUresult result = INVALID_VALUE;

	(void)stream;
	(void)flags;
	pthread_mutex_lock(&lock);
	found = find(address);
	if (found && found->of_host) {
		__atomic_store_n((uint32_t *)(uintptr_t)address, value, __ATOMIC_SEQ_CST);
		result = SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

ENTRY CUresult cuMemGetInfo_v2(size_t *unused, size_t *total)
{
	*unused = 32 << 20;
	*total = 64 << 20;
	return SUCCESS;
}

ENTRY CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr address)
{
	struct allocation *found;

	pthread_mutex_lock(&lock);
	found = find(address);
	if (found && base)
		*base = found->address;
	if (found && size)
		*size = found->asked;
	pthread_mutex_unlock(&lock);
	return found ? SUCCESS : INVALID_VALUE;
}

static CUresult attribute(void *to, int which, const struct allocation *of)
{
	uint64_t wide = 0;
	int narrow = 0;

	switch (which) {
	case 1: /* context */
		wide = (uintptr_t)&fake_context;
		break;
	case 3: /* pointer */
	case 11: /* start of the range */
		wide = of->address;
		break;
	case 7: /* buffer's number */
		wide = of->id;
		break;
	case 12:
		wide = of->asked;
		break;
	case 17: /* pool */
		break;
	case 2: /* kind of memory: the host's, or the device's */
		narrow = of->of_host ? 1 : 2;
		goto is_narrow;
	case 10: /* can be shared by IPC, which this library cannot; so cudaMalloc memory says */
	case 13: /* mapped */
	case 15: /* for GPUDirect RDMA */
		narrow = 1;
		goto is_narrow;
	case 6:
	case 8:
	case 9:
	case 14:
is_narrow:
		memcpy(to, &narrow, sizeof(narrow));
		return SUCCESS;
	default:
		return INVALID_VALUE;
	}
	memcpy(to, &wide, sizeof(wide));
	return SUCCESS;
}

ENTRY CUresult cuPointerGetAttribute(void *to, int which, CUdeviceptr address)
{
	struct allocation *found;
	CUresult result;

	pthread_mutex_lock(&lock);
	found = find(address);
	result = found ? attribute(to, which, found) : INVALID_VALUE;
	pthread_mutex_unlock(&lock);
	return result;
}

ENTRY CUresult cuPointerGetAttributes(unsigned int count, int *which, void **to, CUdeviceptr address)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		cuPointerGetAttribute(to[i], which[i], address);
	return SUCCESS;
}

ENTRY CUresult cuPointerSetAttribute(const void *from, int which, CUdeviceptr address)
{
	(void)from;
	return which == 6 && find(address) ? SUCCESS : INVALID_VALUE;
}

/* Page by page, since an allocation's need not be contiguous. */
static CUresult copy(CUdeviceptr address, void *to, const void *from, size_t bytes)
{
	while (bytes) {
		struct fakegpu_where where = { .address = address };
		size_t piece = PAGE - address % PAGE;

		if (ioctl(fake_gpu, FAKEGPU_WHERE, &where))
			return INVALID_VALUE;
		piece = piece < bytes ? piece : bytes;
		if (to) {
			memcpy(to, (void *)(fake_bar + where.offset), piece);
			to = (char *)to + piece;
		} else {
			memcpy((void *)(fake_bar + where.offset), from, piece);
			from = (const char *)from + piece;
		}
		address += piece;
		bytes -= piece;
	}
	__sync_synchronize();
	return SUCCESS;
}

ENTRY CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
	return copy(to, NULL, from, bytes);
}

ENTRY CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
	return copy(from, to, NULL, bytes);
}

ENTRY CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
	(void)stream;
	return copy(to, NULL, from, bytes);
}

ENTRY CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	(void)stream;
	return copy(from, to, NULL, bytes);
}

ENTRY CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t bytes)
{
	void *from = malloc(bytes);
	CUresult result = OUT_OF_MEMORY;

	if (from) {
		memset(from, value, bytes);
		result = copy(to, NULL, from, bytes);
	}
	free(from);
	return result;
}
