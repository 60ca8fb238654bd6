# SPDX-License-Identifier: GPL-3.0-or-later
"""parquet_reader.py -- reads the Parquet files of merge, byte by byte.

Written from the specification of Apache Parquet (apache/parquet-format 2.10:
parquet.thrift, Encodings.md, LogicalTypes.md) and of Thrift's compact protocol,
and from nothing of cpprof.  It is strict: each field must be one that
parquet.thrift has, of its type; what is required is there; and all that an engine
relies on must fit, or ValueError is raised.  Only what such tables have: INT64
and BYTE_ARRAY, optional columns, lists of required texts, PLAIN and
RLE_DICTIONARY, zstd (by libzstd, which cpprof needs, too).
"""
import collections
import ctypes
import ctypes.util
import re
import struct

INT64, BYTE_ARRAY = 2, 6
REQUIRED, OPTIONAL, REPEATED = 0, 1, 2
PLAIN, RLE, RLE_DICTIONARY = 0, 3, 8
DATA_PAGE, DICTIONARY_PAGE = 0, 2
ZSTD = 6
UTF8, LIST = 0, 3           # ConvertedType
LOGICAL = {"STRING": UTF8, "LIST": LIST}

# Of parquet.thrift: the fields of each structure as "NUMBER NAME TYPE", with "?"
# behind the type of those that are optional, and of each union, "|" in front.
# What has types that no file of these tables needs is left out.
STRUCTURES = {
    "FileMetaData": """1 version i32, 2 schema SchemaElement*, 3 num_rows i64,
        4 row_groups RowGroup*, 5 key_value_metadata KeyValue*?,
        6 created_by binary?, 7 column_orders ColumnOrder*?""",
    "KeyValue": "1 key binary, 2 value binary?",
    "SchemaElement": """1 type i32?, 2 type_length i32?, 3 repetition_type i32?,
        4 name binary, 5 num_children i32?, 6 converted_type i32?, 7 scale i32?,
        8 precision i32?, 9 field_id i32?, 10 logicalType LogicalType?""",
    "LogicalType": "|1 STRING Empty?, 3 LIST Empty?",
    "ColumnOrder": "|1 TYPE_ORDER Empty?",
    "Empty": "",
    "RowGroup": """1 columns ColumnChunk*, 2 total_byte_size i64, 3 num_rows i64,
        5 file_offset i64?, 6 total_compressed_size i64?, 7 ordinal i16?""",
    "ColumnChunk": """1 file_path binary?, 2 file_offset i64,
        3 meta_data ColumnMetaData""",
    "ColumnMetaData": """1 type i32, 2 encodings i32*, 3 path_in_schema binary*,
        4 codec i32, 5 num_values i64, 6 total_uncompressed_size i64,
        7 total_compressed_size i64, 8 key_value_metadata KeyValue*?,
        9 data_page_offset i64, 11 dictionary_page_offset i64?,
        12 statistics Statistics?""",
    "Statistics": """1 max binary?, 2 min binary?, 3 null_count i64?,
        4 distinct_count i64?, 5 max_value binary?, 6 min_value binary?""",
    "PageHeader": """1 type i32, 2 uncompressed_page_size i32,
        3 compressed_page_size i32, 4 crc i32?,
        5 data_page_header DataPageHeader?,
        7 dictionary_page_header DictionaryPageHeader?""",
    "DataPageHeader": """1 num_values i32, 2 encoding i32,
        3 definition_level_encoding i32, 4 repetition_level_encoding i32,
        5 statistics Statistics?""",
    "DictionaryPageHeader": "1 num_values i32, 2 encoding i32",
}
KINDS = {"i16": 4, "i32": 5, "i64": 6, "binary": 8}     # else a structure: 12
BITS = {4: 16, 5: 32, 6: 64}
LIST_KIND, STRUCTURE_KIND = 9, 12

Field = collections.namedtuple("Field", "name type is_list is_optional")


def fields_of(text):
    fields = {}
    for words in filter(None, map(str.split, text.strip("|").split(","))):
        kind = words[2].rstrip("?")
        fields[int(words[0])] = Field(words[1], kind.rstrip("*"),
                                      kind.endswith("*"),
                                      words[2].endswith("?"))
    return fields


