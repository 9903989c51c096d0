"""What all sections of an experiment file are made of: values with units and bounds, and no unknown keys."""

from typing import Annotated

from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, ConfigDict, PlainSerializer, StringConstraints

from orchestrator.experiment.units import DURATION, RATE, Expected, show_share

Duration = Annotated[float, DURATION]
Rate = Annotated[float, RATE, Gt(0)]
AS_SHARE = PlainSerializer(show_share, when_used="json")
Share = Annotated[float, Ge(0), Le(1), Expected("a share, 0% to 100%"), AS_SHARE]
PositiveShare = Annotated[float, Gt(0), Le(1), Expected("a share above 0%, at most 100%"), AS_SHARE]
Name = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,100}$"),
    Expected("a name of at most 100 letters, digits, - _ . (in quotes if it looks like a number)"),
]


class Section(BaseModel):
    """What all parts of an experiment have in common: they never change, and unknown keys are mistakes."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )
