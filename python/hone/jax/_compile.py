"""The place where JAX compiles: what its modules are called by, and how one is compiled otherwise.

This file and _transforms.py reach into JAX (0.10.2 to 0.10; tests say when that changes). One function
of JAX, compiler.compile_or_get_cached, is wrapped: it tells a watcher of every module before it is
compiled. What a tuned module decides goes in through the public hook,
jax.extend.xla.register_hlo_module_transformation: the callback answers XLA's optimised module with the
tuned one. XLA calls it on threads of its own, so the module that is meant is told by a frontend
attribute, which is put on it before it is compiled.
"""

import contextlib
import dataclasses
import functools
import hashlib
import threading
import warnings

import jax
import jaxlib
import numpy as np
from jax._src import compiler
from jax._src.interpreters import mlir, pxla
from jax._src.lib import _jax
from jax._src.lib import xla_client as xc
from jax._src.lib.mlir import ir
from jax.extend.xla import clear_hlo_module_transformation, register_hlo_module_transformation

from hone.jax import _callbacks, _kernels

_ATTRIBUTE = "hone.tuned"
# XLA forgets the aliases of a module that the hook replaces, so donated arguments are not reused by it.
# Fields of HloModuleProto that are the instructions, what names them and what they refer to; all
# others (aliases, donors, shardings, the module's name and id) stay those of the module that JAX made.
_BODY_FIELDS = {2, 3, 6, 7, 17}


@dataclasses.dataclass(frozen=True)
class Tuned:
    """How a module is compiled otherwise.

    Attributes:
      body: a serialized HloModuleProto, optimised, of which the computations are taken; b"" for those
        that JAX's own XLA comes to.
      flags: XLA's compile options by hone's names, as a plan has them (`with_flags`).
      name: of the module; what is to be said of it.
      kernels: that it calls, as hone wrote them beside it.
      program: StableHLO that JAX compiles to `body` by itself; b"" where there is none.
    """

    body: bytes = b""
    flags: dict = dataclasses.field(default_factory=dict)
    name: str = ""
    kernels: bytes = b""
    program: bytes = b""


def versions():
    """What a tuned module is only good for: this XLA, this processor's kind."""
    return f"jaxlib {jaxlib.version.__version__}"


def name_of(module):
    return ir.StringAttr(module.operation.attributes["sym_name"]).value


def key_of(module, options=None):
    """32 hexadecimal digits: of all that is computed, without source locations. Of the text, for the
    same module's bytecode differs by how it came about."""
    digest = hashlib.sha256(module.operation.get_asm(enable_debug_info=False).encode())
    if options is not None:
        digest.update(repr(sorted(map(repr, options.env_option_overrides))).encode())
    return digest.hexdigest()[:32]


def hlo_of(module):
    """A serialized HloModuleProto, not optimised, without shardings."""
    computation = _jax.mlir.mlir_module_to_xla_computation(
        mlir.module_to_bytecode(_unsharded(module)), use_tuple_args=False, return_tuple=False)
    return computation.as_serialized_hlo_module_proto()


_SHARDING = "sdy.sharding"


def _unsharded(module):
    """A module for one device, on which shardings say nothing. As HLO they are custom calls, which only XLA's
    partitioner knows; one that is more than a note (a manual computation) is left."""
    names = {op.operation.name for op in module.body.operations}
    if "sdy.mesh" not in names:
        return module
    with module.context, ir.Location.unknown():
        plain = ir.Module.parse(mlir.module_to_bytecode(module))
        found = []

        def visit(op):
            found.append(op)
            return ir.WalkResult.ADVANCE

        plain.operation.walk(visit)
        if any(op.name == "sdy.manual_computation" for op in found):
            return module
        for op in found:
            if op.name == "func.func":
                for side in ("arg_attrs", "res_attrs"):
                    if side in op.attributes:
                        op.attributes[side] = ir.ArrayAttr.get([
                            ir.DictAttr.get({one.name: one.attr for one in ir.DictAttr(attributes)
                                             if one.name != _SHARDING})
                            for attributes in ir.ArrayAttr(op.attributes[side])])
            elif _SHARDING in op.attributes:
                del op.attributes[_SHARDING]
        for op in found:
            if op.name == "sdy.sharding_constraint":
                op.results[0].replace_all_uses_with(op.operands[0])
            if op.name in ("sdy.sharding_constraint", "sdy.mesh"):
                op.erase()
    return plain


def bytecode_of(module):
    return mlir.module_to_bytecode(module)


