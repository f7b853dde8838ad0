"""What each form of a clip takes in bytes and costs in error, and clips with fewer keys and fewer bits."""

from .comparison import Comparison, Row
from .forms import compare
from .quantized import Quantized, quantize

__all__ = ["Comparison", "Quantized", "Row", "compare", "quantize"]
