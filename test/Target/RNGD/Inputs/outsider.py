"""Reads EDF files with nothing but docs/EDF.md and docs/encodings.md.

outsider.py FURIOSA_TRANSLATE DOCS FILE...

What is known here of the format stands in the first page, section by section;
the bit layouts and the names of codes are taken from the tables of the second.
What is found must be what `furiosa-translate --disassemble --json` says, and
that must be of the schema DOCS/edf.schema.json.
"""

import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "Tools/compile/Inputs"))
import schema  # noqa: E402

ROLES = ["input", "output", "inout", "scratch", "constant"]
TYPES = ["i4", "i5", "i8", "i9", "i16", "i32", "u8", "f4e2m1", "f8e4m3", "f8e5m2",
         "bf16", "f32"]
TIERS = ["dm", "trf", "vrf"]
COMMANDS = ["dma", "main", "sub", "wait", "sync", "loop"]
CONDITIONS = ["==", "!=", "<", ">="]
OPCODES = ["end", "set", "issue", "loop", "endloop", "add", "barrier", "if", "else", "endif"]
NONE = 0xFFFFFFFF


# --- docs/encodings.md --------------------------------------------------------

def rows(text):
    """The cells of the tables in a piece of Markdown, without their heads."""
    lines = [line for line in text.split("\n") if line.startswith("| ")]
    cells = [[cell.strip() for cell in line[1:-1].split(" | ")] for line in lines]
    return [row for row in cells if not re.fullmatch(r"-+", row[0])][1:]


def number(text):
    return int(text.strip("`"), 0)


def bit_fields(text):
    """[(name, lsb, width)] of "`a` 3:0; `b[0..3]` 15:0 step 16"."""
    result = []
    for part in filter(None, text.split("; ")):
        match = re.match(r"`([\w.]+)(?:\[(\d+)(?:\.\.(\d+))?\])?` (\d+)(?::(\d+))?"
                         r"(?: step (\d+))?", part)
        name, first, last, high, low, step = match.groups()
        high = int(high)
        low = high if low is None else int(low)
        for k in range(int(last or first or 0) - int(first or 0) + 1):
            shown = f"{name}[{int(first) + k}]" if first else name
            result.append((shown, low + k * int(step or 0), high - low + 1))
    return result


class Encodings:
    def __init__(self, text):
        parts = re.split(r"^##+ (.*)$", text, flags=re.M)
        parts = dict(zip(parts[1::2], parts[2::2]))
        self.blocks = {}
        for name, num, base, size, _, context in rows(parts["Register blocks"]):
            registers = [(number(offset), bit_fields(fields))
                         for offset, _, fields in rows(parts[name])]
            self.blocks[int(num)] = (name, number(base), int(size), context, registers)
        self.commands = {}
        for opcode, mnemonic, word, operands, _ in rows(parts["TUC commands"]):
            registers = [bit_fields(o.split(": ", 1)[1])
                         for o in filter(None, operands.split("<br>"))]
            self.commands[number(opcode)] = (mnemonic, bit_fields(word), registers)
        self.descriptor = {}
        for offset, kind, field in rows(parts["DMA descriptor"]):
            kind, bits, count = re.fullmatch(r"([iu])(\d+)(?:\[(\d+)\])?", kind).groups()
            self.descriptor[field.strip("`")] = (number(offset), int(bits) // 8,
                                                 int(count or 1), kind == "i")
        names = re.search(r"`opcode`: (.*?)\. ", parts["DMA descriptor"]).group(1)
        self.dma = [entry.split(" ")[1] for entry in names.split(", ")]
        self.codes = {}
        for _, _, fields, codes in rows(parts["Codes"]):
            values, is_mask = {}, codes.startswith("bit ")
            for code in codes.split("; "):
                value, name = re.match(r"(?:bit )?(\d+) `(.*?)`", code).groups()
                values[int(value)] = name
            for field in filter(None, fields.split(", ")):
                self.codes[field.replace("`", "")] = (is_mask, values)

    def field(self, where, name, value):
        """A field as the JSON has it; `where`: "Block." or "exec "."""
        result = {"name": name, "value": value}
        is_mask, values = self.codes.get(where + re.sub(r"\[\d+\]$", "", name), (False, {}))
        if is_mask:
            bits = [k for k in range(64) if value >> k & 1]
            if bits and all(k in values for k in bits):
                result["code"] = "|".join(name for k, name in values.items() if k in bits)
        elif value in values:
            result["code"] = values[value]
        return result


