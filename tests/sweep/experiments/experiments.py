"""The shipped experiments, run: each arm differs from the others as its file says, budgets are kept, an advantage that was planted is found,
and one that was not is not.
usage: experiments.py SOURCE_DIRECTORY BINARY_DIRECTORY"""
import re
import sys
import tempfile

from declared_runs import Runs, cells, prompts, rows

source, binary = sys.argv[1:3]
EXPERIMENTS = f"{source}/pipelines/experiments"
BEHAVIOUR = {"seed": 1, "wrong": 0.15, "repeated": 0.05, "prose": 0.05, "bytes": {"median": 6000, "spread": 0.05}}
CALLS = 16
ANSWERS = "SELECT count(*) FROM call WHERE state = 'finished'"
# Kernels that a reply was to change, and the first profile below them.
CHANGED = re.compile(r"is to become faster:\n\n\[(data-\w+) begins: candidate (\d+)[^\n]*\n(.*?)\n\[\1 ends\](.*?)\nDecide", re.DOTALL)
LINES = re.compile(r"^lines\.value = (\d+)", re.MULTILINE)


def profiles(archive):
    """[(lines of the kernel to improve, lines that the profile says or None, whether the score is there)]"""
    found = [CHANGED.search(text) for _, text in prompts(archive, "improve")]
    assert found and all(found), archive
    said = [(LINES.search(one.group(4)), one) for one in found]
    return [(len(one.group(3).splitlines()), int(match.group(1)) if match else None, "size.bytes = " in one.group(4)) for match, one in said]


def test_profile(runs):
    """A reply to a prompt with the kernel's own profile is a tenth smaller.  So "own" is better than "none"; "random" is not."""
    with runs.server(gains=[{"when": "own profile", "gain": 1.1}], **BEHAVIOUR) as port:
        sweep = runs.sweep(port, f"{EXPERIMENTS}/profile.yaml", "profile", "limits: {calls: 24}\n", profile=True, seeds=7)
    shown = {arm: [one for (name, _), archive in cells(sweep).items() if name == arm for one in profiles(archive)]
             for arm in ("none", "own", "random")}
    assert all(score for arm in shown.values() for _, _, score in arm), "a score is shown in every arm"
    assert all(said is None for _, said, _ in shown["none"]), shown["none"]
    assert all(said == lines for lines, said, _ in shown["own"]), shown["own"]
    drawn = [(lines, said) for lines, said, _ in shown["random"] if said is not None]
    assert len(drawn) > len(shown["random"]) / 2 and sum(lines == said for lines, said in drawn) < len(drawn) / 10, drawn
    report = runs.report(sweep)
    for comparisons in (report["comparisons"], *(equal["comparisons"] for equal in report["equal"])):
        own, random = comparisons
        assert (own["arm"], random["arm"]) == ("own", "random"), comparisons
        assert own["p_holm"] < 0.05 and own["ratio"]["low"] > 1 and own["ratio"]["high"] < 1.2, own
        assert random["p_holm"] > 0.05 and random["ratio"]["estimate"] < own["ratio"]["low"], random
    assert [equal["over"] for equal in report["equal"]] == ["evaluations", "calls", "usd"], report["equal"]
    return sweep, report


def test_equal_budgets(sweep, report):
    """The comparison at equal answers, counted again from the archives."""
    archives = cells(sweep)

    def best(archive, most):
        best, spent = None, 0
        for request, answers in rows(archive, "SELECT request, sum(state = 'finished') FROM call GROUP BY request ORDER BY (request >= 0), abs(request)"):
            spent += answers
            for (value,) in rows(archive, "SELECT objective FROM candidate WHERE request = ? AND standing = 'accept' AND objective IS NOT NULL", request):
                if spent <= most and (best is None or value < best):
                    best = value
        return best

    calls = next(equal for equal in report["equal"] if equal["over"] == "calls")["comparisons"][0]
    better, budgets = 0, []
    for seed in range(1, 8):
        own, none = archives["own", seed], archives["none", seed]
        budgets.append(min(rows(own, ANSWERS)[0][0], rows(none, ANSWERS)[0][0]))
        better += best(own, budgets[-1]) < best(none, budgets[-1])
    assert (calls["better"], calls["budget"]) == (better, {"least": min(budgets), "most": max(budgets)}), (calls, better, budgets)


