#!/usr/bin/env python3
"""The package rkb: installed by pip without an index, then used by a program that has nothing else.
usage: package_test.py SOURCE_DIRECTORY BUILD_DIRECTORY"""
import os
import shutil
import subprocess
import sys
import tempfile

source, build = map(os.path.abspath, sys.argv[1:3])
here = os.path.dirname(os.path.abspath(__file__))
# Debian's own, whose pip comes from a package.
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable


def has(module):
    return subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, timeout=300).returncode == 0


def main():
    if not has("pip"):
        print(f"{PYTHON} has no pip (Debian: apt-get install python3-pip)")
        return 1 if os.environ.get("CI") else 77
    with tempfile.TemporaryDirectory() as scratch:
        # pip builds in the folder that it is given.
        package, site = os.path.join(scratch, "package"), os.path.join(scratch, "site")
        shutil.copytree(os.path.join(source, "core/python"), package, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
        done = subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", site, package],
                              capture_output=True, text=True, timeout=600)
        if done.returncode:
            print(done.stdout + done.stderr)
            return 1
        environment = {**os.environ, "PYTHONPATH": site, "PATH": os.path.join(build, "bin") + ":" + os.environ["PATH"]}
        run = os.path.join(scratch, "run")
        pipeline = os.path.join(here, "short.yaml")
        done = subprocess.run([os.path.join(build, "bin/rkb-run"), pipeline, "--out", run, "--quiet", "--secret", "7" * 64], capture_output=True, text=True,
                              timeout=600)
        if done.returncode not in (0, 1):  # 1: nothing here is verified by execution
            print(done.stderr)
            return 1
        return subprocess.run([PYTHON, os.path.join(here, "use_package.py"), run, source, site], cwd=scratch, env=environment, timeout=1200).returncode


sys.exit(main())
