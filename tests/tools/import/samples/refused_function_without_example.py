# refused: 8: the argument x of scaled has no example: write --input x=4x128 (with :int64 or :bfloat16 behind it for another type than float32), a default such as torch.randn(4, 128), an annotation "float32[4, 128]", or get_inputs
# refused: 8: the argument y of scaled has no example
"""Nothing says what x and y are."""
import torch


# a comment
def scaled(x, y: torch.Tensor, factor=2.0):
    return x * y * factor
