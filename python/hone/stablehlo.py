"""Between StableHLO, which JAX speaks, and HLO, which hone speaks. The translation is XLA's own, as
it comes with JAX; importing this module imports no JAX."""

import importlib
import os


def from_stablehlo(stablehlo, *, binary=False):
    """The HLO program of a StableHLO module.

    Args:
      stablehlo: MLIR text or bytecode, also a portable artifact, such as `jax.jit(f).lower(x).as_text()`
        gives.
      binary: give a serialized HloModuleProto, not text.

    Raises:
      ImportError: there is no JAX of version 0.10.2 or newer.
      ValueError: it is no StableHLO module.
    """
    mlir = _translations()
    if not isinstance(stablehlo, (str, bytes)):
        raise ValueError(f"a StableHLO module is text or bytes, this is {type(stablehlo).__name__}")
    program = stablehlo
    if not program.strip():
        raise ValueError("this is no StableHLO module, there is nothing in it")
    if isinstance(program, bytes) and not program.startswith(b"ML\xefR"):
        program = _decoded(program)
    try:
        if isinstance(program, bytes) and b"StableHLO_v" in program[:64]:
            program = _text(program)
        computation = mlir.mlir_module_to_xla_computation(
            program, use_tuple_args=False, return_tuple=False)
    except Exception as error:
        if "stablehlo.dynamic_" in str(error) and "can't be translated" in str(error):
            raise ValueError("this StableHLO module has symbolic shapes; export it for fixed ones") from error
        raise ValueError(f"this is no StableHLO module that XLA can read: {error}") from error
    if binary:
        return computation.as_serialized_hlo_module_proto()
    return computation.as_hlo_text(print_large_constants=True).rstrip("\n") + "\n"


def to_stablehlo(hlo):
    """The StableHLO text of an HLO program, which is HLO text or a serialized HloModuleProto.

    Raises:
      ImportError: there is no JAX of version 0.10.2 or newer.
      ValueError: it is no HLO program, or has something that StableHLO cannot say, such as fusions.
    """
    mlir = _translations()
    if not isinstance(hlo, (str, bytes)):
        raise ValueError(f"an HLO program is text or bytes, this is {type(hlo).__name__}")
    try:
        stablehlo = mlir.hlo_to_stablehlo(hlo_proto(hlo))
    except Exception as error:
        raise ValueError(f"this is no HLO program that StableHLO can say: {error}") from error
    return _text(stablehlo)


def hlo_proto(hlo):
    """A serialized HloModuleProto of HLO text; what is serialized comes back as it is.

    Raises:
      ImportError: there is no JAX of version 0.10.2 or newer.
      Exception: XLA's own, of a text that it cannot parse.
    """
    if isinstance(hlo, bytes) and not hlo.lstrip().startswith(b"HloModule"):
        return hlo
    require_jax("reading HLO text")
    text = hlo if isinstance(hlo, str) else _decoded(hlo)
    module = importlib.import_module("jaxlib._hlo").hlo_module_from_text(text)
    return module.as_serialized_hlo_module_proto()


def require_jax(purpose, oldest=(0, 10, 2)):
    """JAX. Raises ImportError, which says what to do, where it is not there or too old."""
    wanted = ".".join(map(str, oldest))
    how = f"{purpose} needs JAX {wanted} or newer; install it: pip install 'hone[jax]'"
    try:
        jax = importlib.import_module("jax")
        version = jax.__version_info__
    except (ImportError, AttributeError) as error:
        raise ImportError(f"{how} ({error})") from error
    if version < oldest:
        raise ImportError(f"{how} (here is {jax.__version__}, in {os.path.dirname(jax.__file__)})")
    return jax


def _translations():
    require_jax("translating StableHLO")
    return importlib.import_module("jax._src.lib")._jax.mlir


def _text(stablehlo):
    """The text of a StableHLO module in any form, also a portable artifact, as jax.export writes it."""
    interpreters = importlib.import_module("jax._src.interpreters.mlir")
    ir = importlib.import_module("jax._src.lib.mlir").ir
    with interpreters.make_ir_context():
        return str(ir.Module.parse(stablehlo))


def _decoded(data):
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"this is neither StableHLO bytecode nor HLO nor text: {error}") from error