def take(value, lsb, width):
    return value >> lsb & (1 << width) - 1


# --- docs/EDF.md, section 1 ---------------------------------------------------

class Bytes:
    """Little-endian numbers, strings and runs of bytes one after the other."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def raw(self, size):
        assert self.at + size <= len(self.data), "cut off"
        self.at += size
        return self.data[self.at - size:self.at]

    def u(self, size):
        return int.from_bytes(self.raw(size), "little")

    def i(self, size):
        return int.from_bytes(self.raw(size), "little", signed=True)

    def text(self):
        data = self.raw(self.u(4))
        try:
            return data.decode()
        except UnicodeDecodeError:
            return {"hex": data.hex()}

    def zero(self, size):
        assert not any(self.raw(size)), "reserved"

    def end(self):
        assert self.at == len(self.data), "left over"


def open_file(data):
    """Kernels and [(id, flags, kernel, crc, offset, size, unpacked)]; every check."""
    assert data[:8] == b"\x7fRNGDEDF", "magic"
    head = Bytes(data)
    head.raw(8)
    major, minor, sections = head.u(2), head.u(2), head.u(4)
    assert major == 1, "version"
    assert head.u(8) == len(data), "size"
    crc, kernels, digest = head.u(4), head.u(4), head.raw(32)
    table_end = 64 + 40 * sections
    assert kernels >= 1 and table_end <= len(data), "counts"
    assert zlib.crc32(data[:24] + bytes(4) + data[28:32] + bytes(32)
                      + data[64:table_end]) == crc, "CRC of the header"
    assert hashlib.sha256(data[:32] + bytes(32) + data[64:]).digest() == digest, "SHA-256"
    table, end = [], table_end
    for _ in range(sections):
        name, flags, kernel, crc = head.raw(4), head.u(4), head.u(4), head.u(4)
        offset, size, unpacked = head.u(8), head.u(8), head.u(8)
        assert offset == (end + 7) // 8 * 8, "place"
        assert not any(data[end:offset]), "padding"
        end = offset + size
        assert end <= len(data) and zlib.crc32(data[offset:end]) == crc, "CRC"
        assert flags <= 3 and (flags & 2 == 0 or name == b"CNST"), "flags"
        assert unpacked // 16 <= size if flags & 2 else unpacked == size, "unpacked"
        assert not table or kernel >= table[-1][2], "order"
        assert kernel < kernels or kernel == NONE, "kernel"
        table.append((name.decode(), flags, kernel, crc, offset, size, unpacked))
    assert end == len(data), "end"
    return minor, kernels, table


KNOWN = ["PROG", "SPMI", "ARGS", "PLAN", "SCAL", "CNST", "SCHD", "NAME", "INFO", "LOCS"]


class Reader:
    def __init__(self, data, encodings):
        self.data, self.encodings = data, encodings

    def file(self):
        minor, kernels, table = open_file(self.data)
        for name, flags, *_ in table:
            assert name in KNOWN or flags & 1, "unknown section"
        return {"version": {"major": 1, "minor": minor},
                "kernels": [self.kernel([s for s in table if s[2] == k])
                            for k in range(kernels)],
                "sections": self.sections([s for s in table if s[2] == NONE]),
                "faults": []}

    @staticmethod
    def sections(table):
        return [{"id": name, "known": name in KNOWN, "packed": bool(flags & 2),
                 "offset": offset, "size": size, "unpacked_size": unpacked, "crc": crc}
                for name, flags, _, crc, offset, size, unpacked in table]

    def kernel(self, table):
        self.bytes = {}
        for name, flags, _, _, offset, size, unpacked in table:
            data = self.data[offset:offset + size]
            if flags & 2:
                data = subprocess.run([shutil.which("zstd"), "-dc"], input=data,
                                      stdout=subprocess.PIPE, check=True).stdout
                assert len(data) == unpacked, "unpacks to"
            assert name not in self.bytes, "twice"
            self.bytes[name] = data
        names = self.names()
        return {"name": names[0], "sections": self.sections(table), **self.info(),
                "names": names[1], "programs": self.programs(), "spm": self.spm(),
                **self.arguments(), "plan": self.plan(names[1]),
                **self.scalars(), "constants": self.constants(), "schedule": self.schedule()}

    def section(self, name):
        """Nothing for one that is left out or says nothing."""
        data = self.bytes.get(name, b"")
        if name in KNOWN[6:] and not any(data):
            return None
        return Bytes(data) if data else None

    def names(self):
        b = self.section("NAME")
        if not b:
            return "", []
        result = b.text(), [b.text() for _ in range(b.u(4))]
        b.end()
        return result

    def info(self):
        b = self.section("INFO")
        keys = ("producer", "chip", "release")
        result = {key: b.text() if b else "" for key in keys}
        if b:
            b.end()
        return result

    def lines(self):
        """{(program, instruction): place}."""
        b = self.section("LOCS")
        if not b:
            return {}
        files, lines = b.u(4), b.u(4)
        files = [b.text() for _ in range(files)]
        result = {}
        for _ in range(lines):
            key = b.u(4), b.u(4)
            result[key] = {"file": files[b.u(4)], "line": b.u(4), "column": b.u(4)}
        b.end()
        return result

    # Section 2.
    def programs(self):
        b, lines, result = self.section("PROG"), self.lines(), []
        count = b.u(4)
        b.zero(4)
        for program in range(count):
            cluster, instructions, known = b.u(4), [], {}
            for k in range(b.u(4)):
                entry = {"at": lines[program, k]} if (program, k) in lines else {}
                entry.update(self.instruction(b, known))
                instructions.append(entry)
            result.append({"cluster": cluster, "instructions": instructions})
        b.end()
        return result

    def instruction(self, b, known):
        opcode, reg, mask, zero, word, imm = b.u(1), b.u(1), b.u(1), b.u(1), b.u(4), b.u(8)
        assert opcode < len(OPCODES) and zero == 0, "opcode"
        op = OPCODES[opcode]
        signed = imm - (imm >> 63 << 64)
        pes = [pe for pe in range(4) if mask >> pe & 1]
        result = {"op": op}
        if pes:
            result["pes"] = pes
        if op == "set":
            result.update(register=reg, value=imm)
            known.update({(pe, reg): imm for pe in pes})
        elif op == "issue":
            result.update(self.issue(word, {r: v for (pe, r), v in known.items()
                                            if pe == pes[0]}))
        elif op == "loop":
            result["trips"] = word
            if imm:
                result["by"] = imm
        elif op == "if":
            result.update(condition=CONDITIONS[reg], address=word, value=signed)
        elif op == "add":
            result.update(address=word, value=signed)
        if op in ("loop", "endloop", "if", "else", "endif"):
            known.clear()
        return result

    def issue(self, word, registers):
        mnemonic, fields, operands = self.encodings.commands[word >> 25]
        values = [(name, take(word, lsb, width)) for name, lsb, width in fields]
        indices = [value for name, value in values if re.fullmatch(r"r\d", name)]
        result = {"word": word, "command": mnemonic,
                  "operands_known": all(index in registers for index in indices)}
        if result["operands_known"]:
            for index, operand in zip(indices, operands):
                values += [(name, take(registers[index], lsb, width))
                           for name, lsb, width in operand]
        result["fields"] = [self.encodings.field(mnemonic + " ", *v) for v in values]
        if mnemonic == "mtosfr" and result["operands_known"]:
            address = dict(values)["sfr_address"]
            for name, base, size, context, _ in self.encodings.blocks.values():
                # Bits 15:0 of an SFR address: bank 1 is 0x800 above bank 0.
                for bank in range(1 if context == "common" else 2):
                    if base + 0x800 * bank <= address & 0xFFFF < base + 0x800 * bank + size:
                        result.update(block=name, bank=bank)
        return result

    def spm(self):
        b = self.section("SPMI")
        base, size, count = b.u(4), b.u(4), b.u(4)
        b.zero(4)
        items = []
        for _ in range(count):
            items.append((b.u(4), b.u(4), b.u(1), b.u(1), b.u(1)))
            b.zero(5)
        image = b.raw(size)
        b.end()
        result, rest, end = [], [], base
        for address, length, kind, block, bank in items:
            rest.append((end, image[end - base:address - base]))
            end = address + length
            data = image[address - base:end - base]
            result.append({"address": address, "size": length,
                           **(self.dma(data) if kind else self.registers(data, block, bank))})
        rest.append((end, image[end - base:]))
        return {"base": base, "size": size, "items": result,
                "rest": [{"address": address, "bytes": data.hex()}
                         for address, data in rest if any(data)]}

    def registers(self, data, block, bank):
        name, _, size, _, registers = self.encodings.blocks[block]
        assert len(data) == size, "size of a block"
        fields, seen = [], bytearray(size)
        for offset, layout in registers:
            word, rest = int.from_bytes(data[offset:offset + 8], "little"), (1 << 64) - 1
            for field, lsb, width in layout:
                rest &= ~((1 << width) - 1 << lsb)
                if take(word, lsb, width):
                    fields.append(self.encodings.field(name + ".", field,
                                                       take(word, lsb, width)))
            assert word & rest == 0, "reserved bit"
            seen[offset:offset + 8] = b"\1" * 8
        assert not any(byte for byte, known in zip(data, seen) if not known), "reserved word"
        return {"kind": "sfr", "block": name, "bank": bank, "fields": fields}

    # Section 12.
    def dma(self, data):
        def get(name):
            offset, size, count, signed = self.encodings.descriptor[name]
            return [int.from_bytes(data[offset + k * size:offset + (k + 1) * size],
                                   "little", signed=signed) for k in range(count)]

        def side(name):
            return {"address": get(name)[0],
                    "loops": [{"limit": limit or 65536, "stride": stride} for limit, stride
                              in zip(get(name + "_limits"), get(name + "_strides"))]}

        indirect = get("indirect")[0]
        return {"kind": "descriptor", "opcode": self.encodings.dma[get("opcode")[0]],
                "indirect": {"dimension": indirect & 7,
                             "entries": "list" if indirect >> 8 & 1 else "addresses",
                             "indices": get("indirect_indices")},
                "source": side("source"), "destination": side("destination")}

    def arguments(self):
        b = self.section("ARGS")
        operands, relocations = b.u(4), b.u(4)
        result = {"operands": [], "relocations": []}
        for _ in range(operands):
            name, role, kind = b.text(), ROLES[b.u(1)], TYPES[b.u(1)]
            b.zero(2)
            size = b.u(8)
            axes = [{"name": b.text(), "size": b.u(8)} for _ in range(b.u(4))]
            result["operands"].append({"name": name, "role": role, "bytes": size,
                                       "type": kind, "axes": axes, "chip": b.text(),
                                       "element": b.text()})
        for _ in range(relocations):
            result["relocations"].append({"address": b.u(4), "operand": b.u(4),
                                          "addend": b.i(8)})
        b.end()
        return result

    def plan(self, names):
        b, result = self.section("PLAN"), []
        count = b.u(4)
        b.zero(4)
        for _ in range(count):
            entry = {"tier": TIERS[b.u(1)]}
            lanes = b.u(1)
            b.zero(2)
            entry.update(cluster=b.u(4), address=b.u(4), size=b.u(4))
            if entry["tier"] == "trf":
                entry["lanes"] = lanes
            entry.update(first_cycle=b.u(8), last_cycle=b.u(8))
            name = b.u(4)
            b.zero(4)
            if name != NONE:
                entry["name_index"] = name
                if name < len(names):
                    entry["name"] = names[name]
            result.append(entry)
        b.end()
        return result

    def scalars(self):
        b = self.section("SCAL")
        result = {"scalars": [], "scalar_uses": []}
        if not b:
            return result
        scalars, uses = b.u(4), b.u(4)
        for _ in range(scalars):
            result["scalars"].append({"operand": b.u(4), "least": b.i(4), "most": b.i(4)})
            b.zero(4)
        for _ in range(uses):
            result["scalar_uses"].append({"address": b.u(4), "scalar": b.u(4),
                                          "scale": b.i(8)})
        b.end()
        return result

    def constants(self):
        b = self.section("CNST")
        if not b:
            return []
        count = b.u(4)
        b.zero(4)
        heads = [(b.u(4), b.u(4), b.u(8)) for _ in range(count)]
        result = [{"kind": ["operand", "table"][kind], "index": index,
                   "bytes": b.raw(size).hex()} for kind, index, size in heads]
        b.end()
        return result

    def schedule(self):
        b = self.section("SCHD")
        result = {"makespan": 0, "lower_bound": 0, "commands": []}
        if not b:
            return result
        result.update(makespan=b.u(8), lower_bound=b.u(8))
        count = b.u(4)
        b.zero(4)
        for _ in range(count):
            kind = COMMANDS[b.u(1)]
            b.zero(3)
            item, begin, end = b.u(4), b.u(8), b.u(8)
            instructions = [None if i == NONE else i for i in (b.u(4), b.u(4))]
            result["commands"].append({"kind": kind, "item": item, "begin": begin,
                                       "end": end, "text": b.text(),
                                       "instructions": instructions})
        b.end()
        return result


def difference(found, wanted, path="$"):
    """Where two pieces of JSON differ first."""
    if type(found) is not type(wanted):
        return f"{path}: {found!r}, not {wanted!r}"
    if isinstance(found, dict):
        if list(found) != list(wanted):
            return f"{path}: keys {list(found)}, not {list(wanted)}"
        pairs = [(f".{key}", found[key], wanted[key]) for key in found]
    elif isinstance(found, list):
        if len(found) != len(wanted):
            return f"{path}: {len(found)} entries, not {len(wanted)}"
        pairs = [(f"[{k}]", f, w) for k, (f, w) in enumerate(zip(found, wanted))]
    else:
        return None if found == wanted else f"{path}: {found!r}, not {wanted!r}"
    return next(filter(None, (difference(f, w, path + key) for key, f, w in pairs)), None)


def main():
    program, docs, *files = sys.argv[1:]
    docs = pathlib.Path(docs)
    encodings = Encodings((docs / "encodings.md").read_text())
    rules = json.loads((docs / "edf.schema.json").read_text())
    commands = items = 0
    for file in map(pathlib.Path, files):
        data = file.read_bytes()
        wanted = Reader(data, encodings).file()
        found = json.loads(subprocess.run(
            [program, "--disassemble", "--json", file], stdout=subprocess.PIPE,
            check=True).stdout)
        schema.validate(found, rules)
        fault = difference(found, wanted)
        assert fault is None, f"{file.name}: {fault}"
        for kernel in wanted["kernels"]:
            commands += sum(i["op"] == "issue" for p in kernel["programs"]
                            for i in p["instructions"])
            items += len(kernel["spm"]["items"])
        # Every byte is under a check of the document.
        for at in range(len(data)):
            changed = bytearray(data)
            changed[at] ^= 1 << at % 8
            try:
                open_file(bytes(changed))
            except (AssertionError, UnicodeDecodeError):
                continue
            raise AssertionError(f"{file.name}: nothing notices byte {at}")
        print(file.stem, "ok,", len(data), "bytes")
    print(commands, "commands,", items, "items")


main()
