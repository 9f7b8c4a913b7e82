"""A verifier that breaks the protocol in the way that it is told (misbehaving.tsv)."""
import json
import os
import sys
import time

how = sys.argv[1]


def write(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def verdict(question, **other):
    return json.dumps({"question": question, "standing": "accept", "message": "", **other}) + "\n"


sys.stdin.readline()
write(json.dumps({"version": {"rkb_stage": 2}, "no_greeting": {"hello": 1}}.get(how, {"rkb_stage": 1})) + "\n")
for line in sys.stdin:
    number = json.loads(line)["question"]
    if how == "exit":
        sys.stderr.write("Traceback\nKeyError: 'nothing'\n\n")
        sys.exit(3)
    elif how == "signal":
        os.kill(os.getpid(), 11)
    elif how == "stall":
        time.sleep(10000)
    elif how == "another_question":
        write(verdict(number + 1))
    elif how == "no_json":
        write("accept\n")
    elif how == "a_list":
        write("[]\n")
    elif how == "duplicate_key":
        write(f'{{"question":{number},"question":{number}}}\n')
    elif how == "no_line_end":
        while True:
            write("x" * 65536)
    elif how == "two_lines":
        write(verdict(number) + verdict(number))
    elif how == "says_error":
        write(json.dumps({"question": number, "error": "it is no use"}) + "\n")
    elif how == "standing":
        write(verdict(number, standing="perfect"))
    elif how == "reason":
        write(verdict(number, standing="reject", reason="two words"))
    elif how == "nul":
        write(verdict(number, message="a\0b"))
    elif how == "environment":
        # Python itself sets LC_CTYPE where no locale is named (PEP 538).
        write(verdict(number, message=" ".join(sorted(set(os.environ) - {"LC_CTYPE"}))))
