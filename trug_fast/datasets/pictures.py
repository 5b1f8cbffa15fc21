"""Folders of images, read with Pillow: grey, upright, of one size.

Tested in tests/datasets/test_files.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

SUFFIXES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".pgm", ".ppm"}
LARGEST = 256 * 256  # pixels that are taken as they are, without a size being asked for
FULL = 65535  # of grey levels of 16 bits


def read_pictures(paths: list[Path], size: tuple[int, int] | None) -> npt.NDArray[np.float32]:
    """Return images as grey levels from 0 to 1, shape (n, height, width).

    Raises
    ------
    ImportError
        If Pillow is not installed.
    ValueError
        If one is no image, or they are of several sizes and none is asked for.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError('reading images needs Pillow: pip install "trug_fast[images]"') from error
    first, found = None, []
    for path in paths:
        try:
            with Image.open(path) as image:
                grey = _grey(image, size)
        except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
            raise ValueError(
                f"{path} is no image or is damaged; leave nothing but images in the folder"
            ) from error
        first = grey.shape if first is None else first
        if grey.shape != first:
            raise ValueError(
                f"{path} has {_words(grey.shape)} pixels, {paths[0]} has {_words(first)}; scale "
                "them all with size=28 or another"
            )
        if size is None and grey.size > LARGEST:
            raise ValueError(
                f"{path} has {_words(grey.shape)} pixels, a visible unit each; scale images with "
                "size=28 or another"
            )
        found.append(grey)
    return np.stack(found)


def _grey(image: Any, size: tuple[int, int] | None) -> npt.NDArray[np.float32]:
    """Return grey levels of an image as it is seen: turned upright, on white where transparent."""
    from PIL import Image, ImageOps

    image = ImageOps.exif_transpose(image)
    if image.mode.startswith("I"):  # 16 bits, which a conversion would cut
        image = Image.fromarray(np.asarray(image, np.float32) * (255 / FULL))
    elif image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        seen = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", seen.size, "white"), seen).convert("L")
    elif image.mode != "F":
        image = image.convert("L")
    if size is not None and image.size != size[::-1]:
        image = image.resize(size[::-1], Image.Resampling.BOX)
    levels = np.asarray(image, np.float32) / 255
    return np.clip(levels, 0.0, 1.0)


def _words(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))
