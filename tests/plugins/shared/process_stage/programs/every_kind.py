"""A stage of every kind, each as small as it can be."""
from rkb import stage


@stage.translator
def translate(request):
    return f"/* draw {request.random.randrange(1 << 30)} */"


@stage.mutator
def mutate(request):
    return stage.Candidate(request.parent.source, note="nothing was changed", parents=[0])


@stage.verifier
def verify(candidate, question):
    assert question.seed >= 0
    return stage.Verdict("reject", "test.long", "too long") if len(candidate.source) > 100000 else None


@stage.profiler
def measure(candidate, question):
    return stage.Measurement(len(candidate.source), unit="bytes", better="", detail={"lines": candidate.source.count("\n")})


@stage.strategy
class OldestFirst:
    def __init__(self, setup):
        self.operators = [one["id"] for one in setup["operators"]]
        self.told, self.asked = [], 0

    def tell(self, result):
        self.told += [one["number"] for one in result["candidates"]]

    def ask(self):
        if self.asked == 24:
            return "done"
        self.asked += 1
        return {"operator": self.operators[self.asked % len(self.operators)], "parents": [self.told[self.asked % len(self.told)]]}


stage.run()
