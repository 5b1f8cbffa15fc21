"""Folders of images, read with Pillow: grey, upright, of one size.

Tested in tests/datasets/test_files.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from trug_fast._common.extras import need

SUFFIXES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".pgm", ".ppm"}
LARGEST = 256 * 256  # pixels that are taken as they are, without a size being asked for
FULL = 65535  # of grey levels of 16 bits


def read_pictures(paths: list[Path], size: tuple[int, int] | None) -> npt.NDArray[np.float32]:
    """Return images as grey levels from 0 to 1, shape (n, height, width)."""
    library = need("PIL.Image", "reading images needs Pillow", "images")
    found: list[npt.NDArray[np.float32]] = []
    for path in paths:
        try:
            with library.open(path) as image:
                grey = _grey(library, image, size)
        except (OSError, SyntaxError, ValueError, library.DecompressionBombError) as error:
            raise ValueError(
                f"{path} is no image or is damaged; leave nothing but images in the folder"
            ) from error
        found.append(grey)
        if grey.shape != found[0].shape or (size is None and grey.size > LARGEST):
            words, first = ("x".join(map(str, each.shape)) for each in (grey, found[0]))
            raise ValueError(
                f"{path} has {words} pixels, a visible unit each, and {paths[0]} has {first}; "
                "scale them all with size=28 or another"
            )
    return np.stack(found)


def _grey(library: Any, image: Any, size: tuple[int, int] | None) -> npt.NDArray[np.float32]:
    """Return grey levels of an image as it is seen: turned upright, on white where transparent."""
    image = need("PIL.ImageOps", "reading images needs Pillow", "images").exif_transpose(image)
    if image.mode.startswith("I"):  # 16 bits, which a conversion would cut
        image = library.fromarray(np.asarray(image, np.float32) * (255 / FULL))
    elif image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        seen = image.convert("RGBA")
        image = library.alpha_composite(library.new("RGBA", seen.size, "white"), seen).convert("L")
    elif image.mode != "F":
        image = image.convert("L")
    if size is not None and image.size != size[::-1]:
        image = image.resize(size[::-1], library.Resampling.BOX)
    return np.clip(np.asarray(image, np.float32) / 255, 0.0, 1.0)
