"""torch.nn.LSTM, GRU and RNN: one node a layer and direction.  A part of Lowering."""

import torch

from traced_graph import Node
from refusal import Refused


class RecurrentCalls:
    """Uses operand(), part(), step() and emit() of Lowering."""

    def recurrent(self, node, op, args, states):
        x, given, weights, biased, layers, dropout, training, both_ways, batch_first = args[:9]
        if not isinstance(weights, (tuple, list)) or not isinstance(x, Node):
            raise Refused("%s of packed sequences is not covered" % op)
        if dropout and training and layers > 1:
            raise Refused("%s with dropout = %s is not covered: it is random; set it to 0 or call eval()" % (op, dropout))
        given = list(given) if states > 1 else [given]
        value, name = x.meta["value"], self.operand(x)
        if value.dim() != 3:
            raise Refused("%s without a batch dim is not covered" % op)
        if batch_first:
            value = value.transpose(0, 1)
            name = self.part(node, "transpose", [name], {"dim0": 0, "dim1": 1}, "steps_first", value)
        each, ways = (4 if biased else 2), (2 if both_ways else 1)
        hidden, ends = given[0].meta["value"].shape[-1], [[] for _ in given]
        for layer in range(layers):
            sides = []
            for way in range(ways):
                turn = layer * ways + way
                held = weights[turn * each : (turn + 1) * each]
                states_of = [self.state(node, part, turn, "%s_of_%d" % ("hc"[k], turn)) for k, part in enumerate(given)]
                made = self.layer(node, op, name, value, states_of, held, hidden, way == 1, "_layer%d" % turn)
                sides.append(made[0])
                for k, end in enumerate(made[1:]):
                    ends[k].append(end)
            value = value.new_empty(tuple(value.shape[:2]) + (hidden * ways,))
            name = sides[0] if ways == 1 else self.part(node, "cat", sides, {"dim": 2}, "both%d" % layer, value)
        if batch_first:
            value = value.transpose(0, 1)
            name = self.part(node, "transpose", [name], {"dim0": 0, "dim1": 1}, "batch_first", value)
        return (name, *[self.stacked(node, parts, given[k].meta["value"], "hc"[k]) for k, parts in enumerate(ends)])

    def state(self, node, value, turn, label):
        like = value.meta["value"].narrow(0, turn, 1)
        name = self.operand(value)
        if value.meta["value"].shape[0] > 1:
            name = self.part(node, "narrow", [name], {"dim": 0, "start": turn, "length": 1}, label + "_cut", like)
        return self.part(node, "reshape", [name], {"shape": tuple(like.shape[1:])}, label, like[0])

    def layer(self, node, op, name, value, states, weights, hidden, reverse, suffix):
        operands = [name] + states + [self.operand(weight) for weight in weights]
        attributes = {"reverse": True} if reverse else {}
        made = value.new_empty(tuple(value.shape[:2]) + (hidden,))
        out = self.emit(op, operands, attributes, made, node.meta["line"], node.name + suffix)
        more = []
        for letter, _ in zip("hc", states):
            end = "%s%s_%s" % (node.name, suffix, letter)
            while end in self.taken:
                end += "_"
            self.taken.add(end)
            more.append((end, self.nodes[-1]["dtype"], tuple(made.shape[1:])))
        self.nodes[-1]["more"] = tuple(more)
        return [out] + [end for end, _, _ in more]

    def stacked(self, node, parts, like, letter):
        flat = like[:1]
        rows = [self.part(node, "reshape", [part], {"shape": tuple(flat.shape)}, "last_%s%d" % (letter, i), flat) for i, part in enumerate(parts)]
        return rows[0] if len(rows) == 1 else self.part(node, "cat", rows, {"dim": 0}, "last_" + letter, like)

    def do_lstm(self, node, args, kwargs):
        return self.recurrent(node, "lstm", args, 2)

    def do_gru(self, node, args, kwargs):
        return self.recurrent(node, "gru", args, 1)

    def do_rnn_tanh(self, node, args, kwargs):
        return self.recurrent(node, "rnn_tanh", args, 1)
