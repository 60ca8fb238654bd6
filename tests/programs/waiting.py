# SPDX-License-Identifier: GPL-3.0-or-later
"""waiting.py -- tasks of asyncio that wait, and say where and since when.

Reads lines: "report" prints what the tasks say of themselves, as a line of
JSON; "push" starts a task that lets the one called mover go on to its next
place, five times; "spoil N" overwrites memory of its tasks at random, and then
nothing runs any more.  Ends with its input.  Two threads have a loop each.
"""
import asyncio
import ctypes
import gc
import json
import os
import random
import socket
import threading
import time

began = {}


def wait():
    """The task begins to wait now."""
    began[asyncio.current_task().get_name()] = time.monotonic()


async def sleeper(seconds):
    wait()
    await asyncio.sleep(seconds)


async def for_event(event):
    wait()
    await event.wait()


async def for_queue(queue):
    wait()
    return await queue.get()


async def for_lock(lock):
    async with lock:
        wait()
        await asyncio.Event().wait()


async def for_bytes(connection):
    reader, writer = await asyncio.open_connection(sock=connection)
    wait()
    await reader.read(1)
    writer.close()


async def items(queue):
    while True:
        yield await queue.get()


async def for_items(queue):
    wait()
    async for _ in items(queue):
        pass


async def outer(event):
    await middle(event)


async def middle(event):
    await for_event(event)


async def gathers(event):
    wait()
    await asyncio.gather(
        asyncio.create_task(outer(event), name='gathered-1'),
        asyncio.create_task(sleeper(3600), name='gathered-2'))


async def group(event):
    wait()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(outer(event), name='grouped')


async def awaits(event):
    task = asyncio.create_task(for_event(event), name='awaited')
    wait()
    await task


async def mover(moves):
    while True:
        wait()
        await moves.get()
        wait()
        await moves.get()


async def pusher(moves, event):
    for _ in range(5):
        wait()
        await asyncio.sleep(0.1)
        moves.put_nowait(None)
    await for_event(event)


def stack(task):
    """The frames of a task that waits, the innermost one first."""
    frames, coroutine = [], task.get_coro()
    while coroutine is not None:
        frame = getattr(coroutine, 'cr_frame', None) or \
            getattr(coroutine, 'gi_frame', None) or \
            getattr(coroutine, 'ag_frame', None)
        if frame is not None:
            frames.insert(0, [frame.f_code.co_qualname,
                              frame.f_code.co_filename, frame.f_lineno])
        coroutine = getattr(coroutine, 'cr_await', None) or \
            getattr(coroutine, 'gi_yieldfrom', None) or \
            getattr(coroutine, 'ag_await', None)
    return frames


def report(loops):
    tasks = [{'name': task.get_name(), 'id': id(task), 'thread': thread,
              'began': began.get(task.get_name()), 'stack': stack(task)}
             for loop, thread in loops.items()
             for task in asyncio.all_tasks(loop)]
    print(json.dumps({'now': time.monotonic(), 'tasks': tasks}), flush=True)


def spoil(seed):
    """What leads to tasks leads anywhere, perhaps back."""
    chance = random.Random(seed)
    tasks = list(asyncio.all_tasks())
    known = [getattr(asyncio.tasks, name).data
             for name in ('_all_tasks', '_scheduled_tasks')
             if hasattr(asyncio.tasks, name)]
    objects = tasks + [task.get_coro() for task in tasks] + known * 20 + \
        [asyncio.tasks.__dict__]
    objects += [one for task in tasks for one in gc.get_referents(task)]
    values = [0, 1, -1, 1 << 40, 1 << 62] + [id(one) for one in objects]
    gc.disable()
    print('spoiled', flush=True)
    places = [(id(one) + chance.randrange(0, 120, 8), chance.choice(values) +
               chance.choice((0, 0, 8, 16, 24, 32)))
              for one in chance.sample(objects, len(objects) // 3)]
    for at, value in places:
        ctypes.c_int64.from_address(at).value = value
    os.read(0, 1)
    os._exit(0)


def read(loops, moves, kept):
    """Obeys the lines that have come; False: there are no more."""
    line = os.read(0, 100).decode()
    if 'spoil' in line:
        spoil(int(line.split()[1]))
    if 'report' in line:
        report(loops)
    if 'push' in line:
        kept.append(asyncio.get_running_loop().create_task(
            pusher(moves, asyncio.Event()), name='pusher'))
    return line != ''


async def another(loops, ready):
    loops[asyncio.get_running_loop()] = threading.get_native_id()
    task = asyncio.create_task(sleeper(3600), name='elsewhere')
    await asyncio.sleep(0)
    ready.set()
    await task


async def main():
    loops = {asyncio.get_running_loop(): threading.get_native_id()}
    ready, ended = threading.Event(), asyncio.Event()
    threading.Thread(target=lambda: asyncio.run(another(loops, ready)),
                     daemon=True).start()
    event, lock, moves = asyncio.Event(), asyncio.Lock(), asyncio.Queue()
    pair = socket.socketpair()
    coroutines = {
        'sleeps': sleeper(3600), 'short': sleeper(0.5 * 7200),
        'event': for_event(event), 'deep': outer(event),
        'queue': for_queue(asyncio.Queue()), 'lock': for_lock(lock),
        'bytes': for_bytes(pair[0]), 'items': for_items(asyncio.Queue()),
        'gathers': gathers(event), 'group': group(event),
        'awaits': awaits(event), 'mover': mover(moves),
        'Grüße ☃': for_event(event)}
    # A task may be dropped that nobody refers to.
    kept = [asyncio.create_task(coroutine, name=name)
            for name, coroutine in coroutines.items()]
    kept.append(asyncio.create_task(for_event(event)))
    await asyncio.get_running_loop().run_in_executor(None, ready.wait)
    asyncio.get_running_loop().add_reader(
        0, lambda: read(loops, moves, kept) or ended.set())
    every = set(coroutines) | {'gathered-1', 'gathered-2', 'grouped',
                               'awaited', kept[-1].get_name()}
    while not every <= set(began):
        await asyncio.sleep(0)
    print('ready', flush=True)
    wait()
    await ended.wait()
    os._exit(0)


asyncio.run(main())
