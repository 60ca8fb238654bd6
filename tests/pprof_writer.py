# SPDX-License-Identifier: GPL-3.0-or-later
"""pprof_writer.py -- pprof profiles made by hand, from samples with labels."""
import gzip


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


class Strings:
    def __init__(self):
        self.all = {"": 0}

    def __call__(self, text):
        return self.all.setdefault(text, len(self.all))


def write(path, samples, names=None, inlined=(), places=None,
          types=(("cpu", "us"),), duration_ns=0):
    """A profile of samples: (stack, value, [(key, value, unit)]).

    A stack is numbers of locations, innermost first, or the bytes of some.  Each
    is the function that names[number] gives it, or f1, f2, ...; or, if inlined
    has it as {number: [names]}, several, innermost first.  A name may also be
    (name, file, line).  places: {number: (path, build-id in hexadecimal,
    address)}.  Of several types a value is as many numbers.  duration_ns: how
    long the run took; 0: the profile does not say.
    """
    string = Strings()
    out = [message(1, number(1, string(name)) + number(2, string(unit)))
           for name, unit in types]
    functions = {f for stack, _, _ in samples for f in stack
                 if isinstance(f, int)}
    for stack, value, labels in samples:
        body = message(1, b"".join(f if isinstance(f, bytes) else varint(f)
                                   for f in stack))
        body += message(2, b"".join(map(varint, value if isinstance(
            value, tuple) else (value,))))
        for key, text, unit in labels:
            label = number(1, string(key))
            if isinstance(text, str):
                label += number(2, string(text))
            else:
                label += number(3, text) + number(4, string(unit))
            body += message(3, label)
        out.append(message(2, body))
    lines = {f: [(names or {}).get(f, f"f{f}")] for f in functions}
    lines.update({f: inlined[f] for f in inlined if f in functions})
    lines = {f: [(line, "", 0) if isinstance(line, str) else line
                 for line in chain] for f, chain in lines.items()}
    known = {name: i + 1 for i, name in enumerate(sorted(
        {line[:2] for chain in lines.values() for line in chain}))}
    places = places or {}
    modules = {place[:2]: i + 1 for i, place in enumerate(dict.fromkeys(
        place[:2] for place in places.values()))}
    for (name, build_id), i in modules.items():
        out.append(message(3, number(1, i) + number(2, i << 32) +
                           number(3, (i + 1) << 32) +
                           number(5, string(name)) +
                           number(6, string(build_id))))
    for f, chain in lines.items():
        body = number(1, f)
        if f in places:
            module = modules[places[f][:2]]
            body += number(2, module)
            body += number(3, (module << 32) + places[f][2])
        out.append(message(4, body + b"".join(
            message(4, number(1, known[line[:2]]) + number(2, line[2]))
            for line in chain)))
    for (name, file), i in known.items():
        out.append(message(5, number(1, i) + number(2, string(name)) +
                           number(4, string(file))))
    out += [message(6, text.encode()) for text in string.all]
    if duration_ns:
        out += [number(9, 10 ** 18), number(10, duration_ns)]
    with gzip.open(path, "wb", 1) as file:
        file.write(b"".join(out))
