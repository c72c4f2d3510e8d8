"""helper.py - the Python side of torch:* and py:*, started by attnscope-worker, one process per library.

It sits on a socket (descriptor 3, one JSON object a message) and answers in turn:

  open    the problem: shape, strides and a memfd that holds Q, K, V and the guarded output
  load    a kernel by name: imports it; the answer names the version that will run
  run     once, into an output that is poisoned; without a GPU the result is then in the memfd
  prepare the inputs of another turn, and an output that is poisoned (on a GPU both are made of copies
          here, else the worker did it)
  sample  timed: GPU events around `repeat` calls, the launches queued behind a spinning kernel so that
          no host time is in between; `cold` rewrites the L2 first; graphs where they can be recorded
  fetch   the result of the last run or sample is put into the memfd
  lap     `runs` replays of a graph, for the worker's clock
  unload

An answer is an object; with "error" it failed, with "lost" this process can do no more.

SPDX-License-Identifier: GPL-3.0-or-later
"""
import array
import contextlib
import ctypes
import importlib
import inspect
import json
import mmap
import os
import signal
import socket
import sys
import time
import warnings
from time import perf_counter as now

PR_SET_PDEATHSIG = 1
HOLD_MIN_S, HOLD_MAX_S = 50e-6, 0.05  # how long the GPU spins while work is queued
OTHER_STREAM_S = 50e-6  # so much work behind our events is no jitter of the host
SPIN_HZ = 2e9  # cycles it counts in a second, at least


class Refusal(Exception):
    """One sentence for the row."""


def first_line(error):
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__


def import_torch(who):
    try:
        import torch
    except ImportError as error:
        raise Refusal(f"{who} needs PyTorch, which {sys.executable} does not have ({first_line(error)}): install "
                      "torch, or name an interpreter that has it in ATTNSCOPE_PYTHON") from error
    return torch


# ---- memory that plain Python can use, where there is no PyTorch ----

class Buffer:
    """A tensor without a library: `data` is a flat memoryview ("f" for f32, "H", the bits, for f16 and bf16);
    element (b, h, s, d) is data[b*strides[0] + h*strides[1] + s*strides[2] + d]."""

    def __init__(self, memory, dtype, shape, strides):
        self.data = memory.cast("f" if dtype == "f32" else "H")
        self.dtype, self.shape, self.strides = dtype, tuple(shape), tuple(strides)
        # numpy.asarray(tensor) is a view of it: no copy, writes to out= arrive. bf16 shows its bits.
        width = self.data.itemsize
        self.__array_interface__ = {
            "version": 3, "typestr": {"f32": "<f4", "f16": "<f2"}.get(dtype, "<u2"),
            "shape": self.shape, "strides": tuple(width * s for s in self.strides), "data": memory}


class Plain:
    """backend=cpu without PyTorch."""

    def __init__(self, problem, memory):
        view = memoryview(memory)
        parts = problem["parts"]
        pick = lambda i: view[parts[i]["at"]:parts[i]["at"] + parts[i]["bytes"]]
        self.tensors = [Buffer(pick(i), problem["dtype"], parts[i]["shape"], parts[i]["strides"]) for i in range(4)]

    def version(self):
        return ""

    def run(self, kernel):
        result = kernel.call()
        if result is not None and result is not self.tensors[3]:
            raise Refusal(f"{kernel.name} must write into out= and return it or nothing: there is no PyTorch here")

    def prepare(self, kernel, by):
        kernel.result = None

    def fetch(self, kernel):
        pass

    def lap(self, kernel, runs):
        return {"graph": False}

    def sample(self, kernel, repeat, cold, graph):
        with kernel.scope():
            begin = now()
            for _ in range(repeat):
                kernel.result = kernel.call()
            seconds = (now() - begin) / repeat
        placed = kernel.result is None or kernel.result is self.tensors[3]
        return {"seconds": seconds, "launch": "direct", "placed": placed}


