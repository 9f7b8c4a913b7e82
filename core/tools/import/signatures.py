"""PyTorch calls that are one graph operation each: how their arguments map to operands and attributes.

Each signature lists the parameters in PyTorch's order:
    @name            an operand                    @name=None       an operand that may be absent
    name=value       an attribute of the operation
    name!value       has to have this value: anything else is not covered
    name~            means nothing for the result
"""

import ast
import functools

from refusal import Refused

UNARY = "relu sigmoid tanh exp log sqrt rsqrt abs neg sin cos erf reciprocal square silu"

SIGNATURES = {
    "linear": "@input @weight @bias=None",
    "conv1d": "@input @weight @bias=None stride=1 padding=0 dilation=1 groups=1",
    "conv2d": "@input @weight @bias=None stride=1 padding=0 dilation=1 groups=1",
    "conv3d": "@input @weight @bias=None stride=1 padding=0 dilation=1 groups=1",
    "conv_transpose1d": "@input @weight @bias=None stride=1 padding=0 output_padding=0 groups=1 dilation=1",
    "conv_transpose2d": "@input @weight @bias=None stride=1 padding=0 output_padding=0 groups=1 dilation=1",
    "conv_transpose3d": "@input @weight @bias=None stride=1 padding=0 output_padding=0 groups=1 dilation=1",
    "max_pool1d": "@input kernel_size stride=None padding=0 dilation=1 ceil_mode=False return_indices!False",
    "max_pool2d": "@input kernel_size stride=None padding=0 dilation=1 ceil_mode=False return_indices!False",
    "max_pool3d": "@input kernel_size stride=None padding=0 dilation=1 ceil_mode=False return_indices!False",
    "avg_pool1d": "@input kernel_size stride=None padding=0 ceil_mode=False count_include_pad=True",
    "avg_pool2d": "@input kernel_size stride=None padding=0 ceil_mode=False count_include_pad=True divisor_override!None",
    "avg_pool3d": "@input kernel_size stride=None padding=0 ceil_mode=False count_include_pad=True divisor_override!None",
    "layer_norm": "@input normalized_shape @weight=None @bias=None eps=1e-5 cudnn_enable~",
    "group_norm": "@input num_groups @weight=None @bias=None eps=1e-5 cudnn_enabled~",
    "rms_norm": "@input normalized_shape @weight=None eps=None",
    "softmax": "@input dim=None _stacklevel~ dtype!None",
    "log_softmax": "@input dim=None _stacklevel~ dtype!None",
    "gelu": "@input approximate='none'",
    "leaky_relu": "@input negative_slope=0.01 inplace~",
    "elu": "@input alpha=1.0 inplace~",
    "softplus": "@input beta!1 threshold!20",
    "hardtanh": "@input min_val=-1.0 max_val=1.0 inplace~",
    "relu6": "@input inplace~",
    "clamp": "@input min=None max=None",
    "cross_entropy": "@input @target weight!None size_average~ ignore_index!-100 reduce~ reduction='mean' label_smoothing=0.0",
    "nll_loss": "@input @target weight!None size_average~ ignore_index!-100 reduce~ reduction='mean'",
    "mse_loss": "@input @target size_average~ reduce~ reduction='mean'",
    "l1_loss": "@input @target size_average~ reduce~ reduction='mean'",
    "kl_div": "@log_probabilities @target size_average~ reduce~ reduction='mean' log_target!False",
    "binary_cross_entropy_with_logits": "@input @target weight!None size_average~ reduce~ reduction='mean' pos_weight!None",
    "hinge_embedding_loss": "@input @target margin=1.0 size_average~ reduce~ reduction='mean'",
    "triplet_margin_loss": "@anchor @positive @negative margin=1.0 p!2.0 eps=1e-6 swap!False size_average~ reduce~ reduction='mean'",
    "cosine_similarity": "@x1 @x2 dim=1 eps=1e-8",
    "cumsum": "@input dim dtype!None",
    "cumprod": "@input dim dtype!None",
    "logsumexp": "@input dim keepdim=False",
    "prod": "@input dim keepdim=False dtype!None",
    "argmax": "@input dim=None keepdim=False",
    "argmin": "@input dim=None keepdim=False",
    "gather": "@input dim @index sparse_grad~",
    "flip": "@input dims",
    "bmm": "@input @mat2",
    "maximum": "@input @other",
    "minimum": "@input @other",
    "tril": "@input diagonal=0",
    "triu": "@input diagonal=0",
    "permute": "@input dims",
    "transpose": "@input dim0 dim1",
}
SIGNATURES.update({name: "@input inplace~" for name in UNARY.split()})

# Other names of the same operation.
ALIASES = {
    "relu_": "relu", "__neg__": "neg", "negative": "neg", "absolute": "abs", "__abs__": "abs",
    "mm": "matmul", "mv": "matmul", "__matmul__": "matmul", "swapaxes": "transpose", "swapdims": "transpose",
    "log_sigmoid": "logsigmoid",
}  # fmt: skip


class Parameter:
    def __init__(self, token):
        self.operand = token.startswith("@")
        token = token.lstrip("@")
        self.kind = "attribute"
        self.default = self.absent = object()
        for mark, kind in (("~", "ignored"), ("!", "fixed"), ("=", "attribute")):
            name, found, default = token.partition(mark)
            if found:
                self.kind = kind
                self.default = ast.literal_eval(default) if default else None
                token = name
                break
        self.name = token

    @property
    def required(self):
        return self.default is self.absent


@functools.lru_cache(maxsize=None)
def parameters_of(signature):
    return [Parameter(token) for token in signature.split()]


def bind(name, signature, args, kwargs):
    """(operands, attributes) of one call; args and kwargs as PyTorch got them."""
    parameters = parameters_of(signature)
    if len(args) > len(parameters):
        raise Refused("%s with %d arguments is not covered" % (name, len(args)))
    given = {parameter.name: value for parameter, value in zip(parameters, args)}
    given.update(kwargs)
    known = {parameter.name for parameter in parameters}
    for key in given:
        if key not in known:
            raise Refused("%s with the argument %s is not covered" % (name, key))
    operands, attributes = [], {}
    for parameter in parameters:
        if parameter.required and parameter.name not in given:
            raise Refused("%s without the argument %s is not covered" % (name, parameter.name))
        value = given.get(parameter.name, parameter.default)
        if parameter.operand:
            if value is not None:
                operands.append(value)
        elif parameter.kind == "fixed" and value != parameter.default:
            raise Refused("%s with %s = %s is not covered" % (name, parameter.name, value))
        elif parameter.kind == "attribute" and value is not None:
            attributes[parameter.name] = value
    if attributes.get("stride", None) is None and "kernel_size" in attributes:
        attributes["stride"] = attributes["kernel_size"]
    return operands, attributes