FIELDS = {name: fields_of(text) for name, text in STRUCTURES.items()}
UNIONS = {name for name, text in STRUCTURES.items() if text.startswith("|")}

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
    """The compact protocol: structures as {name: value}."""

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
                need(byte > 0 or shift == 0, "a number is longer than it is")
                return number
            shift += 7
            need(shift < 70, "a number is too long")

    def zigzag(self, bits):
        number = self.varint()
        number = number >> 1 ^ -(number & 1)
        need(-1 << bits - 1 <= number < 1 << bits - 1, "a number is too large")
        return number

    def bytes(self):
        n = self.varint()
        need(self.at + n <= len(self.data), "a text ends too early")
        self.at += n
        return self.data[self.at - n:self.at]

    def value(self, kind):
        if KINDS.get(kind) in BITS:
            return self.zigzag(BITS[KINDS[kind]])
        return self.bytes() if kind == "binary" else self.structure(kind)

    def list(self, kind):
        head = self.byte()
        need(head & 15 == KINDS.get(kind, STRUCTURE_KIND),
             f"a list of {kind} has elements of type {head & 15}")
        n = head >> 4 if head >> 4 < 15 else self.varint()
        return [self.value(kind) for _ in range(n)]

    def structure(self, name):
        values, last = {}, 0
        while True:
            head = self.byte()
            if head == 0:
                break
            last = last + (head >> 4) if head >> 4 else self.zigzag(16)
            need(last in FIELDS[name], f"{name} has a field {last}")
            field = FIELDS[name][last]
            need(field.name not in values, f"{field.name} is there twice")
            need(head & 15 == (LIST_KIND if field.is_list else
                               KINDS.get(field.type, STRUCTURE_KIND)),
                 f"{field.name} is of type {head & 15}")
            values[field.name] = self.list(field.type) if field.is_list else \
                self.value(field.type)
        for field in FIELDS[name].values():
            need(field.is_optional or field.name in values,
                 f"{name} has no {field.name}")
        need(name not in UNIONS or len(values) == 1,
             f"{name} has {len(values)} members")
        return values


def hybrid(data, at, end, width, n):
    """n numbers of runs and of bits; where they end."""
    thrift, numbers = Thrift(data, at), []
    while len(numbers) < n:
        need(thrift.at < end, "numbers end too early")
        head = thrift.varint()
        need(head > 1, "a run of nothing")
        if head & 1:
            size = (head >> 1) * width
            need(thrift.at + size <= end, "bits end too early")
            bits = int.from_bytes(data[thrift.at:thrift.at + size], "little")
            thrift.at += size
            for i in range((head >> 1) * 8):
                numbers.append(bits >> i * width & (1 << width) - 1)
        else:
            size = (width + 7) // 8
            need(thrift.at + size <= end, "a run ends too early")
            numbers += [int.from_bytes(data[thrift.at:thrift.at + size],
                                       "little")] * (head >> 1)
            need(numbers[-1] < 1 << width, "a run is too wide")
            need(len(numbers) <= n, "a run is too long")
            thrift.at += size
    need(len(numbers) < n + 8, "there are too many groups of bits")
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


def begin_of(meta):
    """Where a column chunk begins."""
    if "dictionary_page_offset" in meta:
        need(meta["dictionary_page_offset"] < meta["data_page_offset"],
             "a dictionary is behind the data")
    return meta.get("dictionary_page_offset", meta["data_page_offset"])


def read_pages(data, meta):
    """Of each page of a column chunk: where it begins, its header, that one's
    size, and its bytes."""
    at = begin_of(meta)
    end = at + meta["total_compressed_size"]
    need(4 <= at and end <= len(data), "a chunk is not in the file")
    need(meta["codec"] == ZSTD, "not zstd")
    while at < end:
        thrift = Thrift(data, at)
        header = thrift.structure("PageHeader")
        begin, begin_header = thrift.at, at
        size = header["compressed_page_size"]
        need(size >= 0 and begin + size <= end, "a page is not in its chunk")
        need(header["type"] in (DATA_PAGE, DICTIONARY_PAGE) and
             ("data_page_header" in header) == (header["type"] == DATA_PAGE) and
             ("dictionary_page_header" in header) ==
             (header["type"] == DICTIONARY_PAGE),
             "a page's type is not that of its header")
        at = begin + size
        yield begin_header, header, begin - begin_header, unpack(
            data[begin:at], header["uncompressed_page_size"])
    need(at == end, "pages do not fill their chunk")


