/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_records.h -- the records of a perf.data file: their head and constants.
 *
 * All numbers are little-endian.
 * Source: linux 6.19, include/uapi/linux/perf_event.h and
 * tools/perf/Documentation/perf.data-file-format.txt.
 */
#ifndef CPPROF_FORMATS_PERF_RECORDS_H
#define CPPROF_FORMATS_PERF_RECORDS_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The head of every record. */
enum { PERF_HEADER_SIZE = 8, PERF_RECORD_SIZE_MAX = 65535 };

/* A branch of a sample: from, to, flags. */
enum { PERF_BRANCH_SIZE = 24 };

struct perf_record {
	uint32_t type;
	uint16_t misc;
	uint32_t size;			/* head included */
	const unsigned char *bytes;	/* [size] */
	uint64_t offset;		/* in the file, for errors */
};

/* The number in 8 bytes. */
static inline uint64_t
perf_number_at(const unsigned char *bytes)
{
	uint64_t number;

	memcpy(&number, bytes, sizeof number);
	return le64toh(number);
}

/* How many bytes such fields of a sample take that have 8 each. */
static inline size_t
perf_size_of_fields(uint64_t fields)
{
	return 8 * (size_t)__builtin_popcountll(fields);
}

/* The record at bytes[PERF_HEADER_SIZE] or more. */
static inline struct perf_record
perf_record_at(const unsigned char *bytes, uint64_t offset)
{
	return (struct perf_record){
		.type = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 |
		        (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24,
		.misc = (uint16_t)(bytes[4] | bytes[5] << 8),
		.size = (uint16_t)(bytes[6] | bytes[7] << 8),
		.bytes = bytes,
		.offset = offset,
	};
}

/* Types: the kernel's, and from 64 on perf's own. */
enum {
	PERF_MMAP = 1,
	PERF_LOST = 2,
	PERF_COMM = 3,
	PERF_EXIT = 4,
	PERF_FORK = 7,
	PERF_SAMPLE = 9,
	PERF_MMAP2 = 10,
	PERF_LOST_SAMPLES = 13,
	PERF_KSYMBOL = 17,
	PERF_CALLCHAIN_DEFERRED = 22,
	PERF_KERNEL_KNOWN = 22,		/* the kernel's last type */
	PERF_KERNEL_END = 64,
	PERF_ATTR = 64,
	PERF_TRACING_DATA = 66,
	PERF_BUILD_ID = 67,
	PERF_FINISHED_ROUND = 68,
	PERF_AUXTRACE = 71,
	PERF_EVENT_UPDATE = 78,
	PERF_FEATURE = 80,
	PERF_COMPRESSED = 81,
	PERF_COMPRESSED2 = 83,
	PERF_OWN_KNOWN = 86,		/* perf's last type */
};

/* Flag of PERF_KSYMBOL. */
enum { PERF_KSYMBOL_UNREGISTER = 1 << 0 };

/* misc: where the processor was, and flags of some types. */
enum {
	PERF_MODE_MASK = 7,
	PERF_MODE_KERNEL = 1,
	PERF_MODE_USER = 2,
	PERF_MODE_HYPERVISOR = 3,
	PERF_MODE_GUEST_KERNEL = 4,
	PERF_MODE_GUEST_USER = 5,
	PERF_MISC_COMM_EXEC = 1 << 13,
	PERF_MISC_MMAP_DATA = 1 << 13,
	PERF_MISC_MMAP_BUILD_ID = 1 << 14,
	PERF_MISC_BUILD_ID_SIZE = 1 << 15,
	PERF_MISC_LOST_SAMPLES_BPF = 1 << 15,
};

/* Marks in call chains: the context of the frames that follow. */
#define PERF_CONTEXT_MAX ((uint64_t)-4095)	/* no mark is below */
#define PERF_CONTEXT_HYPERVISOR ((uint64_t)-32)
#define PERF_CONTEXT_KERNEL ((uint64_t)-128)
#define PERF_CONTEXT_USER ((uint64_t)-512)
#define PERF_CONTEXT_USER_DEFERRED ((uint64_t)-640)
#define PERF_CONTEXT_GUEST ((uint64_t)-2048)
#define PERF_CONTEXT_GUEST_KERNEL ((uint64_t)-2176)
#define PERF_CONTEXT_GUEST_USER ((uint64_t)-2560)

/* The fields of a sample, in their order. */
enum {
	PERF_SAMPLE_IDENTIFIER = 1 << 16,
	PERF_SAMPLE_IP = 1 << 0,
	PERF_SAMPLE_TID = 1 << 1,
	PERF_SAMPLE_TIME = 1 << 2,
	PERF_SAMPLE_ADDR = 1 << 3,
	PERF_SAMPLE_ID = 1 << 6,
	PERF_SAMPLE_STREAM_ID = 1 << 9,
	PERF_SAMPLE_CPU = 1 << 7,
	PERF_SAMPLE_PERIOD = 1 << 8,
	PERF_SAMPLE_READ = 1 << 4,
	PERF_SAMPLE_CALLCHAIN = 1 << 5,
	PERF_SAMPLE_RAW = 1 << 10,
	PERF_SAMPLE_BRANCH_STACK = 1 << 11,
	PERF_SAMPLE_REGS_USER = 1 << 12,
	PERF_SAMPLE_STACK_USER = 1 << 13,
};

/* Of perf_event_attr. */
enum {
	PERF_TYPE_SOFTWARE = 1,
	PERF_BPF_OUTPUT = 10,		/* its config for what BPF writes */
	PERF_ATTR_SIZE_MIN = 64,	/* the first version's */
	PERF_ATTR_SIZE_MAX = 4096,	/* larger ones are damaged */
	PERF_ATTR_INHERIT = 1 << 1,
	PERF_ATTR_FREQ = 1 << 10,
	PERF_ATTR_SAMPLE_ID_ALL = 1 << 18,
	PERF_BRANCH_CALL_STACK = 1 << 11,
	PERF_BRANCH_HW_INDEX = 1 << 17,
	PERF_BRANCH_COUNTERS = 1 << 19,
	PERF_READ_TIME_ENABLED = 1 << 0,
	PERF_READ_TIME_RUNNING = 1 << 1,
	PERF_READ_ID = 1 << 2,
	PERF_READ_GROUP = 1 << 3,
	PERF_READ_LOST = 1 << 4,
};

/* Sections after the records of a file. */
enum {
	PERF_FEATURE_BUILD_ID = 2,
	PERF_FEATURE_HOSTNAME = 3,
	PERF_FEATURE_RELEASE = 4,
	PERF_FEATURE_COMMAND = 11,
	PERF_FEATURE_EVENTS = 12,
	PERF_FEATURE_DIRECTORY = 24,
	PERF_FEATURES = 256,
};

#endif
