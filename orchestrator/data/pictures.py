"""A picture file as an array, with pillow."""

from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from orchestrator.data.reading import DataRefused


def picture(content: BytesIO, name: str) -> NDArray[np.uint8]:
    """(height, width, 3), whatever colours the file has."""
    try:
        from PIL import Image
    except ImportError:
        raise DataRefused("reading pictures needs pillow: pip install 'pame-testbed[vision]'") from None
    try:
        with Image.open(content, formats=("PNG", "JPEG")) as image:
            return np.asarray(image.convert("RGB"), dtype=np.uint8)
    except Exception:  # pillow's readers raise many things
        raise DataRefused(f"{name} is no PNG or JPEG picture, or damaged: get it anew") from None
