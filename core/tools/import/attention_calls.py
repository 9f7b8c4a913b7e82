"""torch.nn.MultiheadAttention, spelled out in projections, products and a softmax.  A part of Lowering."""

import math

import torch

from traced_graph import Node
from refusal import Refused
from signatures import bind

SIGNATURE = (
    "@query @key @value embed_dim_to_check~ num_heads=1 @in_proj_weight=None @in_proj_bias=None bias_k!None bias_v!None "
    "add_zero_attn!False dropout_p=0.0 @out_proj_weight=None @out_proj_bias=None training=True key_padding_mask=None "
    "need_weights~ attn_mask=None use_separate_proj_weight=False @q_proj_weight=None @k_proj_weight=None @v_proj_weight=None "
    "static_k!None static_v!None average_attn_weights=True is_causal~"
)
NAMES = [token.lstrip("@").split("=")[0].split("!")[0].rstrip("~") for token in SIGNATURE.split()]


def upper_triangle(mask):
    """The k for which mask is true exactly where column - row >= k, or None."""
    flat = mask.reshape(-1, mask.shape[-2], mask.shape[-1]) != 0
    rows, columns = flat.shape[-2:]
    first = flat[0, 0].nonzero()
    diagonal = int(first[0]) if len(first) else columns
    wanted = torch.ones(rows, columns, dtype=torch.bool).triu(diagonal)
    return diagonal if bool((flat == wanted).all()) else None


