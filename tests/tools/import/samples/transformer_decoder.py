# import: --dim B=x:0 --dim B=memory:0
# graph: full triu transpose narrow narrow linear reshape transpose narrow narrow linear reshape transpose narrow narrow linear reshape transpose mul transpose bmm add softmax bmm transpose reshape linear transpose add layer_norm transpose transpose narrow narrow linear reshape transpose narrow narrow linear reshape transpose narrow narrow linear reshape transpose mul transpose bmm softmax bmm transpose reshape linear transpose add layer_norm linear relu linear add layer_norm
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerDecoderLayer(8, 2, 12, dropout=0.0, batch_first=True)
        self.decoder = nn.TransformerDecoder(layer, 1)

    def forward(self, x, memory):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return self.decoder(x, memory, tgt_mask=mask)


def get_inputs():
    return [torch.randn(2, 7, 8), torch.randn(2, 5, 8)]
