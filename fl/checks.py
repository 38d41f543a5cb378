"""Validation at the boundaries: every error names the field, the value and what is allowed."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any

import numpy as np
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]
CountFromZero = Annotated[int, Field(ge=0)]


@lru_cache
def _adapter(kind: Any) -> TypeAdapter:
    return TypeAdapter(kind, config=ConfigDict(strict=True, allow_inf_nan=False))


def checked(field: str, value: Any, kind: Any) -> Any:
    """``value`` as a ``kind``: a type with limits, such as ``Count`` or ``Literal["a", "b"]``.

    >>> checked("rate", np.float32(0.5), Positive)
    0.5
    >>> checked("rate", 0, Positive)
    Traceback (most recent call last):
        ...
    ValueError: rate = 0 is not allowed: input should be greater than 0
    """
    plain = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    try:
        return _adapter(kind).validate_python(plain)
    except ValidationError as error:
        wrong = [issue["msg"][0].lower() + issue["msg"][1:] for issue in error.errors()]
        raise ValueError(f"{field} = {value!r} is not allowed: {', or '.join(wrong)}") from None
