# SPDX-License-Identifier: GPL-3.0-or-later
"""tasks.py MS -- asyncio tasks that await each other and measure themselves.

Each case burns MS milliseconds of CPU time in its own leaf, in rounds of 10, and
lets the event loop go on between.  Prints one line of JSON: the nanoseconds of
each case by the thread's CPU clock, and of the process.
"""
import asyncio
import json
import sys
import time

clock = time.thread_time_ns
ROUND = 10000000
used = {}


def spin(n):
    total = 0
    for i in range(n):
        total = (total * 31 + i) & 0xffff


async def burn(name, part):
    """Spends a round's time of a case, in turns."""
    while used.get(name, 0) < end:
        begin = clock()
        part()
        used[name] = used.get(name, 0) + clock() - begin
        await asyncio.sleep(0)


# A task that awaits a task, which awaits a task.
def chain_leaf():
    spin(3000)


async def chain_inner():
    await burn('chain', chain_leaf)


async def chain_middle():
    await asyncio.create_task(chain_inner())


async def chain_outer():
    await asyncio.create_task(chain_middle())


# Two at a time.
def gather_leaf():
    spin(3000)


async def gather_one():
    await burn('gather_one', gather_leaf)


async def gather_two():
    await burn('gather_two', gather_leaf)


async def gather_both():
    await asyncio.gather(gather_one(), gather_two())


# The same with a group.
def group_leaf():
    spin(3000)


async def group_member():
    await burn('group', group_leaf)


async def group_owner():
    async with asyncio.TaskGroup() as group:
        group.create_task(group_member())


# With a limit of time, with what waits for several, and without cancellation.
def limit_leaf():
    spin(3000)


async def limit_inner():
    await burn('limit', limit_leaf)


async def limit_outer():
    await asyncio.wait_for(asyncio.create_task(limit_inner()), 1000)


def wait_leaf():
    spin(3000)


async def wait_inner():
    await burn('wait', wait_leaf)


async def wait_outer():
    await asyncio.wait([asyncio.create_task(wait_inner())])


def shield_leaf():
    spin(3000)


async def shield_inner():
    await burn('shield', shield_leaf)


async def shield_outer():
    await asyncio.shield(asyncio.create_task(shield_inner()))


# A generator between.
def stream_leaf():
    spin(3000)


async def stream_inner():
    await burn('stream', stream_leaf)


async def stream():
    await asyncio.create_task(stream_inner())
    yield 1


async def stream_outer():
    async for _ in stream():
        pass


# No task of its own.
def plain_leaf():
    spin(3000)


async def plain_inner():
    await burn('plain', plain_leaf)


async def plain_outer():
    await plain_inner()


# Nobody awaits it yet.
def alone_leaf():
    spin(3000)


async def alone_inner():
    await burn('alone', alone_leaf)


async def alone_outer():
    task = asyncio.create_task(alone_inner())
    while not task.done():
        await asyncio.sleep(0)


async def main():
    global end
    for end in range(ROUND, int(sys.argv[1]) * 1000000 + 1, ROUND):
        for case in (chain_outer, gather_both, group_owner, limit_outer,
                     wait_outer, shield_outer, stream_outer, plain_outer,
                     alone_outer):
            await case()


asyncio.run(main())
used['all'] = time.process_time_ns()
print(json.dumps(used))
