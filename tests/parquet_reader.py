# SPDX-License-Identifier: GPL-3.0-or-later
"""parquet_reader.py -- reads the Parquet files of merge, byte by byte.

Written from the specification of Apache Parquet (apache/parquet-format 2.10) and
of Thrift's compact protocol, and from nothing of cpprof.  It is strict: what an
engine relies on must fit, or ValueError is raised.  Only what such tables have:
INT64 and BYTE_ARRAY, optional columns, lists of required texts, PLAIN and
RLE_DICTIONARY, zstd (by libzstd, which cpprof needs, too).
"""
import ctypes
import ctypes.util
import struct

INT64, BYTE_ARRAY = 2, 6
REQUIRED, OPTIONAL, REPEATED = 0, 1, 2
PLAIN, RLE, RLE_DICTIONARY = 0, 3, 8
DATA_PAGE, DICTIONARY_PAGE = 0, 2
ZSTD = 6

_zstd = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
_zstd.ZSTD_decompress.restype = ctypes.c_size_t
_zstd.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t,
                                  ctypes.c_char_p, ctypes.c_size_t]


def need(condition, what):
    if not condition:
        raise ValueError(what)


def unpack(packed, size):
    """Bytes packed by zstd, which must be exactly so many."""
    room = ctypes.create_string_buffer(size + 1)
    n = _zstd.ZSTD_decompress(room, size + 1, packed, len(packed))
    need(n == size, f"a page of {size} bytes has {n}")
    return room.raw[:size]


