"""descriptor.py - reads a kernel's descriptor (kernels/README.md) for the scripts of this project.

Independent of the C parser on purpose: tests/gpu/try_kernels.py launches kernels by what this file
makes of the header comment, so a disagreement with the planner shows.

SPDX-License-Identifier: GPL-3.0-or-later
"""
import math
import re
from dataclasses import dataclass, field

DTYPES = {"f16": 0, "bf16": 1, "f32": 2}
ELEM_BYTES = {"f16": 2, "bf16": 2, "f32": 4}


@dataclass
class Param:
    name: str
    default: object  # a number, or an expression over D and T
    words: list  # empty for a number
    lo: int
    hi: int


@dataclass
class Smem:
    name: str
    expr: str
    static: bool
    align: int
    over: str


@dataclass
class Tma:
    tensor: str  # Q K V O
    rows: str
    columns: str
    swizzle: int  # bytes, 0: none


@dataclass
class Pass:
    entry: str  # name of the __global__ function
    name: str  # the kernel's name for the first launch, then the pass's
    threads: str = ""
    grid: list = field(default_factory=list)
    smem: list = field(default_factory=list)
    tma: list = field(default_factory=list)  # parameters behind the first
    cluster: str = "1"  # blocks that share memory


@dataclass
class Kernel:
    path: str
    name: str = ""
    dtypes: list = field(default_factory=list)
    parts_f32: bool = False  # with ATTN_PARTS_F32 it stores O in f32 whatever the type
    requires: str = "1"
    arch: str = ""  # "90a": compiled for that, and for sm_90 alone
    params: list = field(default_factory=list)
    later: list = field(default_factory=list)  # names of those that no text has at their defaults
    passes: list = field(default_factory=list)
    workspaces: list = field(default_factory=list)  # (name, expr, "zero", "once" or "": when it is cleared)

    def defaults(self, dtype="f16", D=64):
        """D is that of the shape, as a default sees what the kernel is compiled with."""
        env = {"D": compiled_d(D), "T": ELEM_BYTES[dtype]}
        return {p.name: p.default if isinstance(p.default, int) else whole(p.default, env) for p in self.params}

    def value(self, name, given):
        """A parameter's value of a number or a word, "f16"; a name or a word that is not there is a fault of ours."""
        one, = [p for p in self.params if p.name == name]
        return one.words.index(given) if one.words else given

    def params_text(self, values):
        """As the params column of ptxas.tsv and the file names of the tests have it."""
        shown = [f"{p.name}={p.words[values[p.name]] if p.words else values[p.name]}"
                 for p in self.params if p.name not in self.later or values[p.name] != p.default]
        return " ".join(shown) or "-"


def _words(text):
    """Splits at blanks outside parentheses."""
    out, depth, word = [], 0, ""
    for ch in text:
        depth += (ch == "(") - (ch == ")")
        if ch.isspace() and depth == 0:
            if word:
                out.append(word)
            word = ""
        else:
            word += ch
    return out + [word] if word else out


def _tags(source):
    comment = source[source.index("/*") + 2:source.index("*/")]
    tags, open_tag = [], False
    for line in comment.splitlines():
        line = re.sub(r"^[\s*/]*", "", line).rstrip()
        if line.startswith("@"):
            tag, _, rest = line.partition(" ")
            tags.append([tag[1:], rest.strip()])
            open_tag = True
        elif not line:
            open_tag = False
        elif open_tag:
            tags[-1][1] += " " + line
    return tags


def _number(text):
    return int(text[:-1]) << {"k": 10, "M": 20}[text[-1]] if text[-1] in "kM" else int(text)


def _param(text):
    name, value = text.split()[:2]
    found = re.search(r"\[(\d+[kM]?)\.\.(\d+[kM]?)\]", text)
    if value.startswith("("):
        return Param(name, value, [], *map(_number, found.groups()))
    if not re.fullmatch(r"\d+[kM]?", value):
        words = value.split("|")
        return Param(name, 0, words, 0, len(words) - 1)
    default = _number(value)
    lo, hi = map(_number, found.groups()) if found else (min(default, 1), 1 << 20)
    return Param(name, default, [], lo, hi)


def _smem(text):
    words = _words(text)
    options = dict(w.split("=", 1) for w in words[3:] if w.startswith(("align=", "over=")))
    return Smem(words[1], words[2], words[0] == "static", int(options.get("align", 16)),
                options.get("over", ""))