def run_of(runs, port, name, limits=f"calls: {CALLS}"):
    """{arm: archive} of one seed of an experiment, and no two arms that made the same candidates."""
    found = {arm: archive for (arm, _), archive in cells(runs.sweep(port, f"{EXPERIMENTS}/{name}.yaml", name, f"limits: {{{limits}}}\n")).items()}
    made = {arm: rows(archive, "SELECT operator, source_hash FROM candidate ORDER BY id") for arm, archive in found.items()}
    names = list(made)
    for at, arm in enumerate(names):
        for other in names[:at]:
            assert made[arm] != made[other] or name == "judges", (name, arm, other)
    return found


def stages(archive):
    return {stage for stage, _ in prompts(archive)}


def parents(archive, operator):
    """{candidate: [parents]} of an operator."""
    listed = {}
    for child, parent in rows(archive, "SELECT candidate.id, parent.parent FROM candidate LEFT JOIN parent ON parent.child = candidate.id WHERE operator = ?", operator):
        listed.setdefault(child, []).append(parent)
    return listed


def test_arms(runs):
    with runs.server(**BEHAVIOUR) as port:
        for name in ("repair", "crossover"):
            found, stage = run_of(runs, port, name, "calls: 32"), {"repair": "fix", "crossover": "crossover"}[name]
            assert stage in stages(found["with"]) and stage not in stages(found["without"]), (name, {arm: stages(one) for arm, one in found.items()})
        run_of(runs, port, "islands", "calls: 32")
        judges, asked = run_of(runs, port, "judges"), {"judge_compile", "judge_memory", "judge_numbers"}
        assert not asked & stages(judges["none"]) and asked <= stages(judges["filter"]) and asked <= stages(judges["shadow"])
        shadow = {arm: {one for (one,) in rows(judges[arm], "SELECT DISTINCT shadow FROM verdict WHERE stage LIKE 'judge%'")} for arm in judges}
        assert shadow == {"none": set(), "filter": {0}, "shadow": {1}}, shadow
        check_sampling(run_of(runs, port, "sampling"))


def check_sampling(found):
    first = {arm: {one for (one,) in rows(archive, "SELECT id FROM candidate WHERE operator = 'translate'")} for arm, archive in found.items()}
    improved = {arm: parents(archive, "improve") for arm, archive in found.items()}
    assert not improved["independent"] and "anew" in stages(found["independent"])
    assert all("anew" not in stages(archive) for arm, archive in found.items() if arm != "independent")
    assert all("begins: candidate" not in text for _, text in prompts(found["independent"], "anew"))
    assert improved["best_of_n"] and all(set(one) <= first["best_of_n"] for one in improved["best_of_n"].values()), improved["best_of_n"]
    # One chain: each step changes the best kernel that there is.
    best = None
    for number, standing, objective in rows(found["sequential"], "SELECT id, standing, objective FROM candidate WHERE duplicate_of IS NULL OR duplicate_of = 0 ORDER BY id"):
        if number in improved["sequential"]:
            assert improved["sequential"][number] == [best[1]], (number, improved["sequential"][number], best)
        if standing == "accept" and (best is None or objective < best[0]):
            best = (objective, number)
    assert len({one for parent in improved["sequential"].values() for one in parent}) > 1


def test_limits(runs):
    """Where each run of a budget ends: at most what its window had begun beyond answers and evaluations, never beyond dollars."""
    with runs.server(**BEHAVIOUR) as port:
        for name, limits, query, least, most in (
                ("sampling-evaluations", "candidates: 16", "SELECT count(*) FROM candidate WHERE duplicate_of IS NULL OR duplicate_of = 0", 16, 16 + 16),
                ("sampling-dollars", "cost_usd: 0.05", "SELECT sum(cost_usd) FROM call", 0, 0.05)):
            for arm, archive in run_of(runs, port, name, limits).items():
                spent = rows(archive, query)[0][0]
                assert least <= spent <= most, (name, arm, spent)
        for (arm, _), archive in cells(f"{runs.folder}/sampling").items():
            window, answers = (1 if arm == "sequential" else 16), rows(archive, ANSWERS)[0][0]
            assert CALLS <= answers <= CALLS + 2 * window, (arm, answers)  # two: a repetition is asked again once
            assert rows(archive, "SELECT value FROM fact WHERE key = 'ended_because'")[0][0].startswith("limits.calls"), arm


with tempfile.TemporaryDirectory() as work:
    the_runs = Runs(source, binary, work)
    test_equal_budgets(*test_profile(the_runs))
    test_arms(the_runs)
    test_limits(the_runs)
