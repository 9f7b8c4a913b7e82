# import: --dim B=x:0
# graph: transpose narrow narrow linear reshape transpose narrow narrow linear reshape transpose narrow narrow linear reshape transpose mul transpose bmm add softmax bmm transpose reshape linear transpose add layer_norm linear relu linear add layer_norm full triu transpose narrow narrow linear reshape transpose narrow narrow linear reshape transpose narrow narrow linear reshape transpose mul transpose bmm masked_fill softmax bmm transpose reshape linear transpose add layer_norm linear relu linear add layer_norm
# task: shape: "7, 7"
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 12, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1)
        self.hidden = nn.TransformerEncoder(layer, 1)
        self.register_buffer("after", torch.triu(torch.ones(7, 7, dtype=torch.bool), 1))

    def forward(self, x, mask):
        return self.hidden(self.encoder(x, mask), self.after)


def get_inputs():
    return [torch.randn(2, 7, 8), torch.randn(7, 7)]
