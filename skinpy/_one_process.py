"""Objects that only the process that made them can use."""

from typing import NoReturn, SupportsIndex


class OneProcess:
    """An object that draws: its threads and its memory on the graphics card can be in no other process."""

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(
            f"a {type(self).__name__} cannot be pickled or copied, because it draws in this process; "
            "make one in each process, from the model"
        )