class Chunk:
    """A column chunk's values, definition levels and repetition levels."""

    def __init__(self, data, meta, deepest, repeats):
        self.meta, self.deepest, self.repeats = meta, deepest, repeats
        self.dictionary = None
        self.values, self.defined, self.repeated = [], [], []
        unpacked, self.encodings, n_data = 0, set(), 0
        for begin, header, header_size, page in read_pages(data, meta):
            unpacked += header_size + len(page)
            if header["type"] == DICTIONARY_PAGE:
                need(self.dictionary is None and n_data == 0 and
                     begin == meta.get("dictionary_page_offset"),
                     "a dictionary is not where the footer says")
                self.read_dictionary(header["dictionary_page_header"], page)
            else:
                need(n_data > 0 or begin == meta["data_page_offset"],
                     "data do not begin where the footer says")
                n_data += 1
                self.read_data(header["data_page_header"], page)
        need(n_data > 0, "a chunk has no page of data")
        need((self.dictionary is not None) ==
             ("dictionary_page_offset" in meta), "there is no dictionary")
        need(len(self.defined) == meta["num_values"],
             f"{len(self.defined)} values, {meta['num_values']} in the footer")
        need(unpacked == meta["total_uncompressed_size"],
             f"{unpacked} bytes, {meta['total_uncompressed_size']} in the "
             "footer")
        need(sorted(meta["encodings"]) == sorted(set(meta["encodings"])) and
             self.encodings <= set(meta["encodings"]) <=
             {PLAIN, RLE, RLE_DICTIONARY} and
             (self.dictionary is not None or
              RLE_DICTIONARY not in meta["encodings"]),
             f"encodings {self.encodings}, {meta['encodings']} in the footer")

    def read_dictionary(self, header, page):
        need(header["encoding"] == PLAIN, "a dictionary is not plain")
        self.encodings.add(PLAIN)
        self.dictionary = plain(page, 0, self.meta["type"],
                                header["num_values"])
        need(self.dictionary and len(set(self.dictionary)) ==
             len(self.dictionary), "a dictionary is empty or has a value twice")

    def read_data(self, header, page):
        need(header["definition_level_encoding"] == RLE and
             header["repetition_level_encoding"] == RLE, "levels are not RLE")
        need(header["num_values"] >= 0, "a page has less than nothing")
        if self.deepest > 0:
            self.encodings.add(RLE)
        repeated, end = levels(page, 0, self.repeats, header["num_values"])
        defined, end = levels(page, end, self.deepest, header["num_values"])
        self.repeated += repeated
        self.defined += defined
        n_values = defined.count(self.deepest)
        self.encodings.add(header["encoding"])
        if header["encoding"] == PLAIN:
            self.values += plain(page[end:], 0, self.meta["type"], n_values)
            return
        need(header["encoding"] == RLE_DICTIONARY and
             self.dictionary is not None and end < len(page), "no dictionary")
        # Some readers do not expect a width of 0.
        width = page[end]
        need(0 < width <= 32, "indexes have no width")
        found, end = hybrid(page, end + 1, len(page), width, n_values)
        need(end == len(page) and max(found, default=-1) <
             len(self.dictionary), "indexes do not fit")
        self.values += [self.dictionary[i] for i in found]

    def check_statistics(self):
        """Numbers have bounds, so that readers skip row groups."""
        told = self.meta.get("statistics")
        if self.meta["type"] != INT64:
            need(told is None, "bounds of texts are not expected")
            return
        need(told is not None and "min" not in told and "max" not in told,
             "no statistics, or such without an order")
        need(told.get("null_count") == len(self.defined) - len(self.values),
             "the number of nulls is wrong")
        for name, choose in (("max_value", max), ("min_value", min)):
            need((name in told) == bool(self.values),
                 "a bound is missing, or of nothing")
            need(name not in told or len(told[name]) == 8 and
                 struct.unpack("<q", told[name])[0] == choose(self.values),
                 "a bound is wrong")

    def rows(self):
        """Values, None, or lists of values, one a row."""
        rows, left = [], iter(self.values)
        for level, again in zip(self.defined, self.repeated):
            value = next(left) if level == self.deepest else None
            if not self.repeats:
                rows.append(value)
            elif again == 0:
                rows.append([value] if level == self.deepest else [])
            else:
                need(rows and level == self.deepest, "a list is damaged")
                rows[-1].append(value)
        return rows


Leaf = collections.namedtuple("Leaf", "path type deepest repeats")


def annotation(element):
    """STRING, LIST or None; both ways to say it must agree."""
    logical = next(iter(element.get("logicalType", {None: 0})))
    need(element.get("converted_type") == LOGICAL.get(logical),
         "the two kinds of types differ")
    return logical


