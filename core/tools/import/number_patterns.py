"""Patterns in the numbers of a tensor: one number throughout, a triangle of ones, steps of one size; and triangles, diagonals
and symmetry of an input, which its recipe keeps."""

import torch

MOST_ELEMENTS = 1 << 24
SAID = {"upper": "an upper triangle", "lower": "a lower triangle", "diagonal": "diagonal", "symmetric": "symmetric"}


def of(tensor):
    """('full', value), ('tril' or 'triu', value, diagonal) or ('arange', start, step); None for anything else."""
    if tensor.device.type == "meta" or tensor.numel() == 0 or tensor.numel() > MOST_ELEMENTS:
        return None
    flat = tensor.detach().reshape(-1)
    values = flat.to(torch.float64)
    if not bool(torch.isfinite(values).all()):
        return None
    first = float(values[0])
    if bool((values == first).all()):
        return ("full", first)
    if tensor.dim() >= 2:
        matrix = tensor.detach().reshape(-1, tensor.shape[-2], tensor.shape[-1]).to(torch.float64)
        peak = float(values.abs().max())
        peak = peak if float(values.max()) == peak else -peak
        for name, cut in (("tril", torch.tril), ("triu", torch.triu)):
            for diagonal in (0, 1, -1):
                if bool((matrix == cut(torch.full_like(matrix, peak), diagonal)).all()):
                    return (name, peak, diagonal)
    if tensor.numel() > 2:
        step = float(values[1] - values[0])
        line = first + step * torch.arange(len(values), dtype=torch.float64)
        if step and bool((values == line).all()):
            return ("arange", first, step)
    return None


def of_input(tensor):
    """'upper', 'lower', 'diagonal' or 'symmetric' for a square matrix (or a batch of them) that is one; else None."""
    if tensor.device.type == "meta" or not tensor.is_floating_point() or tensor.dim() < 2:
        return None
    if tensor.shape[-1] != tensor.shape[-2] or tensor.shape[-1] < 3 or tensor.numel() > MOST_ELEMENTS:
        return None
    upper, lower = bool((tensor == tensor.triu()).all()), bool((tensor == tensor.tril()).all())
    if upper and lower:
        return "diagonal" if bool((tensor != 0).any()) else None
    if upper or lower:
        return "upper" if upper else "lower"
    return "symmetric" if bool((tensor == tensor.transpose(-1, -2)).all()) and bool((tensor != tensor.reshape(-1)[0]).any()) else None
