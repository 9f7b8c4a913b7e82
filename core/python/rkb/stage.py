"""Stages of rkb in Python: a stage is a function, and this module speaks the protocol for it (docs/process-stages.md).

    from rkb import stage

    @stage.mutator
    def wider(request):
        ...
        return [stage.Candidate(source, note="block 128 -> 256")]

    stage.run()

The process is kept between questions, and there are as many of it as rkb has workers.  An answer must depend on the question alone: take random
numbers from request.random, and keep nothing that changes later answers.  What the function prints goes to standard error."""
import contextlib
import json
import random
import sys
import traceback
from dataclasses import asdict, dataclass, field

PROTOCOL = 1
_functions = {}


@dataclass
class Candidate:
    """A kernel's text with its manifest.  parents: places in request.parents; None names them all."""
    source: str
    tune: dict = field(default_factory=dict)
    note: str = ""
    parents: list = None


@dataclass
class Verdict:
    """standing: accept, suspect, reject or unknown.  reason: one word that begins with your name, "" for accept."""
    standing: str
    reason: str = ""
    message: str = ""
    evidence: dict = field(default_factory=dict)


@dataclass
class Measurement:
    """One number; the pipeline calls it <entry id>.value.  better: lower, higher, or "" for neither."""
    value: float
    unit: str = "1"
    better: str = "lower"
    method: str = "program"
    case: str = None
    spread: float = None
    detail: dict = None


class Known:
    """A candidate of the run: number, source, tune, note, operator, standing, measured."""

    def __init__(self, given):
        self.number = given.get("number", 0)
        self.source = given.get("source", "")
        self.tune = given.get("tune", {})
        self.note = given.get("note", "")
        self.operator = given.get("operator", "")
        self.standing = given.get("standing", "none")
        self.measured = given.get("measured", {})


class Question:
    """A question: the seed, random numbers from it, and either a request (parents, inspirations) or a candidate."""

    def __init__(self, given):
        self.number = given["question"]
        self.seed = given["seed"]
        self.random = random.Random(self.seed)
        self.section = given.get("section")
        self.objective = given.get("objective")
        self.hints = given.get("hints", {})
        self.parents = [Known(one) for one in given.get("parents", [])]
        self.inspirations = [Known(one) for one in given.get("inspirations", [])]
        self.candidate = Known(given["candidate"]) if "candidate" in given else None

    @property
    def parent(self):
        return self.parents[0] if self.parents else None


def _known_only(value):
    return {key: one for key, one in asdict(value).items() if one is not None}


def _candidates(result):
    many = [] if result is None else [result] if isinstance(result, (str, Candidate)) else list(result)
    return {"candidates": [_known_only(Candidate(one) if isinstance(one, str) else one) for one in many]}


def _verdict(result):
    return _known_only(Verdict("accept") if result is None else Verdict(result) if isinstance(result, str) else result)


def _measurements(result):
    many = list(result) if isinstance(result, (list, tuple)) else [result]
    return {"measurements": [_known_only(one if isinstance(one, Measurement) else Measurement(float(one))) for one in many]}


def translator(function):
    """function(request) returns Candidates, or texts, or nothing."""
    _functions["translator"] = lambda given: _candidates(function(Question(given)))
    return function


def mutator(function):
    """function(request) returns Candidates, or texts, or nothing."""
    _functions["mutator"] = lambda given: _candidates(function(Question(given)))
    return function


def verifier(function):
    """function(candidate, question) returns a Verdict, or None for accept."""
    def answer(given):
        question = Question(given)
        return _verdict(function(question.candidate, question))
    _functions["verifier"] = answer
    return function


def profiler(function):
    """function(candidate, question) returns a number, a Measurement, or a list of them."""
    def answer(given):
        question = Question(given)
        return _measurements(function(question.candidate, question))
    _functions["profiler"] = answer
    return function


def strategy(kind):
    """A class: made with the setup (seed, window, objective, operators), then ask() and tell(result) are called.  ask returns a dictionary with
    operator and parents, or "wait" or "done"."""
    def answer(given):
        if "tell" in given:
            answer.own.tell(given["tell"])
            return {}
        asked = answer.own.ask()
        return {asked: True} if isinstance(asked, str) else asked
    answer.make = kind
    _functions["strategy"] = answer
    return kind


def _greet(line):
    given = json.loads(line)
    if given.get("rkb_stage") != PROTOCOL:
        return {"rkb_stage": PROTOCOL}  # the other side names both versions, and ends this process
    function = _functions.get(given["kind"])
    if function is None:
        raise SystemExit(f"this program has no {given['kind']}; it has {', '.join(_functions) or 'no stage'}")
    if given["kind"] == "strategy":
        function.own = function.make(given["setup"])
    return {"rkb_stage": PROTOCOL, "answers": function}


def _answer(function, line):
    given = json.loads(line)
    try:
        return {"question": given["question"], **function(given)}
    except Exception as error:  # pylint: disable=broad-except
        traceback.print_exc()
        return {"question": given["question"], "error": f"{type(error).__name__}: {error}"}


def run(source=None, target=None):
    """Answers questions until rkb closes the conversation.  Call it last."""
    source, target = source or sys.stdin, target or sys.stdout
    function = None
    with contextlib.redirect_stdout(sys.stderr):
        for line in source:
            if function is None:
                greeting = _greet(line)
                function = greeting.pop("answers", None)
                answer = greeting
            else:
                answer = _answer(function, line)
            target.write(json.dumps(answer, separators=(",", ":")) + "\n")
            target.flush()
