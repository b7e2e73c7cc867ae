"""Programs as JAX lowers them, a file each."""

import argparse
import pathlib

import jax


def _of(element):
    """Shapes of an element type, by their sizes."""
    return lambda *sizes: jax.ShapeDtypeStruct(sizes, element)


f32, f64, c64 = _of("float32"), _of("float64"), _of("complex64")
s32, u8, u32, u64 = _of("int32"), _of("uint8"), _of("uint32"), _of("uint64")


def write(doc, programs):
    """Into the folder that the command line names; a program is a function and the shapes it takes."""
    parser = argparse.ArgumentParser(description=doc.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, (function, *arguments) in programs.items():
        text = jax.jit(function).lower(*arguments).as_text("hlo")
        (folder / f"{name}.hlo").write_text(text)
