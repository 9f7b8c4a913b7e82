# graph: embedding eq transpose narrow narrow linear reshape transpose narrow narrow linear reshape transpose narrow narrow linear reshape transpose mul transpose bmm reshape reshape masked_fill reshape softmax bmm transpose reshape linear transpose add layer_norm linear relu linear add layer_norm
# task: tokens: {role: in, dtype: int64
import torch
import torch.nn as nn


class Model(nn.Module):
    """Padding that is found from the tokens."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(5, 8)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)

    def forward(self, tokens):
        return self.layer(self.table(tokens), src_key_padding_mask=tokens == 0)


def get_inputs():
    return [torch.randint(0, 5, (3, 7))]