def _tma(text):
    words = _words(text)
    options = dict(w.split("=", 1) for w in words[1:] if w.startswith(("box=", "swizzle=")))
    depth, cut = 0, 0
    for i, ch in enumerate(options["box"]):
        depth += (ch == "(") - (ch == ")")
        cut = i if ch == "," and depth == 0 and not cut else cut
    return Tma(words[0], options["box"][:cut], options["box"][cut + 1:], int(options.get("swizzle", 0)))


def parse(path):
    with open(path, encoding="utf-8") as f:
        source = f.read()
    k = Kernel(str(path))
    for tag, text in _tags(source):
        if tag == "name":
            k.name = text.split()[0]
            k.passes = [Pass(k.name, k.name)]
        elif tag == "dtypes":
            words = text.split()
            k.dtypes, k.parts_f32 = [w for w in words if "=" not in w], "parts=f32" in words
        elif tag == "requires":
            k.requires = text
        elif tag == "param":
            k.params.append(_param(text))
        elif tag == "later":
            k.later = text.split()
        elif tag == "pass":
            k.passes.append(Pass(f"{k.name}_{text.split()[0]}", text.split()[0]))
        elif tag == "threads":
            k.passes[-1].threads = text
        elif tag == "grid":
            k.passes[-1].grid = (_words(text) + ["1", "1"])[:3]
        elif tag == "smem":
            k.passes[-1].smem.append(_smem(text))
        elif tag == "tma":
            k.passes[-1].tma.append(_tma(text))
        elif tag == "cluster":
            k.passes[-1].cluster = text
        elif tag == "arch":
            k.arch = text.strip()
        elif tag == "workspace":
            words = _words(text)
            k.workspaces.append((words[0], words[1], words[2] if words[2:3] in (["zero"], ["once"]) else ""))
    return k


def _round_half_up(x):
    return math.floor(x + 0.5)


_CALLS = {"ceil": math.ceil, "floor": math.floor, "round": _round_half_up, "min": min, "max": max,
          "abs": abs, "log2": math.log2, "sqrt": math.sqrt,
          "pow2ceil": lambda x: 1 << max(0, math.ceil(x) - 1).bit_length()}


def evaluate(expr, env):
    """C's operators by Python's; of `?:` one within parentheses, as the kernels here have it."""
    py = re.sub(r"\(([^()?:]+)\?([^()?:]+):([^()?:]+)\)", r"((\2) if (\1) else (\3))", expr)
    py = py.replace("&&", " and ").replace("||", " or ")
    py = re.sub(r"!(?!=)", " not ", py)
    return eval(py, {"__builtins__": {}}, {**_CALLS, **env})  # our own files, not foreign input


def whole(expr, env):
    value = evaluate(expr, env)
    if value != int(value):
        raise ValueError(f"{expr} is {value}")
    return int(value)


def compiled_d(D):
    return (D + 15) // 16 * 16


def environment(kernel, values, dtype, shape):
    """Names for everything but @requires and @traffic: there, D is the head size of the shape."""
    return {**shape, **values, "D": compiled_d(shape["D"]), "T": ELEM_BYTES[dtype],
            "causal": int(shape.get("causal", 0)), "sm": shape.get("sm", 90)}