@contextlib.contextmanager
def module_of(stablehlo):
    """An ir.Module of StableHLO bytecode or text."""
    with mlir.make_ir_context():
        yield ir.Module.parse(stablehlo)


def donated(module):
    """Positions of the arguments whose memory the results may take."""
    main = next(op for op in module.body.operations
                if ir.StringAttr(op.operation.attributes["sym_name"]).value == "main")
    if "arg_attrs" not in main.operation.attributes:
        return set()
    given = ir.ArrayAttr(main.operation.attributes["arg_attrs"])
    return {position for position, attributes in enumerate(given)
            if "tf.aliasing_output" in ir.DictAttr(attributes)
            or "jax.buffer_donor" in ir.DictAttr(attributes)}


def parameters(stablehlo):
    """[(shape, numpy dtype)] of a module's arguments."""
    with module_of(stablehlo) as module:
        main = next(op for op in module.body.operations
                    if ir.StringAttr(op.operation.attributes["sym_name"]).value == "main")
        kinds = ir.FunctionType(ir.TypeAttr(main.operation.attributes["function_type"]).value).inputs
        found = []
        for kind in kinds:
            ranked = ir.RankedTensorType(kind)
            found.append((tuple(ranked.shape), _dtype_of(str(ranked.element_type))))
        return found


def _dtype_of(element):
    """numpy's of MLIR's: i1, i32, ui8, bf16, f32, complex<f32>."""
    names = {"i1": "bool", "bf16": "bfloat16", "complex<f32>": "complex64",
             "complex<f64>": "complex128"}
    for prefix, kind in (("ui", "uint"), ("i", "int"), ("f", "float")):
        if element not in names and element.startswith(prefix) and element[len(prefix):].isdigit():
            return np.dtype(kind + element[len(prefix):])
    return jax.numpy.dtype(names.get(element, element))


# hone's names of what no compile option of JAX is called by: passes left out, one by one, and entries of
# a map of XLA's.
WITHOUT_PASS = "xla_disable_hlo_passes."
EXTRA = "xla_backend_extra_options."
_DISABLED = "xla_disable_hlo_passes"


# Beside what is compiled as one kernel, a loop with all that is in it.
ONE_KERNEL = b"xla_cpu_small_call"
FUSES_FOR_A_LIBRARY = "xla_cpu_experimental_ynn_fusion_type"


def encoded(module):
    """A module's bytes: bytecode is some, a text becomes some."""
    return module if isinstance(module, bytes) else module.encode()


def and_needed(flags, program):
    """A plan's flags, and what JAX's XLA is told besides to compile the program (StableHLO's bytecode, or HLO).

    It fuses reductions for a library, also in what is to be one kernel, and has no code for that there.
    """
    if ONE_KERNEL not in program or not has_option(FUSES_FOR_A_LIBRARY):
        return flags
    return {**flags, FUSES_FOR_A_LIBRARY: ""}


@functools.cache
def has_option(option):
    """Whether XLA has an option that may be empty."""
    try:
        jax.jit(lambda: 0).lower().compile(compiler_options={option: ""})
    except Exception:  # of whatever kind this JAX has for it
        return False
    return True


def option_of(value):
    """A flag's value as JAX wants it: true and false, whole numbers, texts."""
    if not isinstance(value, str):
        return value
    if value in ("true", "false"):
        return value == "true"
    return int(value) if value.lstrip("-").isdigit() else value


def with_flags(options, flags):
    """A copy of XLA's compile options with a plan's flags, each in the spelling that JAX takes.

    Passes left out become one list, behind those that the user leaves out already. Entries of the map of
    extra options go into the message that the options are, to which they are appended.
    """
    left_out = [name[len(WITHOUT_PASS):] for name, value in flags.items()
                if name.startswith(WITHOUT_PASS) and option_of(value) is True]
    extras = {name[len(EXTRA):]: value if isinstance(value, str) else str(value).lower()
              for name, value in flags.items() if name.startswith(EXTRA) and value != "unset"}
    plain = {name: option_of(value) for name, value in flags.items()
             if not name.startswith((WITHOUT_PASS, EXTRA))}
    message = options.SerializeAsString()
    if extras:
        entries = b"".join(_field(500, _field(1, key.encode()) + _field(2, value.encode()))
                           for key, value in extras.items())
        # CompileOptionsProto.executable_build_options.debug_options.xla_backend_extra_options
        message += _field(3, _field(3, entries))
    changed = xc.CompileOptions.ParseFromString(message)
    overrides = list(options.env_option_overrides)
    if left_out:
        users = [value for name, value in overrides if name == _DISABLED]
        users.append(changed.executable_build_options.debug_options.xla_disable_hlo_passes)
        overrides = [one for one in overrides if one[0] != _DISABLED]
        overrides.append((_DISABLED, ",".join([one for one in users if one] + left_out)))
    changed.env_option_overrides = overrides + list(plain.items())
    return changed


