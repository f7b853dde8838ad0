"""What each kind of animation would store for a clip, in bytes, and with what error."""

from .comparison import Comparison, Quantized, Row, compare, quantize

__all__ = ["Comparison", "Quantized", "Row", "compare", "quantize"]