class Host:
    """backend=cpu with PyTorch: tensors over the shared memory itself."""

    def __init__(self, torch, problem, memory):
        self.torch = torch
        torch.set_num_threads(problem["threads"])
        torch.set_grad_enabled(False)
        self.tensors = [tensor(torch, problem, memory, i) for i in range(4)]

    def version(self):
        return f"torch {self.torch.__version__}"

    def run(self, kernel):
        with kernel.scope():
            deliver(kernel, kernel.call(), self.tensors[3])

    def fetch(self, kernel):
        if kernel.result is not None:
            deliver(kernel, kernel.result, self.tensors[3])

    prepare, lap, sample = Plain.prepare, Plain.lap, Plain.sample


def tensor(torch, problem, memory, i, base=None):
    part = problem["parts"][i]
    dtype = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}[problem["dtype"]]
    size = 4 if problem["dtype"] == "f32" else 2
    if base is None:
        base = torch.frombuffer(memory, dtype=dtype, count=part["bytes"] // size, offset=part["at"])
    return base.as_strided(part["shape"], part["strides"])


def deliver(kernel, result, out):
    """Takes what a call returned: nothing, O, or (O, LSE)."""
    if isinstance(result, (tuple, list)):
        result = result[0] if result else None
    if result is out or (result is None and kernel.takes_out):
        return
    if type(result) is not type(out):  # not even one derived from it: that may do its work when it is read
        raise Refusal(f"{kernel.name} returned {type(result).__name__}; wanted is a plain tensor, (O, LSE), or out= filled")
    if tuple(result.shape) != tuple(out.shape) or result.dtype != out.dtype:
        raise Refusal(f"{kernel.name} returned {tuple(result.shape)} of {result.dtype}; "
                      f"wanted is {tuple(out.shape)} of {out.dtype}")
    out.copy_(result)


# ---- a GPU ----

class Device:
    """Copies of Q, K, V on the GPU, a guarded output there, and the clockwork of a sample."""
    true_clockwork = None  # as it was before any module of the user's was imported

    def __init__(self, torch, problem, memory):
        self.torch = torch
        if not torch.cuda.is_available():
            raise Refusal(f"this PyTorch ({torch.__version__}) sees no GPU: it was built without CUDA, or for another driver")
        Device.true_clockwork = Device.true_clockwork or self.clockwork()
        torch.cuda.set_device(problem["device"])
        torch.set_grad_enabled(False)
        self.place = f"cuda:{problem['device']}"
        self.problem, self.memory = problem, memory
        self.source = [self.host(i).to(self.place) for i in range(3)]
        self.inputs = [source.clone() for source in self.source]
        self.by = 0, 0, 0
        self.tensors = [self.view(flat, i) for i, flat in enumerate(self.inputs)]
        part, guard = problem["parts"][3], problem["guard"]
        self.whole_host = torch.frombuffer(memory, dtype=torch.uint8, count=part["bytes"] + 2 * guard,
                                           offset=part["at"] - guard)
        self.unwritten = self.whole_host.to(self.place)  # the worker has poisoned it
        self.whole = self.unwritten.clone()
        self.tensors.append(self.view(self.whole[guard:guard + part["bytes"]], 3))
        self.sweep = None

    def host(self, i):
        """The bytes of Q, K or V as the worker gave them."""
        part = self.problem["parts"][i]
        return self.torch.frombuffer(self.memory, dtype=self.torch.uint8, count=part["bytes"], offset=part["at"])

    def view(self, flat, i):
        dtype = {"f16": self.torch.float16, "bf16": self.torch.bfloat16, "f32": self.torch.float32}
        return tensor(self.torch, self.problem, None, i, flat.view(dtype[self.problem["dtype"]]))

    def version(self):
        return f"torch {self.torch.__version__}"

    def clockwork(self):
        """What times are taken with: a callable has no reason to replace any of it."""
        cuda = self.torch.cuda
        parts = {f"torch.cuda.Event.{n}": getattr(cuda.Event, n) for n in ("record", "query", "synchronize", "elapsed_time")}
        return {**parts, "torch.cuda.Event": cuda.Event, "torch.cuda.synchronize": cuda.synchronize,
                "torch.cuda._sleep": cuda._sleep}

    def mind_clockwork(self, kernel):
        for name, part in self.clockwork().items():
            if part is not self.true_clockwork[name]:
                raise Refusal(f"{kernel.name}: {name} was replaced, with which times are taken")

    def events(self):
        return [self.torch.cuda.Event(enable_timing=True) for _ in range(2)]

    def run(self, kernel):
        cuda = self.torch.cuda
        self.prepare(kernel, (0, 0, 0))
        with kernel.scope():
            deliver(kernel, kernel.call(), self.tensors[3])
        cuda.synchronize()
        if kernel.foreign:
            self.look_at_inputs(kernel)

    def turned(self, i):
        """Q, K or V as the worker gave it, rotated by so many bytes: its two parts in order."""
        return self.source[i][self.by[i]:len(self.source[i])], self.source[i][0:self.by[i]]

    def prepare(self, kernel, by):
        kernel.result, self.by = None, by
        for i, flat in enumerate(self.inputs):
            head, tail = self.turned(i)
            flat[0:len(head)].copy_(head)
            if by[i]:
                flat[len(head):len(flat)].copy_(tail)
        self.whole.copy_(self.unwritten)
        self.torch.cuda.synchronize()

    def look_at_inputs(self, kernel):
        for i, flat in enumerate(self.inputs):
            head, tail = self.turned(i)
            if not self.torch.equal(flat[0:len(head)], head) or \
                    self.by[i] and not self.torch.equal(flat[len(head):len(flat)], tail):
                self.prepare(kernel, (0, 0, 0))
                raise Refusal(f"{kernel.name}: it overwrote its inputs")

    def fetch(self, kernel):
        if kernel.result is not None:
            deliver(kernel, kernel.result, self.tensors[3])
        self.torch.cuda.synchronize()
        self.whole_host.copy_(self.whole)
        self.torch.cuda.synchronize()
        if kernel.foreign:
            self.look_at_inputs(kernel)

    def lap(self, kernel, runs):
        """Not timed here."""
        with kernel.scope():
            graph = self.graph(kernel, 1)
        for _ in range(runs if graph else 0):
            graph.replay()
        self.torch.cuda.synchronize()
        return {"graph": graph is not None}

    def graph(self, kernel, repeat):
        """`repeat` calls as a CUDA graph, or None if they cannot be recorded."""
        if kernel.graph_of == repeat:
            return kernel.graph
        cuda = self.torch.cuda
        kernel.graph, kernel.graph_of = None, repeat
        graph = cuda.CUDAGraph()
        try:
            with cuda.graph(graph):
                for _ in range(repeat):
                    kernel.recorded = kernel.call()
            kernel.graph = graph
        except Exception:  # whatever it was, a plain stream may do
            cuda.synchronize()
        return kernel.graph

    def flush(self):
        """A read of twice the L2. Not a write: its dirty lines would be written back at the next kernel's expense."""
        if self.sweep is None:
            self.sweep = self.torch.zeros(self.problem["sweep_bytes"] // 4, dtype=self.torch.int32, device=self.place)
        self.sweep.sum()

    def sample(self, kernel, repeat, cold, graph):
        with kernel.scope():
            if kernel.foreign and kernel.behind is None:
                self.look_for_streams(kernel)
            return self.time(kernel, repeat, cold, self.graph(kernel, repeat) if graph else None)

    def look_behind(self, call, held):
        """Seconds until the GPU is idle after an event behind a call. Held, work that waits for our stream comes
        late enough to be seen, however long the host took."""
        if held:
            self.torch.cuda._sleep(int(2e-3 * SPIN_HZ))
        call()
        end = self.torch.cuda.Event()
        end.record()
        end.synchronize()
        begin = time.perf_counter()
        self.torch.cuda.synchronize()
        return time.perf_counter() - begin

    def look_for_streams(self, kernel):
        """How much longer than after a call that keeps to our stream: that is work in another one, which events
        do not see. The least of some looks counts, for any may have waited for the processor."""
        begin, looks = time.perf_counter(), {}
        while len(looks) < 4 or (len(looks[True, True]) < 6 and time.perf_counter() - begin < 0.2):
            for held in (True, False):
                for own in (True, False):
                    call = kernel.call if own else self.tensors[3].zero_
                    looks.setdefault((held, own), []).append(self.look_behind(call, held))
        kernel.behind = max(min(looks[held, True]) - min(looks[held, False]) for held in (True, False))

    def time(self, kernel, repeat, cold, recorded):
        cuda = self.torch.cuda
        for _ in range(5):
            begin, end = self.events()
            if cold:
                self.flush()
            cuda._sleep(int(kernel.hold_s * SPIN_HZ))
            begin.record()
            start = time.perf_counter()
            if recorded:
                recorded.replay()
                kernel.result = kernel.recorded
            else:
                for _ in range(repeat):
                    kernel.result = kernel.call()
            end.record()
            held = not begin.query()  # everything was queued before the GPU came to it
            host_s = time.perf_counter() - start
            end.synchronize()
            if held:
                kernel.hold_s = max(HOLD_MIN_S, min(kernel.hold_s, 3 * host_s))
            if held or kernel.hold_s >= HOLD_MAX_S:
                break
            kernel.hold_s = min(max(2 * kernel.hold_s, 3 * host_s), HOLD_MAX_S)
        self.mind_clockwork(kernel)
        answer = {"seconds": begin.elapsed_time(end) * 1e-3 / repeat, "launch": "graph" if recorded else "stream"}
        if not held:
            answer["reason"] = f"{kernel.name} waits for the GPU while it is called: the time has the host's in it"
        if kernel.behind and kernel.behind > max(OTHER_STREAM_S, answer["seconds"]):
            raise Refusal(f"{kernel.name} works in another stream than PyTorch's current one, so that events cannot "
                          "time it: launch into torch.cuda.current_stream()")
        return answer


# ---- kernels ----

class Kernel:
    takes_out = False
    foreign = False  # code that nobody vouches for

    def __init__(self, name):
        self.name = name
        self.hold_s = 100e-6  # spun last time: three times what the host took, and more after a failure
        self.graph_of, self.graph, self.recorded = 0, None, None
        self.result = None  # of the last sample, until it is fetched or another begins
        self.behind = None  # seconds of work that our events do not see

    def scope(self):
        """What must hold around its calls."""
        return contextlib.nullcontext()

    def close(self):
        self.graph = self.call = self.recorded = self.result = None


class Sdpa(Kernel):
    """torch.nn.functional.scaled_dot_product_attention, held to one backend."""
    BACKENDS = {"flash": ("FLASH_ATTENTION", "Flash attention"), "cudnn": ("CUDNN_ATTENTION", "cuDNN attention"),
                "efficient": ("EFFICIENT_ATTENTION", "Memory efficient"), "math": ("MATH", "Math")}

    def __init__(self, name, place, problem):
        super().__init__(name)
        torch = import_torch(name)
        word, self.title = self.BACKENDS[name.split(":")[1]]
        try:
            from torch.nn.attention import SDPBackend, sdpa_kernel
        except ImportError as error:
            raise Refusal(f"{name}: this PyTorch ({torch.__version__}) has no torch.nn.attention.sdpa_kernel; "
                          "2.3 or newer is needed") from error
        if not hasattr(SDPBackend, word):
            raise Refusal(f"{name}: this PyTorch ({torch.__version__}) has no backend {word}")
        self.backend = getattr(SDPBackend, word)
        self.scope = lambda: sdpa_kernel([self.backend])
        self.torch = torch
        q, k, v, _ = place.tensors
        options = {"scale": problem["scale"]}
        if q.shape[1] != k.shape[1]:
            options["enable_gqa"] = True
        if problem["causal"] and q.shape[2] != k.shape[2]:  # PyTorch's own is aligned at the top left
            from torch.nn.attention.bias import causal_lower_right
            options["attn_mask"] = causal_lower_right(q.shape[2], k.shape[2])
        elif problem["causal"]:
            options["is_causal"] = True
        attention = torch.nn.functional.scaled_dot_product_attention
        self.call = lambda: attention(q, k, v, **options)
        self.try_once(q, k, v, options)

    def try_once(self, q, k, v, options):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                with self.scope():
                    self.call()
                if q.is_cuda:
                    self.torch.cuda.synchronize()
            except (RuntimeError, TypeError, NotImplementedError) as error:
                if is_lost(error) or "out of memory" in str(error):
                    raise
                raise Refusal(f"{self.name}: PyTorch refuses: {self.why([str(w.message) for w in said], error)}") from error
        chosen = self.choice(q, k, v, options)
        if chosen not in (None, int(self.backend.value)):
            raise Refusal(f"{self.name}: PyTorch would run another backend (number {chosen}) in its place")

    def choice(self, q, k, v, options):
        """The backend that PyTorch says it takes under this very restriction; None: it does not say."""
        choose = getattr(self.torch, "_fused_sdp_choice", None)
        if not choose or not q.is_cuda or "attn_mask" in options:
            return None
        try:
            with self.scope():
                return choose(q, k, v, **options)
        except (RuntimeError, TypeError):
            return None

    def why(self, said, error):
        """PyTorch warns of every backend it passes by; ours begins with its title."""
        mine, out = False, []
        for text in said:
            text = text.split(" (Triggered internally")[0].strip()
            if "not used because" in text or "runtime disabled" in text:
                mine = text.lower().startswith(self.title.lower())
            elif mine and text:
                out.append(text)
        return " ".join(out[:2]) or first_line(error)

    def version(self, place):
        extra = ""
        if self.name == "torch:cudnn" and self.torch.backends.cudnn.version():
            n = self.torch.backends.cudnn.version()
            extra = f" {n // 10000}.{n // 100 % 100}.{n % 100}"
        elif self.name == "torch:flash" and hasattr(place, "whole"):
            current = getattr(self.torch.nn.attention, "current_flash_attention_impl", lambda: None)
            extra = f" {current() or 'FA2'}"
        return f"{place.version()}, {self.backend.name}{extra}"


class Callable(Kernel):
    """py:module.function of the user's."""
    foreign = True

    def __init__(self, name, place, problem):
        super().__init__(name)
        if os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())
        function, self.module = self.find(name[len("py:"):])
        q, k, v, out = place.tensors
        self.takes_out = self.accepts_out(function)
        more = {"out": out} if self.takes_out else {}
        scale, causal = problem["scale"], problem["causal"]
        self.call = lambda: function(q, k, v, scale, causal, **more)

    def find(self, path):
        """The longest importable prefix of the path, then attributes."""
        words = path.split(".")
        for n in range(len(words) - 1, 0, -1):
            module = ".".join(words[:n])
            try:
                thing = importlib.import_module(module)
            except ModuleNotFoundError as error:
                if error.name and (module == error.name or module.startswith(error.name + ".")):
                    continue
                raise Refusal(f"{self.name}: importing {module} failed: {first_line(error)}") from error
            except Exception as error:  # its code runs while it is imported
                raise Refusal(f"{self.name}: importing {module} failed: {first_line(error)}") from error
            top = thing
            for word in words[n:]:
                if not hasattr(thing, word):
                    raise Refusal(f"{self.name}: {module} has no {'.'.join(words[n:])}")
                thing = getattr(thing, word)
            if not callable(thing):
                raise Refusal(f"{self.name} is {type(thing).__name__} and cannot be called")
            return thing, top
        raise Refusal(f"{self.name}: there is no module {words[0]}, neither here nor in PYTHONPATH")

    @staticmethod
    def accepts_out(function):
        try:
            names = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            return False
        return any(p.name == "out" or p.kind is p.VAR_KEYWORD for p in names)

    def version(self, place):
        root = sys.modules.get(self.module.__name__.split(".")[0])
        own = getattr(root, "__version__", None)
        parts = [f"{root.__name__} {own}"] if isinstance(own, str) else []
        parts += [place.version()] if place.version() else []
        return ", ".join(parts + [f"python {sys.version.split()[0]}"])


# ---- requests ----

def is_lost(error):
    text = str(error)
    return "CUDA error" in text or "unspecified launch failure" in text or "illegal memory access" in text


class Helper:
    def __init__(self, sock):
        self.sock = sock
        self.problem = self.memory = self.place = None
        self.kernels = {}

    def open(self, ask, fd):
        for kernel in self.kernels.values():
            kernel.close()
        self.kernels, self.place = {}, None
        self.problem = ask
        self.memory = mmap.mmap(fd, ask["bytes"])
        return {"python": sys.version.split()[0]}

    def need_place(self, name):
        if self.place:
            return
        if self.problem["device"] >= 0:
            self.place = Device(import_torch(name), self.problem, self.memory)
            return
        try:
            import torch
            self.place = Host(torch, self.problem, self.memory)
        except ImportError:
            if not name.startswith("py:"):
                import_torch(name)
            self.place = Plain(self.problem, self.memory)

    def load(self, ask, fd):
        self.need_place(ask["kernel"])
        kind = Callable if ask["kernel"].startswith("py:") else Sdpa
        kernel = kind(ask["kernel"], self.place, self.problem)
        self.kernels[ask["id"]] = kernel
        return {"version": kernel.version(self.place)}

    def run(self, ask, fd):
        self.place.run(self.kernels[ask["id"]])
        return {}

    def sample(self, ask, fd):
        return self.place.sample(self.kernels[ask["id"]], ask["repeat"], ask["cold"], ask["graph"])

    def prepare(self, ask, fd):
        self.place.prepare(self.kernels[ask["id"]], ask["by"])
        return {}

    def fetch(self, ask, fd):
        kernel = self.kernels[ask["id"]]
        with kernel.scope():
            self.place.fetch(kernel)
        return {}

    def lap(self, ask, fd):
        return self.place.lap(self.kernels[ask["id"]], ask["runs"])

    def unload(self, ask, fd):
        kernel = self.kernels.pop(ask["id"], None)
        if kernel:
            kernel.close()
        return {}

    def answer(self, ask, fd):
        name = ask.get("kernel") or getattr(self.kernels.get(ask.get("id")), "name", "its Python process")
        try:
            return {"open": self.open, "load": self.load, "run": self.run, "prepare": self.prepare,
                    "sample": self.sample, "fetch": self.fetch, "lap": self.lap,
                    "unload": self.unload}[ask["do"]](ask, fd)
        except Refusal as error:
            return {"error": str(error)}
        except Exception as error:  # the user's code may raise what it likes
            if "out of memory" in str(error):
                return {"error": f"{name}: out of memory: {first_line(error)}"}
            return {"error": f"{name}: {first_line(error)}", "lost": is_lost(error)}

    def serve(self):
        while True:
            data, extra, _, _ = self.sock.recvmsg(1 << 16, socket.CMSG_SPACE(array.array("i").itemsize))
            if not data:
                return
            fd = array.array("i", extra[0][2][:4])[0] if extra else -1
            answer = self.answer(json.loads(data), fd)
            if fd >= 0:
                os.close(fd)
            self.sock.send(json.dumps(answer).encode()[:60000])


def main():
    parent = int(sys.argv[1])
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        return
    sys.path[:] = [p for p in sys.path if not p.startswith("/proc/")]
    Helper(socket.socket(fileno=3)).serve()


if __name__ == "__main__":
    main()
