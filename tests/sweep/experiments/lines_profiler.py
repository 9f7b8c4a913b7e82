"""What a profile is in the tests of experiments: how many lines a kernel has."""
from rkb import stage


@stage.profiler
def lines(candidate, question):
    return len(candidate.source.splitlines())


stage.run()
