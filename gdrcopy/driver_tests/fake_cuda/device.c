// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The device, its context, streams and events. */
#include "fake_cuda.h"

#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int fake_gpu = -1;
volatile uint8_t *fake_bar;
char fake_context;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int retained;
static _Thread_local CUcontext current[16];
static _Thread_local int depth;

static int open_gpu(void)
{
	glob_t found;
	size_t i;

	fake_gpu = open("/dev/fakegpu", O_RDWR | O_CLOEXEC);
	if (fake_gpu < 0)
		perror("/dev/fakegpu");
	if (fake_gpu < 0 || glob("/sys/bus/pci/devices/*/resource2_wc", 0, NULL, &found))
		return NO_DEVICE;
	for (i = 0; i < found.gl_pathc && !fake_bar; i++) {
		int fd = open(found.gl_pathv[i], O_RDWR | O_CLOEXEC);
		struct stat about = { 0 };
		void *at;

		fstat(fd, &about);
		at = mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (at != MAP_FAILED)
			fake_bar = at;
		close(fd);
	}
	globfree(&found);
	if (!fake_bar)
		perror("map the fake GPU's BAR");
	return fake_bar ? SUCCESS : NO_DEVICE;
}

ENTRY CUresult cuInit(unsigned int flags)
{
	CUresult result = SUCCESS;

	pthread_mutex_lock(&lock);
	if (flags)
		result = INVALID_VALUE;
	else if (!fake_bar)
		result = open_gpu();
	pthread_mutex_unlock(&lock);
	return result;
}

ENTRY CUresult cuDriverGetVersion(int *version)
{
	*version = 12040;
	return SUCCESS;
}

ENTRY CUresult cuGetErrorName(CUresult error, const char **name)
{
	*name = error == SUCCESS ? "CUDA_SUCCESS" : error == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" :
		error == INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE" : "CUDA_ERROR_UNKNOWN";
	return SUCCESS;
}

ENTRY CUresult cuGetErrorString(CUresult error, const char **text)
{
	return cuGetErrorName(error, text);
}

ENTRY CUresult cuDeviceGetCount(int *count)
{
	*count = 1;
	return SUCCESS;
}

ENTRY CUresult cuDeviceGet(int *device, int ordinal)
{
	*device = 0;
	return ordinal ? INVALID_DEVICE : SUCCESS;
}

ENTRY CUresult cuDeviceGetName(char *name, int length, int device)
{
	snprintf(name, (size_t)length, "fake GPU %d", device);
	return SUCCESS;
}

ENTRY CUresult cuDeviceGetUuid(void *uuid, int device)
{
	memset(uuid, 0x5a + device, 16);
	return SUCCESS;
}

ENTRY CUresult cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	(void)device;
	*bytes = 64 << 20;
	return SUCCESS;
}

ENTRY CUresult cuDeviceGetAttribute(int *value, int which, int device)
{
	(void)device;
	/* PCI slot, unified addresses, compute capability 9.0, GPUDirect RDMA and its flushing and order. */
	*value = which == 34 ? 4 : which == 75 ? 9 : which == 118 ? 100 : which == 41 || which == 116;
	return SUCCESS;
}

ENTRY CUresult cuDevicePrimaryCtxRetain(CUcontext *context, int device)
{
	(void)device;
	retained++;
	*context = &fake_context;
	return SUCCESS;
}

ENTRY CUresult cuDevicePrimaryCtxRelease_v2(int device)
{
	(void)device;
	retained--;
	return SUCCESS;
}

ENTRY CUresult cuDevicePrimaryCtxGetState(int device, unsigned int *flags, int *active)
{
	(void)device;
	*flags = 0;
	*active = retained > 0;
	return SUCCESS;
}

ENTRY CUresult cuCtxGetCurrent(CUcontext *context)
{
	*context = current[depth];
	return SUCCESS;
}

ENTRY CUresult cuCtxSetCurrent(CUcontext context)
{
	current[depth] = context;
	return SUCCESS;
}

ENTRY CUresult cuCtxPushCurrent_v2(CUcontext context)
{
	if (depth == 15)
		return INVALID_VALUE;
	current[++depth] = context;
	return SUCCESS;
}

ENTRY CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
	if (!depth)
		return INVALID_CONTEXT;
	if (context)
		*context = current[depth];
	depth--;
	return SUCCESS;
}

ENTRY CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, int device)
{
	(void)flags;
	cuDevicePrimaryCtxRetain(context, device);
	return cuCtxPushCurrent_v2(*context);
}

ENTRY CUresult cuCtxDestroy_v2(CUcontext context)
{
	if (depth && current[depth] == context)
		depth--;
	return cuDevicePrimaryCtxRelease_v2(0);
}

ENTRY CUresult cuCtxGetDevice(int *device)
{
	*device = 0;
	return current[depth] ? SUCCESS : INVALID_CONTEXT;
}

ENTRY CUresult cuCtxSynchronize(void)
{
	return SUCCESS;
}

ENTRY CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
	(void)flags;
	*stream = &fake_context;
	return SUCCESS;
}

ENTRY CUresult cuStreamDestroy_v2(CUstream stream)
{
	return stream ? SUCCESS : INVALID_HANDLE;
}

ENTRY CUresult cuStreamSynchronize(CUstream stream)
{
	(void)stream;
	return SUCCESS;
}

ENTRY CUresult cuStreamQuery(CUstream stream)
{
	(void)stream;
	return SUCCESS;
}

ENTRY CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
	(void)stream;
	(void)flags;
	return event ? SUCCESS : INVALID_HANDLE;
}

ENTRY CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
	(void)flags;
	*event = &fake_context;
	return SUCCESS;
}

ENTRY CUresult cuEventDestroy_v2(CUevent event)
{
	return event ? SUCCESS : INVALID_HANDLE;
}

ENTRY CUresult cuEventRecord(CUevent event, CUstream stream)
{
	(void)stream;
	return event ? SUCCESS : INVALID_HANDLE;
}

ENTRY CUresult cuEventQuery(CUevent event)
{
	return event ? SUCCESS : INVALID_HANDLE;
}

ENTRY CUresult cuEventSynchronize(CUevent event)
{
	return event ? SUCCESS : INVALID_HANDLE;
}