def _field(number, data):
    """A field of a serialized protocol buffer: bytes, a text or a message."""
    def varint(value):
        out = bytearray()
        while value > 127:
            out.append(value & 127 | 128)
            value >>= 7
        return bytes([*out, value])

    return varint(number << 3 | 2) + varint(len(data)) + data


def fields(message):
    """[(number, bytes with tag)] of a serialized protocol buffer's top level."""
    found, position = [], 0

    def varint():
        nonlocal position
        value = shift = 0
        while True:
            byte = message[position]
            position += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    while position < len(message):
        start = position
        tag = varint()
        if tag & 7 == 0:
            varint()
        elif tag & 7 == 2:
            size = varint()
            position += size
        elif tag & 7 in (1, 5):
            position += 8 if tag & 7 == 1 else 4
        else:
            raise ValueError(f"byte {start} starts no field")
        found.append((tag >> 3, message[start:position]))
    return found


def with_body(module, body):
    """`module` with the instructions of `body`; both serialized HloModuleProto.

    Raises:
      ValueError: they take or give different things, which XLA would not notice.
    """
    if _signature(module) != _signature(body):
        raise ValueError("the tuned module has other arguments or results")
    return b"".join(
        [field for number, field in fields(module) if number not in _BODY_FIELDS]
        + [field for number, field in fields(body) if number in _BODY_FIELDS])


def _signature(module):
    """Shapes and layouts of arguments and results: a ProgramShapeProto without names."""
    shape = b"".join(field for number, field in fields(module) if number == 4)
    length = next(i for i, byte in enumerate(shape[1:], 2) if byte < 128) if shape else 0
    return [field for number, field in fields(shape[length:]) if number in (1, 2)]


# Modules by their attribute, while they are compiled.
_compiling = {}
_lock = threading.Lock()
_local = threading.local()


def _transform(message):
    """XLA's callback: the tuned module for one that is in `_compiling`."""
    entry = None
    try:
        attribute = next((field for number, field in fields(message) if number == 19
                          and _ATTRIBUTE.encode() in field), b"")
        entry = next((entry for token, entry in list(_compiling.items())
                      if token.encode() in attribute), None)
        if entry is None:
            return None
        entry.seen = message
        return with_body(message, entry.tuned.body) if entry.tuned.body else None
    except Exception as error:  # which would go through XLA; compile_tuned raises it
        if entry is not None:
            entry.error = error
        return None


class _Entry:
    def __init__(self, tuned):
        self.tuned = tuned
        self.seen = None
        self.error = None


def compile_tuned(backend, module, devices, options, tuned, host_callbacks):
    """(executable, the optimised module that XLA came to by itself) of an ir.Module.

    `host_callbacks` are the functions that it calls back, by their numbers.

    Raises whatever XLA does of a body or a flag that it doesn't take, and HoneError of kernels.
    """
    _kernels.add(tuned.kernels)
    with _lock:
        token = f"{id(module):x}.{len(_compiling)}.{np.random.default_rng().integers(1 << 60):x}"
        if not _compiling:
            register_hlo_module_transformation(_transform, name="hone", platforms="cpu")
        entry = _compiling[token] = _Entry(tuned)
    attributes = module.operation.attributes
    try:
        with module.context:
            old = attributes["mhlo.frontend_attributes"] \
                if "mhlo.frontend_attributes" in attributes else None
            known = {named.name: named.attr for named in ir.DictAttr(old)} if old else {}
            known[_ATTRIBUTE] = ir.StringAttr.get(token)
            attributes["mhlo.frontend_attributes"] = ir.DictAttr.get(known)
        if tuned.flags:
            options = with_flags(options, tuned.flags)
        executable = _compile(backend, module, devices, options, list(host_callbacks))
    finally:
        with module.context:
            if old is None:
                del attributes["mhlo.frontend_attributes"]
            else:
                attributes["mhlo.frontend_attributes"] = old
        with _lock:
            del _compiling[token]
            if not _compiling:
                clear_hlo_module_transformation("hone", platforms="cpu")
    if entry.error is not None:
        raise entry.error
    if tuned.body and entry.seen is None:
        raise RuntimeError("XLA did not call the transformation")
    return executable, entry.seen