def columns_of(schema):
    """The leaves; checks that each group and leaf is one that is expected."""
    leaves = []

    def read(at, path, deepest, repeats, parents):
        element, is_group = schema[at], "num_children" in schema[at]
        kind = annotation(element)
        need(is_group == ("type" not in element), "neither group nor leaf")
        if at == 0:
            need(is_group and "repetition_type" not in element and
                 kind is None, "no root")
        else:
            need(element.get("repetition_type") in
                 (REQUIRED, OPTIONAL, REPEATED), "no repetition")
            path = path + (element["name"].decode(),)
            deepest += element["repetition_type"] != REQUIRED
            repeats += element["repetition_type"] == REPEATED
        if not is_group:
            need(element["type"] in (INT64, BYTE_ARRAY) and
                 (kind == "STRING") == (element["type"] == BYTE_ARRAY) and
                 (repeats == 0 or "LIST" in parents), "a kind of column")
            leaves.append(Leaf(path, element["type"], deepest, repeats))
            return at + 1
        need(element["num_children"] > 0, "a group of nothing")
        if kind == "LIST":
            # LogicalTypes.md: group (LIST) { repeated group list { element } }
            need(element["repetition_type"] != REPEATED and
                 element["num_children"] == 1 and
                 schema[at + 1]["name"] == b"list" and
                 schema[at + 1].get("repetition_type") == REPEATED and
                 schema[at + 1].get("num_children") == 1 and
                 schema[at + 2]["name"] == b"element" and
                 schema[at + 2].get("repetition_type") != REPEATED,
                 "no list of three levels")
        at += 1
        for _ in range(element["num_children"]):
            need(at < len(schema), "the schema has too few elements")
            at = read(at, path, deepest, repeats, (*parents, kind))
        return at
    need(schema and read(0, (), 0, 0, ()) == len(schema),
         "the schema has more elements than its root")
    need(len({leaf.path for leaf in leaves}) == len(leaves),
         "a name is there twice")
    return leaves


def read_group(data, group, leaves, begin):
    """{name: values} of a row group, and where it ends."""
    table, end = {}, begin
    need(len(group["columns"]) == len(leaves), "a row group lacks a column")
    for column, leaf in zip(group["columns"], leaves):
        meta = column["meta_data"]
        need(tuple(part.decode() for part in meta["path_in_schema"]) ==
             leaf.path and meta["type"] == leaf.type,
             "a chunk is of another column")
        need("file_path" not in column, "a chunk is in another file")
        need(begin_of(meta) == end, "chunks leave a hole")
        # To be 0 by 2.10; by others' files where the chunk begins.
        need(column["file_offset"] in (0, end), "a chunk is elsewhere")
        end += meta["total_compressed_size"]
        chunk = Chunk(data, meta, leaf.deepest, leaf.repeats)
        chunk.check_statistics()
        need(not chunk.repeated or chunk.repeated[0] == 0,
             "a row begins in the middle")
        values = table[leaf.path[0]] = chunk.rows()
        need(len(values) == group["num_rows"],
             f"{leaf.path[0]} has {len(values)} rows of {group['num_rows']}")
    metas = [column["meta_data"] for column in group["columns"]]
    for name, of_chunks in (("total_byte_size", "total_uncompressed_size"),
                            ("total_compressed_size", "total_compressed_size")):
        need(name not in group or group[name] ==
             sum(meta[of_chunks] for meta in metas),
             f"the {name} of a row group is wrong")
    need(group.get("file_offset", begin) == begin, "a row group is elsewhere")
    need(group["num_rows"] > 0, "a row group of no rows")
    return table, end


def read(path):
    """The rows of a file, as dictionaries; ValueError if it is damaged."""
    names, columns = read_columns(path)
    return [dict(zip(names, row)) for row in zip(*columns)]


def read_columns(path):
    """The names of the columns of a file, and the values of each."""
    with open(path, "rb") as file:
        data = file.read()
    need(len(data) >= 12 and data[:4] == data[-4:] == b"PAR1", "no frame")
    length = struct.unpack("<I", data[-8:-4])[0]
    need(length <= len(data) - 12, "the footer is not in the file")
    thrift = Thrift(data[len(data) - 8 - length:-8])
    footer = thrift.structure("FileMetaData")
    need(thrift.at == length, "the footer has more than its fields")
    need(footer["version"] in (1, 2), "a version of the format")
    # Readers go by it to know whether statistics can be trusted.
    need(re.fullmatch(rb"\w+ version \d\S*", footer.get("created_by", b"")),
         "nobody has made it")
    leaves, end = columns_of(footer["schema"]), 4
    # Without them, bounds must be ignored.
    need(len(footer.get("column_orders", [])) == len(leaves),
         "there is no order for each column")
    columns = [[] for _ in leaves]
    for group in footer["row_groups"]:
        table, end = read_group(data, group, leaves, end)
        for column, more in zip(columns, table.values()):
            column += more
    need(end == len(data) - 8 - length, "bytes between chunks and footer")
    need(all(len(column) == footer["num_rows"] for column in columns),
         "the number of rows is wrong")
    return [leaf.path[0] for leaf in leaves], columns
