"""Programs as JAX lowers them, a file each."""

import argparse
import pathlib

import jax


def f32(*sizes):
    return jax.ShapeDtypeStruct(sizes, "float32")


def f64(*sizes):
    return jax.ShapeDtypeStruct(sizes, "float64")


def c64(*sizes):
    return jax.ShapeDtypeStruct(sizes, "complex64")


def s32(*sizes):
    return jax.ShapeDtypeStruct(sizes, "int32")


def u8(*sizes):
    return jax.ShapeDtypeStruct(sizes, "uint8")


def u32(*sizes):
    return jax.ShapeDtypeStruct(sizes, "uint32")


def u64(*sizes):
    return jax.ShapeDtypeStruct(sizes, "uint64")


def write(doc, programs):
    """Into the folder that the command line names; a program is a function and the shapes it takes."""
    parser = argparse.ArgumentParser(description=doc.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, (function, *arguments) in programs.items():
        text = jax.jit(function).lower(*arguments).as_text("hlo")
        (folder / f"{name}.hlo").write_text(text)