class AttentionCalls:
    """Uses operand(), step(), part(), repeated() and dropout() of Lowering."""

    def do_multi_head_attention_forward(self, node, args, kwargs):
        bind("multi_head_attention_forward", SIGNATURE, args, kwargs)  # refuses arguments that must have one value
        given = dict(zip(NAMES, args), **kwargs)
        if given.get("training", True) and given.get("dropout_p"):
            raise Refused("attention with dropout = %s is not covered: it is random; set it to 0 or call eval()" % given["dropout_p"])
        heads = given["num_heads"]
        query, key, value = (given[name].meta["value"] for name in ("query", "key", "value"))
        if query.dim() != 3:
            raise Refused("attention without a batch dim is not covered")
        rows, batch, width = query.shape
        columns, depth = key.shape[0], width // heads

        def headed(name, which, length):
            """Turns a projected [length, batch, width] into [batch * heads, length, depth]."""
            made, like = self.projected(node, given, name, which)
            like = like.reshape(length, batch * heads, depth)
            made = self.part(node, "reshape", [made], {"shape": tuple(like.shape)}, name + "_heads", like)
            like = like.transpose(0, 1)
            return self.part(node, "transpose", [made], {"dim0": 0, "dim1": 1}, name + "_rows", like), like

        q, like_q = headed("query", 0, rows)
        k, like_k = headed("key", 1, columns)
        v, like_v = headed("value", 2, columns)
        q = self.part(node, "mul", [q], {"other": 1 / math.sqrt(depth)}, "scaled", like_q)
        k = self.part(node, "transpose", [k], {"dim0": 1, "dim1": 2}, "key_columns", like_k.transpose(1, 2))
        like = like_q.new_empty((*like_q.shape[:-1], columns))
        scores = self.part(node, "bmm", [q, k], {}, "scores", like)
        scores = self.attention_mask(node, given.get("attn_mask"), scores, like)
        scores = self.padding_mask(node, given.get("key_padding_mask"), scores, like, (batch, heads, rows, columns))
        share = self.part(node, "softmax", [scores], {"dim": -1}, "share", like)
        like = like_v.new_empty((*like.shape[:-1], depth))
        mixed = self.part(node, "bmm", [share, v], {}, "mixed", like)
        like = like.transpose(0, 1)
        mixed = self.part(node, "transpose", [mixed], {"dim0": 0, "dim1": 1}, "mixed_rows", like)
        like = like.reshape(rows, batch, width)
        mixed = self.part(node, "reshape", [mixed], {"shape": tuple(like.shape)}, "joined", like)
        operands = [mixed] + [self.operand(given[name]) for name in ("out_proj_weight", "out_proj_bias") if given.get(name) is not None]
        out = self.step(node, "linear", operands, {}, node.meta["value"][0])
        return out, self.attention_weights(node, given, share, (batch, heads, rows, columns), like_q)

    def do_scaled_dot_product_attention(self, node, args, kwargs):
        """One operation without a mask; with one, spelled out.  Heads of keys and values that several heads of queries share are repeated first."""
        signature = "@query @key @value attn_mask=None dropout_p!0.0 is_causal=False scale=None enable_gqa=False"
        (query, key, value), given = bind("scaled_dot_product_attention", signature, args, kwargs)
        operands = [self.operand(part) for part in (query, key, value)]
        q, k, v = (part.meta["value"] for part in (query, key, value))
        if given.pop("enable_gqa", False):
            for i, (shared, label) in ((1, (k, "_keys")), (2, (v, "_values"))):
                operands[i] = self.repeated(node, operands[i], shared, shared.dim() - 3, q.shape[-3] // shared.shape[-3], label)
            k = k.new_empty((*k.shape[:-3], *q.shape[-3:-2], *k.shape[-2:]))
        mask = given.pop("attn_mask", None)
        if mask is None:
            return self.step(node, "scaled_dot_product_attention", operands, given)
        turned = self.part(node, "transpose", [operands[1]], {"dim0": k.dim() - 2, "dim1": k.dim() - 1}, "key_columns", k.transpose(-2, -1))
        like = q @ k.transpose(-2, -1)
        scores = self.part(node, "matmul", [operands[0], turned], {}, "scores", like)
        scale = given.get("scale") or 1 / math.sqrt(q.shape[-1])
        scores = self.part(node, "mul", [scores], {"other": float(scale)}, "scaled", like)
        if isinstance(mask, Node) and not mask.meta["value"].is_floating_point():
            hidden = self.part(node, "rsub", [self.operand(mask)], {"other": 1.0}, "hidden", mask.meta["value"])
            scores = self.part(node, "masked_fill", [scores, hidden], {"value": -math.inf}, "masked", like)
        else:
            scores = self.part(node, "add", [scores, self.operand(mask)], {}, "masked", like)
        share = self.part(node, "softmax", [scores], {"dim": -1}, "share", like)
        return self.step(node, "matmul", [share, operands[2]], {})

    def projected(self, node, given, name, which):
        """The projection of query, key or value: a third of in_proj_weight, or a weight of its own."""
        source = given[name].meta["value"]
        width = given["query"].meta["value"].shape[-1]
        like = source.new_empty(tuple(source.shape[:-1]) + (width,))
        operands = [self.operand(given[name])]
        if given.get("use_separate_proj_weight"):
            operands.append(self.operand(given["qkv"[which] + "_proj_weight"]))
        else:
            operands.append(self.third(node, given["in_proj_weight"], which, width, name + "_weight"))
        if given.get("in_proj_bias") is not None:
            operands.append(self.third(node, given["in_proj_bias"], which, width, name + "_bias"))
        return self.part(node, "linear", operands, {}, name, like), like

    def third(self, node, value, which, width, label):
        place = {"dim": 0, "start": which * width, "length": width}
        return self.part(node, "narrow", [self.operand(value)], place, label, value.meta["value"].narrow(0, which * width, width))

    def attention_mask(self, node, mask, scores, like):
        if mask is None:
            return scores
        if isinstance(mask, Node):
            if not mask.meta["value"].is_floating_point():
                return self.part(node, "masked_fill", [scores, self.operand(mask)], {"value": -math.inf}, "masked", like)
            return self.part(node, "add", [scores, self.operand(mask)], {}, "masked", like)
        hidden = mask if mask.dtype == torch.bool else mask == -math.inf
        rest = mask.new_zeros(()) if mask.dtype == torch.bool else mask.masked_fill(hidden, 0)
        diagonal = upper_triangle(hidden)
        if diagonal is None or bool((rest != 0).any()):
            raise Refused("an attn_mask made inside forward is covered above a diagonal and with -inf alone")
        return self.part(node, "causal_mask", [scores], {"diagonal": diagonal}, "masked", like)

    def padding_mask(self, node, mask, scores, like, sizes):
        """mask: [batch, columns]: true for keys that no row of a sequence reads, or a number to add for each key."""
        if mask is None or isinstance(mask, torch.Tensor) and not bool(mask.any()):
            return scores
        if not isinstance(mask, Node):
            raise Refused("a key_padding_mask whose numbers are made inside forward is not covered; make it an input, or compute it from one")
        batch, columns = sizes[0], sizes[-1]
        keys = mask.meta["value"].reshape(batch, 1, 1, columns)
        keys_of_batch = self.part(node, "reshape", [self.operand(mask)], {"shape": tuple(keys.shape)}, "padding", keys)
        apart = like.reshape(sizes)
        scores = self.part(node, "reshape", [scores], {"shape": sizes}, "scores_of_heads", apart)
        if keys.is_floating_point():
            scores = self.part(node, "add", [scores, keys_of_batch], {}, "padded", apart)
        else:
            scores = self.part(node, "masked_fill", [scores, keys_of_batch], {"value": -math.inf}, "padded", apart)
        return self.part(node, "reshape", [scores], {"shape": tuple(like.shape)}, "padded_rows", like)

    def attention_weights(self, node, given, share, sizes, like):
        """Returns the softmax's values as a second result, if the model asks for them."""
        asked = any(user.args[1] == 1 and user.users for user in node.users if user.target is not None and len(user.args) == 2)
        if not asked:
            return None
        like = like.new_empty(sizes)
        if not given.get("average_attn_weights", True):
            return self.part(node, "reshape", [share], {"shape": sizes}, "weights", like)
        apart = self.part(node, "reshape", [share], {"shape": sizes}, "weights_of_heads", like)
        return self.part(node, "mean", [apart], {"dim": (1,)}, "weights", like.mean(1))