def layout(one_pass, env):
    """Offsets in the dynamic block by name, and its size."""
    offsets, ends, at = {}, {}, 0
    for s in one_pass.smem:
        if s.static:
            continue
        start = offsets[s.over] if s.over else -(-at // s.align) * s.align
        offsets[s.name] = start
        ends[s.name] = start + whole(s.expr, env)
        at = max(at, ends[s.name])
    return offsets, at


STATIC_MAX = 48 * 1024  # the compiler refuses more; beyond, shared memory must be dynamic


def static_bytes(one_pass, env):
    return sum(whole(s.expr, env) for s in one_pass.smem if s.static)


def definitions(kernel, values, dtype, D):
    """What the compiler is given. Sk only sizes the last buffers, so any value serves here."""
    env = environment(kernel, values, dtype,
                      {"D": D, "Sq": 1, "Sk": 1, "B": 1, "H": 1, "Hkv": 1})
    out = [f"ATTN_D={compiled_d(D)}", f"ATTN_DTYPE={DTYPES[dtype]}"]
    out += [f"P_{name}={value}" for name, value in values.items()]
    for n, p in enumerate(kernel.passes):
        threads = whole(p.threads, env)
        out.append(f"ATTN_THREADS={threads}" if n == 0 else f"ATTN_THREADS_{p.name}={threads}")
        out += [f"SMEM_{name}={offset}" for name, offset in layout(p, env)[0].items()]
    out += [f"WS_{name}={n}" for n, (name, *_) in enumerate(kernel.workspaces)]
    return ["-D" + d for d in out]


# ---- The source hash: src/kernel/desc_hash.c has the same rules. --------------------------------

# Of a tag that says how a kernel is compiled or launched: its first words, or all (0), and how further words begin.
COUNTED = {"param": (2, ()), "threads": (0, ()), "grid": (0, ()), "cluster": (0, ()), "pass": (1, ()),
           "smem": (3, ("align=", "over=")), "entry": (0, ()), "flags": (0, ()), "workspace": (2, ("zero", "once")),
           "include": (0, ()), "cubin": (0, ()), "compiler": (0, ()), "library": (0, ()), "backend": (0, ()),
           "tma": (1, ("box=", "swizzle=")), "arch": (0, ())}
WORD = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


def _counted_tags(source):
    out = ""
    for tag, text in _tags(source):
        if tag in COUNTED:
            most, also = COUNTED[tag]
            words = [w for n, w in enumerate(_words(text)) if not most or n < most or w.startswith(also)]
            out += f"@{tag} " + "".join("".join(w.split()) + " " for w in words) + "\n"
    return out


def _quiet(text, i):
    """The length of a comment or a literal at i, or 0."""
    if text.startswith("//", i):
        end = text.find("\n", i)
        return (len(text) if end < 0 else end) - i
    if text.startswith("/*", i):
        end = text.find("*/", i + 2)
        return (len(text) if end < 0 else end + 2) - i
    if text[i] not in "\"'" or text[i] == "'" and i and text[i - 1] in WORD:
        return 0
    n = 1
    while i + n < len(text) and text[i + n] not in (text[i], "\n"):
        n += 2 if text[i + n] == "\\" and i + n + 1 < len(text) else 1
    return min(n + 1, len(text) - i)


PARTS = re.compile(r"[ \t]*#if (!?)ATTN_PARTS_F32\b")


def _without_parts(text):
    """What is compiled where nobody asks for parts of an answer; all of it, where it sets the switch by itself."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    if any("ATTN_PARTS_F32" in line and not PARTS.match(line) for line in lines):
        return text
    kept, depth, out = [], 0, False
    for line in lines:
        word = re.match(r"[ \t]*#(if|ifdef|ifndef|else|endif)\b", line)
        asks = PARTS.match(line)
        if depth == 0 and asks:
            depth, out = 1, not asks.group(1)
            continue
        if depth == 1 and word and word.group(1) == "else":
            out = not out
            continue
        if depth and word:
            depth += {"else": 0, "endif": -1}.get(word.group(1), 1)
            if depth == 0:
                out = False
                continue
        if not out:
            kept.append(line)
    return "".join(kept)


def _code(text):
    """Without comments and blanks; a blank stays where two tokens would become one, and in directives."""
    out, gap, begun, directive, i = [], False, False, False, 0
    while i < len(text):
        ch, n = text[i], _quiet(text, i)
        if n and ch == "/":
            gap = True
        elif text.startswith("\\\n", i):
            gap, n = True, 2
        elif ch in " \t\n\r\f\v":
            if ch == "\n":
                out += ["\n"] if directive else []
                begun = directive = False
            gap = True
        else:
            n = n or 1
            while ch in WORD and i + n < len(text) and text[i + n] in WORD:
                n += 1
            directive |= ch == "#" and not begun
            before = out[-1][-1] if out else "\n"
            part = before in WORD and ch in WORD or before == ch and ch in "+-&|<>="
            out += [" "] if gap and (begun if directive else part) else []
            out.append(text[i:i + n])
            gap, begun = False, True
        i += n or 1
    return "".join(out)


def _fnv1a(h, data):
    for byte in data:
        h = (h ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return h


def source_hash(source, headers):
    """Of a kernel's text and of the headers that it includes, in the build's order: 16 hexadecimal digits."""
    h = 0xCBF29CE484222325
    for text in headers:
        h = _fnv1a(h, _code(_without_parts(text)).encode())
    return f"{_fnv1a(h, (_counted_tags(source) + _code(_without_parts(source))).encode()):016x}"


def stands_for(table, kernel, digest):
    """The hash that measurements of this text are known by: another's where code has only moved (kernels/cuda/same.tsv)."""
    for line in table.splitlines():
        if line.startswith(f"{kernel}\t{digest}\t"):
            return line.split("\t")[2]
    return digest


def takes(kernel, values, dtype, shape):
    compiled = environment(kernel, values, dtype, shape)
    if not evaluate(kernel.requires, {**compiled, "D": shape["D"]}):
        return False
    return all(static_bytes(p, compiled) <= STATIC_MAX for p in kernel.passes)
