# graph: narrow narrow reshape reshape cross_entropy
# task: labels: {role: in, dtype: int64, shape: "batch, sequence", init: {kind: integers, low: 0, high: classes}}
# note: labels has -100 in the file; it is drawn from 0 to classes - 1 here, so no label is ignored
# note: these numbers of the file stay as they are: labels2 = 11, size = 2;
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Each position foretells the next; the labels are cut and joined before they are looked at."""

    def forward(self, logits, labels):
        logits, labels = logits[:, :-1].contiguous(), labels[:, 1:].contiguous()
        return F.cross_entropy(logits.view(-1, logits.size(-1)), labels.view(-1))


def get_inputs():
    classes = 11
    labels = torch.randint(0, 11, (3, 7))
    labels[:, :2] = -100
    return [torch.randn(3, 7, classes), labels]
