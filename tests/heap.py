# SPDX-License-Identifier: GPL-3.0-or-later
"""heap.py -- what `record -r live` says of memory in use, against programs that
count it themselves and against the C library's own count.

Estimates are compared in standard errors of the estimate, which the program
works out from the sizes of its blocks.  Speaks TAP.
"""
import math
import os
import subprocess
import tempfile

from claims import Claims, rounds
from collector_file import Profile
from cpprof import documents, for_preload, run

BUILD = os.path.abspath(os.environ.get("builddir", "."))
PROGRAM = os.path.join(BUILD, "tests/programs/heap")
INTERVAL = 65536

# So far may an estimate be from the truth.  One in 1.7 million is further.
MOST_ERRORS = 5


# Another allocator: blocks of powers of two from chunks that it maps, each with
# its size in front.  What is freed is given out again, and the large are unmapped.
ALLOCATOR = r"""
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { HEAD = 16, CHUNK = 1 << 20, LARGE = CHUNK / 4 };
struct head { size_t size, distance; };	/* from the start of the room */
static struct free_room { struct free_room *next; } *rooms[64];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *chunk;
static size_t left;

static char *
map(size_t size)
{
    char *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

static char *
take_room(size_t size)
{
    const int kind = 64 - __builtin_clzl(size - 1);
    char *room;

    if (size >= LARGE)
        return map(size);
    pthread_mutex_lock(&lock);
    room = (char *)rooms[kind];
    if (room != NULL) {
        rooms[kind] = rooms[kind]->next;
    } else {
        if (left < (size_t)1 << kind) {
            chunk = map(CHUNK);
            left = chunk == NULL ? 0 : CHUNK;
        }
        if (left > 0) {
            left -= (size_t)1 << kind;
            room = chunk + left;
        }
    }
    pthread_mutex_unlock(&lock);
    return room;
}

void *
memalign(size_t alignment, size_t size)
{
    const size_t needed = size + alignment + HEAD;
    char *room = take_room(needed), *block;

    if (room == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    block = (char *)(((uintptr_t)room + HEAD + alignment - 1) & -alignment);
    ((struct head *)(block - HEAD))->size = needed;
    ((struct head *)(block - HEAD))->distance = (size_t)(block - room);
    return block;
}

void *malloc(size_t size) { return memalign(16, size); }
void *aligned_alloc(size_t a, size_t size) { return memalign(a, size); }

int
posix_memalign(void **block, size_t alignment, size_t size)
{
    *block = memalign(alignment, size);
    return *block == NULL ? ENOMEM : 0;
}

void
free(void *block)
{
    struct head head;
    char *room;

    if (block == NULL)
        return;
    head = *(struct head *)((char *)block - HEAD);
    room = (char *)block - head.distance;
    if (head.size >= LARGE) {
        munmap(room, head.size);
        return;
    }
    pthread_mutex_lock(&lock);
    ((struct free_room *)room)->next = rooms[64 - __builtin_clzl(head.size - 1)];
    rooms[64 - __builtin_clzl(head.size - 1)] = (struct free_room *)room;
    pthread_mutex_unlock(&lock);
}

void *
calloc(size_t n, size_t size)
{
    void *block = malloc(n * size);

    return block == NULL ? NULL : memset(block, 0, n * size);
}

void *
realloc(void *old, size_t size)
{
    void *block = malloc(size);
    size_t had;

    if (old == NULL || block == NULL)
        return block;
    had = ((struct head *)((char *)old - HEAD))->size - 16 - HEAD;
    memcpy(block, old, had < size ? had : size);
    free(old);
    return block;
}
"""