class Thrift:
    """Structures of the compact protocol, as {field: value}."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def byte(self):
        need(self.at < len(self.data), "a structure ends too early")
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        number = shift = 0
        while True:
            byte = self.byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7
            need(shift < 70, "a number is too long")

    def zigzag(self):
        number = self.varint()
        return number >> 1 ^ -(number & 1)

    def bytes(self):
        n = self.varint()
        need(self.at + n <= len(self.data), "a text ends too early")
        self.at += n
        return self.data[self.at - n:self.at]

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind in (4, 5, 6):
            return self.zigzag()
        if kind == 8:
            return self.bytes()
        if kind == 9:
            head = self.byte()
            n = head >> 4 if head >> 4 < 15 else self.varint()
            return [self.value(head & 15) for _ in range(n)]
        need(kind == 12, f"type {kind} is not expected")
        return self.struct()

    def struct(self):
        fields, last = {}, 0
        while True:
            head = self.byte()
            if head == 0:
                return fields
            last = last + (head >> 4) if head >> 4 else self.zigzag()
            need(last not in fields, f"field {last} is there twice")
            fields[last] = self.value(head & 15)


def hybrid(data, at, end, width, n):
    """n numbers of runs and of bits; where they end."""
    thrift, numbers = Thrift(data, at), []
    while len(numbers) < n:
        need(thrift.at < end, "numbers end too early")
        head = thrift.varint()
        if head & 1:
            size = (head >> 1) * width
            need(thrift.at + size <= end, "bits end too early")
            bits = int.from_bytes(data[thrift.at:thrift.at + size], "little")
            thrift.at += size
            for i in range((head >> 1) * 8):
                numbers.append(bits >> i * width & (1 << width) - 1)
        else:
            size = (width + 7) // 8
            need(thrift.at + size <= end and head > 0, "a run is damaged")
            numbers += [int.from_bytes(data[thrift.at:thrift.at + size],
                                       "little")] * (head >> 1)
            need(numbers[-1] < 1 << width, "a run is too wide")
            thrift.at += size
    need(len(numbers) < n + 8, "a run is too long")
    return numbers[:n], thrift.at


def plain(data, at, kind, n):
    values = []
    for _ in range(n):
        if kind == INT64:
            need(at + 8 <= len(data), "a number ends too early")
            values.append(struct.unpack_from("<q", data, at)[0])
            at += 8
        else:
            need(at + 4 <= len(data), "a length ends too early")
            size = struct.unpack_from("<I", data, at)[0]
            at += 4
            need(at + size <= len(data), "a text ends too early")
            values.append(data[at:at + size].decode())
            at += size
    need(at == len(data), "a page has more than its values")
    return values


def levels(page, at, most, n):
    """The levels of a data page; where they end."""
    if most == 0:
        return [0] * n, at
    need(at + 4 <= len(page), "levels end too early")
    size = struct.unpack_from("<I", page, at)[0]
    need(at + 4 + size <= len(page), "levels end too early")
    found, end = hybrid(page, at + 4, at + 4 + size, most.bit_length(), n)
    need(end == at + 4 + size and max(found, default=0) <= most,
         "levels do not fit")
    return found, end


def read_pages(data, meta):
    """The bytes of each page of a column chunk, with its header."""
    at = meta.get(11, meta[9])
    end = at + meta[7]
    need(4 <= at and end <= len(data), "a chunk is not in the file")
    need(meta[4] == ZSTD, "not zstd")
    while at < end:
        thrift = Thrift(data, at)
        header = thrift.struct()
        begin = thrift.at
        at = begin + header[3]
        need(at <= end, "a page is not in its chunk")
        yield header, unpack(data[begin:at], header[2]), begin
    need(at == end, "pages do not fill their chunk")


def read_chunk(data, meta, deepest, repeats):
    """The values, definition levels and repetition levels of a chunk."""
    dictionary, values, defined, repeated, n = None, [], [], [], 0
    seen_data, unpacked, at = False, 0, meta.get(11, meta[9])
    for header, page, begin in read_pages(data, meta):
        unpacked += begin - at + len(page)
        if header[1] == DICTIONARY_PAGE:
            need(dictionary is None and not seen_data and at == meta[11],
                 "a dictionary is not first")
            need(header[7][2] == PLAIN, "a dictionary is not plain")
            dictionary = plain(page, 0, meta[1], header[7][1])
            need(len(set(dictionary)) == len(dictionary),
                 "a dictionary has a value twice")
        else:
            need(header[1] == DATA_PAGE, "not a page of data")
            need(seen_data or at == meta[9], "data do not begin where the "
                 "footer says")
            seen_data = True
            n_page = header[5][1]
            need(header[5][3] == header[5][4] == RLE, "levels are not RLE")
            more, end = levels(page, 0, repeats, n_page)
            repeated += more
            more, end = levels(page, end, deepest, n_page)
            defined += more
            n_values = more.count(deepest)
            need(header[5][2] in meta[2], "an encoding is not listed")
            if header[5][2] == PLAIN:
                values += plain(page[end:], 0, meta[1], n_values)
            else:
                need(header[5][2] == RLE_DICTIONARY and dictionary is not None
                     and end < len(page), "no dictionary")
                width = page[end]
                need(width <= 32, "indexes are too wide")
                found, end = hybrid(page, end + 1, len(page), width, n_values)
                need(end == len(page) and max(found, default=-1) <
                     len(dictionary), "indexes do not fit")
                values += [dictionary[i] for i in found]
            n += n_page
        at = begin + header[3]
    need(n == meta[5], f"{n} values, and {meta[5]} in the footer")
    need(unpacked == meta[6], f"{unpacked} bytes, {meta[6]} in the footer")
    return values, defined, repeated


def statistics_fit(meta, values, n_nulls):
    if 12 not in meta:
        return
    told = meta[12]
    need(told.get(3, n_nulls) == n_nulls, "the number of nulls is wrong")
    for field, choose in ((5, max), (6, min)):
        if field in told and values:
            need(len(told[field]) == 8 and
                 struct.unpack("<q", told[field])[0] == choose(values),
                 "a bound is wrong")


def rows_of_chunk(values, defined, repeated, deepest, repeats):
    """Values, None, or lists of values, one a row."""
    rows, left = [], iter(values)
    for level, again in zip(defined, repeated):
        value = next(left) if level == deepest else None
        if not repeats:
            rows.append(value)
        elif again == 0:
            rows.append([value] if level == deepest else [])
        else:
            need(rows and level == deepest, "a list is damaged")
            rows[-1].append(value)
    need(not repeated or repeated[0] == 0, "a row begins in the middle")
    return rows


def columns_of(schema):
    """The path, kind, and deepest levels of each leaf."""
    def read(at, path, deepest, repeats):
        element = schema[at]
        if at > 0:
            path = path + (element[4].decode(),)
            deepest += element[3] != REQUIRED
            repeats += element[3] == REPEATED
        if 5 not in element:
            need(element.get(1) in (INT64, BYTE_ARRAY), "a kind of column")
            return [(path, element[1], deepest, repeats)], at + 1
        leaves, at = [], at + 1
        for _ in range(element[5]):
            more, at = read(at, path, deepest, repeats)
            leaves += more
        return leaves, at
    leaves, end = read(0, (), 0, 0)
    need(end == len(schema), "the schema has more elements than its root")
    return leaves


def read(path):
    """The rows of a file, as dictionaries; ValueError if it is damaged."""
    with open(path, "rb") as file:
        data = file.read()
    need(len(data) >= 12 and data[:4] == data[-4:] == b"PAR1", "no frame")
    length = struct.unpack("<I", data[-8:-4])[0]
    need(length <= len(data) - 12, "the footer is not in the file")
    thrift = Thrift(data[len(data) - 8 - length:-8])
    footer = thrift.struct()
    need(thrift.at == length, "the footer has more than its fields")
    leaves, rows, ends = columns_of(footer[2]), [], 4
    for group in footer[4]:
        table = {}
        need(len(group[1]) == len(leaves), "a row group lacks a column")
        need(group[2] == sum(chunk[3][6] for chunk in group[1]),
             "the size of a row group is wrong")
        for chunk, (name, kind, deepest, repeats) in zip(group[1], leaves):
            meta = chunk[3]
            need([part.decode() for part in meta[3]] == list(name) and
                 meta[1] == kind, "a chunk is of another column")
            need(meta.get(11, meta[9]) == ends, "chunks leave a hole")
            ends += meta[7]
            values, defined, repeated = read_chunk(data, meta, deepest,
                                                   repeats)
            statistics_fit(meta, values, len(defined) - len(values))
            table[name[0]] = rows_of_chunk(values, defined, repeated, deepest,
                                           repeats)
            need(len(table[name[0]]) == group[3],
                 f"{name[0]} has {len(table[name[0]])} rows of {group[3]}")
        rows += [dict(zip(table, row)) for row in zip(*table.values())]
    need(ends == len(data) - 8 - length, "bytes between chunks and footer")
    need(len(rows) == footer[3], "the number of rows is wrong")
    return rows
