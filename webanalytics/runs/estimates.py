"""What a call would cost, before it is made: `webanalytics.estimate`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from webanalytics.core.outcomes import UNUSABLE
from webanalytics.core.run_options import RECORDS, options
from webanalytics.errors import ParameterError
from webanalytics.operations import AUDIT, OPERATIONS, Operation, by_function
from webanalytics.runs.frames.inputs import Inputs, read_inputs


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a call would cost at most: failed inputs cost nothing."""

    operation: str  # name of the function
    rows: int  # of the result
    inputs: int  # distinct ones that can be sent; equal ones are asked about once
    credits: int  # if every input succeeds; 0 on this machine

    def __int__(self) -> int:
        return self.credits


def estimate(operation: str, inputs: Inputs, backend: Any = None, *, column: str | None = None) -> Estimate:
    """Return what a call would cost, without making it.

    Parameters
    ----------
    operation : str
        Name of a function: ``"metadata"``, ``"text"``, ``"audit"``, ``"phones"`` and so on.
    inputs : str, bytes, path, iterable, Series, Index or DataFrame
        What would be given to it.
    backend : Hosted, optional
        Where the work would be done; by default that of `webanalytics.use`.
    column : str, optional
        Column of a DataFrame that holds the inputs.

    Returns
    -------
    Estimate
        Rows, distinct inputs and credits.

    Raises
    ------
    ParameterError
        For an unknown operation, or inputs of another kind.

    Examples
    --------
    >>> from webanalytics import Hosted
    >>> backend = Hosted("https://api.example.com", "22bce1bb-4929-4c08-a13f-6061b2c16adc")
    >>> estimate("text", ["https://a.example/", "https://a.example/", "https://b.example/"], backend)
    Estimate(operation='text', rows=3, inputs=2, credits=20)
    """
    operations = _operations(operation)
    backend = RECORDS["backend"].check(backend) or options.backend
    rows = read_inputs(inputs, operations[0], "inputs", column)
    good = sum(job.subject is not None and job.subject is not UNUSABLE for job in rows.jobs)
    price = 0 if backend is None else sum(backend.price(item) for item in operations)
    return Estimate(operation, len(rows.labels), good, good * price)


def _operations(name: str) -> tuple[Operation, ...]:
    if name == "audit":
        return AUDIT
    operation = by_function(name)
    if operation is None:
        raise ParameterError.one_of("operation", ["audit", *(item.function for item in OPERATIONS.values())])
    return (operation,)