def record(directory, mode, seed=1, interval=INTERVAL, allocator=None):
    """The recording of a run, and what the program says of itself."""
    name = os.path.join(directory, f"{mode}-{seed}.cpprof")
    more = {}
    if allocator is not None:
        name = os.path.join(directory, f"{mode}-{seed}-preloaded.cpprof")
        more["env"] = dict(os.environ, LD_PRELOAD=for_preload(allocator))
    done = run("record", "-o", name, "-r", f"live:{interval}", PROGRAM, mode,
               str(interval), str(seed), **more)
    if allocator is not None:
        assert "own malloc" not in done.stderr, done.stderr
    return name, [line.split() for line in done.stdout.splitlines()]


def amounts(name, resource, *commands):
    """Bytes, or blocks, of the stacks that contain each function."""
    found = documents([name], *commands, f"resource {resource}", "threshold 0",
                      "functions")[-1]
    interval = found["resource"]["interval"]
    return {row["path"][0]: row["hits"] * interval for row in found["rows"]}


def compare(found, rows, what=""):
    """Differences of more than so many standard errors."""
    differences = []
    for function, true, _, variance in rows:
        error = math.sqrt(float(variance))
        got = found.get(function, 0)
        if abs(got - float(true)) > MOST_ERRORS * error + 0.5:
            differences.append(f"{what}{function} has {true} bytes; measured "
                               f"{got}, standard error {error:.0f}")
    return differences


def check_points(directory, seed):
    """At any time, of each function, and of all beside mallinfo2."""
    name, lines = record(directory, "points", seed)
    timeline = documents([name], "resource live-bytes", "timeline")[-1]
    width, origin = timeline["width_ns"], timeline["origin_ns"]
    differences, squares, n = [], 0, 0
    points = []
    for line in lines:
        if line[0] == "at":
            points.append((int(line[1]), int(line[2]), int(line[3]), []))
        else:
            points[-1][3].append(line)
    for begin, end, in_use, rows in points:
        # A slice that ends during the pause.
        at = (end - origin) // width * width
        if at + origin <= begin:
            continue
        n += 1
        found = amounts(name, "live-bytes", f"narrow time ..{at / 1e9:.6f}s")
        differences += compare(found, rows, f"at {at / 1e9}: ")
        true = sum(float(row[1]) for row in rows)
        error = math.sqrt(sum(float(row[3]) for row in rows))
        got = sum(found.get(row[0], 0) for row in rows)
        squares += ((got - true) / error) ** 2
        # The library counts 16 bytes at most for each block, alignment too, and
        # what the program has not counted itself: buffers, this library's.
        n_blocks = sum(int(row[2]) for row in rows)
        if not true <= in_use <= true + 40 * n_blocks + 200000 + 8192 * \
                sum(int(row[2]) for row in rows if row[0] == "keep_aligned"):
            differences.append(f"mallinfo2 says {in_use}, the program {true}")
        if not abs(got - in_use) <= MOST_ERRORS * error + in_use - true:
            differences.append(f"mallinfo2 says {in_use}, measured {got}")
        # Nothing changes after the last slice.
        row = timeline["rows"][min(at // width, len(timeline["rows"])) - 1]
        level = row["hits"] * INTERVAL
        total = documents([name], "resource live-bytes",
                          f"narrow time ..{at / 1e9:.6f}s",
                          "functions")[-1]["total"] * INTERVAL
        if level != total:
            differences.append(f"timeline says {level}, narrow {total}")
    if n < 10:
        differences.append(f"only {n} points have a slice that ends in them")
    # Points have most blocks in common, so their errors are alike; that of one
    # point squared has a mean of 1.
    elif squares / n > 12:
        differences.append(f"mean squared error {squares / n} of points")
    return differences


def check_counts(directory, mode, interval=INTERVAL, allocator=None):
    """At the end, of each function; no node has freed more than it allocated."""
    name, lines = record(directory, mode, interval=interval,
                         allocator=allocator)
    differences = compare(amounts(name, "live-bytes"), lines)
    for process in os.listdir(name):
        # Reads the file, and checks that its blocks are what it says is left.
        if process.startswith("cpprofdata."):
            Profile(os.path.join(name, process))
    for gain, loss in (("alloc-bytes", "freed-bytes"), ("allocs", "frees")):
        gained = amounts(name, gain)
        differences += [f"{function}: {loss} {lost}, {gain} {gained[function]}"
                        for function, lost in amounts(name, loss).items()
                        if lost > gained[function]]
    return differences


def check_threads(directory):
    """What all threads have freed again is nothing, to the last block."""
    differences = check_counts(directory, "threads", 4096)
    name = os.path.join(directory, "threads-1.cpprof")
    made, freed = (amounts(name, resource)["produce"]
                   for resource in ("allocs", "frees"))
    if made != freed:
        differences.append(f"{made} allocated, {freed} freed")
    # 800,000 blocks of 1500 bytes on average: so many samples of 4 KiB.
    if abs(made - 800000) > 40000:
        differences.append(f"{made} blocks measured of 800000")
    return differences


def build_allocator(directory):
    """The path of that library; None: there is no compiler."""
    library = os.path.join(directory, "liballocator.so")
    done = subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-fno-builtin",
                           "-o", library, "-x", "c", "-"], input=ALLOCATOR,
                          text=True, capture_output=True, timeout=120)
    return library if done.returncode == 0 else None


def check_preloaded(directory, allocator):
    """All blocks of another allocator, and nothing that it maps for itself."""
    differences = []
    for mode, interval in (("storm", 8192), ("forks", 4096)):
        differences += check_counts(directory, mode, interval, allocator)
        name = os.path.join(directory, f"{mode}-1-preloaded.cpprof")
        found = amounts(name, "alloc-bytes")
        differences += [f"{mode}: {where} {found[where]}" for where in found
                        if "mmap" in where or "take_room" in where]
    # The threads' blocks, each of which another may free.
    differences += check_counts(directory, "threads", 4096, allocator)
    return differences


def check_preloaded_amounts(directory, allocator):
    """What is allocated, without live: 480,000 blocks of 1,000 bytes."""
    differences = []
    for resource, interval, true in (("allocs", 1000, 480000),
                                     ("alloc-bytes", 65536, 480000000)):
        name = os.path.join(directory, f"{resource}-preloaded.cpprof")
        said = run("record", "-o", name, "-r", f"{resource}:{interval}",
                   PROGRAM, "many", "1024", "1",
                   env=dict(os.environ,
                            LD_PRELOAD=for_preload(allocator))).stderr
        found = amounts(name, resource).get("keep_small", 0)
        # Off by one interval at each end.
        if abs(found - true) > 2 * interval or "own malloc" in said:
            differences.append(f"{resource} {found} of {true}: {said}")
    return differences


def check_leave(directory):
    """Threads allocate while the process exits."""
    differences = check_counts(directory, "leave")
    name = os.path.join(directory, "leave-1.cpprof")
    live = amounts(name, "live-bytes").get("produce", 0)
    # Three threads keep 64 blocks of at most 30000 bytes each.
    if live > 3 * 64 * 15000 * 3:
        differences.append(f"{live} bytes in use by produce")
    return differences


def check_leaks(directory):
    """Ages: what was allocated at once is as old as that; sums are the same."""
    name, lines = record(directory, "storm", 2)
    leaks, live = documents([name], "resource live-bytes", "threshold 0",
                            "leaks", "functions")
    differences = []
    if leaks["total"] != live["total"]:
        differences.append(f"leaks has {leaks['total']}, live-bytes "
                           f"{live['total']}")
    ages = [row["oldest_ns"] for row in leaks["rows"]]
    if ages != sorted(ages, reverse=True):
        differences.append(f"ages {ages}")
    for row in leaks["rows"]:
        if not row["oldest_ns"] >= row["median_ns"] >= row["newest_ns"]:
            differences.append(row)
    if not any("keep_grown" in row["path"] for row in leaks["rows"]):
        differences.append(leaks["rows"])
    return differences


NOT_FOLLOWED = "allocations not followed: too many, or collector was busy"