# Without JAX's own cache on disk, in which a tuned executable would take the stock one's place.
_compile = compiler.backend_compile_and_load


def compile_stablehlo(stablehlo, tuned=None):
    """compile_tuned of StableHLO, for the first CPU device; with stand-ins for what it calls back."""
    backend = jax.devices("cpu")[0].client
    device = jax.devices("cpu")[0]
    options = compiler.get_compile_options(
        1, 1, device_assignment=np.array([[device.id]]), backend=backend)
    with module_of(stablehlo) as module:
        return compile_tuned(backend, module, xc.DeviceList((device,)), options, tuned or Tuned(),
                             _callbacks.stand_ins(module, _dtype_of))


def tunable(backend, devices, host_callbacks, module):
    """Whether a module that JAX compiles is one that hone can say something of."""
    return backend.platform == "cpu" and np.size(devices) == 1 \
        and (not host_callbacks or _callbacks.are_pure(module))


class Watcher:
    """What is told of compilations; the default leaves all as it is."""

    def before(self, module, options):
        """What is known of a module that is about to be compiled: Tuned, or None. It is still what was
        lowered; compiling takes its donated arguments away."""

    def after(self, module, executable, options):
        """It has been compiled, by JAX's own way."""


def watch(watcher):
    """Tells a watcher of what JAX compiles from now on. Returns a function that ends it."""
    original = compiler.compile_or_get_cached

    @functools.wraps(original)
    def compile_or_get_cached(backend, computation, devices, compile_options, host_callbacks,
                              executable_devices, *rest, **named):
        forced = getattr(_local, "forced", None)
        if forced is not None:
            tuned, stablehlo = forced
            with module_of(stablehlo) as module:
                return compile_tuned(backend, module, executable_devices, compile_options, tuned,
                                     host_callbacks)[0]
        known = None
        try:
            if tunable(backend, devices, host_callbacks, computation):
                known = watcher.before(computation, compile_options)
            if known is not None:
                return compile_tuned(backend, computation, executable_devices, compile_options,
                                     known, host_callbacks)[0]
        except Exception as error:
            warnings.warn(f"hone leaves {name_of(computation)} as it is: {error}", stacklevel=2)
        executable = original(backend, computation, devices, compile_options, host_callbacks,
                              executable_devices, *rest, **named)
        try:
            if tunable(backend, devices, host_callbacks, computation):
                watcher.after(computation, executable, compile_options)
        except Exception as error:
            warnings.warn(f"hone: {error}", stacklevel=2)
        return executable

    compiler.compile_or_get_cached = compile_or_get_cached

    def end():
        if compiler.compile_or_get_cached is compile_or_get_cached:
            compiler.compile_or_get_cached = original

    return end


@contextlib.contextmanager
def forced(tuned, stablehlo):
    """What this thread compiles meanwhile is `stablehlo`, compiled so; an error is raised.

    `stablehlo` is what the function was lowered to, from before it was compiled the first time: JAX's
    module is another afterwards, without the donated arguments.
    """
    end = watch(Watcher())
    pxla._cached_compilation.cache_clear()  # what JAX would take from its memory is not compiled
    _local.forced = (tuned, stablehlo)
    try:
        yield
    finally:
        _local.forced = None
        pxla._cached_compilation.cache_clear()
        end()


def executable_of(compiled):
    """(XLA's executable, positions of the arguments it takes, how they are put on its device)."""
    call = compiled._executable.unsafe_call
    if not isinstance(call, pxla.ExecuteReplicated) or call.ordered_effects \
            or call.has_unordered_effects or call.mut:
        raise ValueError("it has side effects")
    return call.xla_executable, compiled._params.const_args, call.kept_var_idx, call.in_handler


def count_calls(on_call):
    """Calls on_call(executable, inputs, run) for each run of a compiled function from now on: `run`
    makes it and returns the results. Takes JAX's fast path away, so for recording only."""
    from jax._src import pjit

    pjit._get_fastpath_data = lambda *_, **__: None
    pxla.MeshExecutable.create_cpp_call = lambda *_: None
    original = pxla.ExecuteReplicated.__call__

    @functools.wraps(original)
    def call(self, *arguments):
        def inputs():
            kept = [a for i, a in enumerate(arguments) if i in self.kept_var_idx]
            return self.in_handler(kept)

        return on_call(self.xla_executable, inputs, lambda: original(self, *arguments))

    pxla.ExecuteReplicated.__call__ = call