def check_crowded(directory):
    """If blocks were sampled as before while the table fills, it would be too
    small for 79% of 80000."""
    name, lines = record(directory, "crowded", interval=64)
    tallies = documents([name], "info")[-1]["tallies"]
    differences = compare(amounts(name, "live-bytes"), lines)
    if tallies.get(NOT_FOLLOWED, 0) > 0:
        differences.append(tallies)
    return differences


def check_full(directory):
    """Each block is followed, or told as not followed."""
    name, [(_, size, n_blocks, _)] = record(directory, "full", interval=1)
    dropped = documents([name], "info")[-1]["tallies"].get(NOT_FOLLOWED, 0)
    found = amounts(name, "live-bytes").get("keep_small", 0)
    followed = found * int(n_blocks) / int(size)
    # Some blocks are the C library's.
    if not 0 <= followed + dropped - int(n_blocks) <= 20 or \
            not 49132 <= followed <= 49152:
        return [f"{followed} blocks followed, {dropped} not, of {n_blocks}"]
    return []


def check_borrowed(directory):
    """What a child of vfork allocates is not followed, and that is told."""
    differences = check_counts(directory, "borrowed", 1024)
    tallies = documents([os.path.join(directory, "borrowed-1.cpprof")],
                        "info")[-1]["tallies"]
    if tallies.get(NOT_FOLLOWED, 0) != 10:
        differences.append(tallies)
    return differences


def check_killed(directory):
    """Where a child of vfork was killed with the lock, as one run of five has it,
    nobody waits for it again and again: that took a second or two for each of
    6,000 calls.  It is told."""
    for seed in range(1, 100):
        name, _ = record(directory, "killed", seed)
        tallies = documents([name], "info")[-1]["tallies"]
        if any("killed in the collector" in what for what in tallies):
            return []
    return [f"no child was killed with the lock, or it is not told: {tallies}"]


def check_options():
    """What -r live counts anyway is refused beside it, and its parts alone."""
    differences = []
    for options, why in ((("-r", "live", "-r", "allocs"), "-r live counts"),
                         (("-r", "alloc-bytes", "-r", "live"), "-r live counts"),
                         (("-r", "freed-bytes"), "-r live counts it"),
                         (("-r", "frees"), "-r live counts it")):
        done = run("record", *options, "true", status=(1, 2))
        if why not in done.stderr:
            differences.append((options, done.stderr))
    return differences


def main():
    claims = Claims()
    with tempfile.TemporaryDirectory() as directory:
        for seed in range(1, 1 + rounds(1)):
            claims.make(f"what is in use at any time, seed {seed}",
                        check_points(directory, seed))
        claims.make("blocks that are reallocated again and again",
                    check_counts(directory, "storm", 8192))
        claims.make("very many blocks, and NULL is freed",
                    check_counts(directory, "many", 1024))
        claims.make("blocks that other threads free",
                    check_threads(directory))
        claims.make("a forked child counts its own blocks alone",
                    check_counts(directory, "forks"))
        claims.make("mappings, and parts that are unmapped",
                    check_counts(directory, "mappings"))
        claims.make("mappings in any order, to the byte",
                    check_counts(directory, "scramble", 1024))
        claims.make("a table that fills: fewer blocks are sampled",
                    check_crowded(directory))
        claims.make("a full table: the others are told", check_full(directory))
        claims.make("what children of vfork allocate is told",
                    check_borrowed(directory))
        claims.make("children of vfork that are killed in the collector",
                    check_killed(directory))
        claims.make("threads that allocate while the process ends",
                    check_leave(directory))
        claims.make("resources that only live counts", check_options())
        allocator = build_allocator(directory)
        if allocator is not None:
            claims.make("blocks of a preloaded allocator",
                        check_preloaded(directory, allocator))
            claims.make("amounts of a preloaded allocator",
                        check_preloaded_amounts(directory, allocator))
        claims.make("leaks: the same sum, oldest first", check_leaks(directory))
    claims.end()


if __name__ == "__main__":
    main()
