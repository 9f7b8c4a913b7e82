"""The charting library is one exact package everywhere: package.json asks for it, package-lock.json pins its bytes, core/web/README.md and the build of the
page name the same version, and what npm has put into core/web/node_modules, if it has, is what the build pins.
usage: package_test.py SOURCE_DIRECTORY"""
import hashlib
import json
import os
import re
import sys

source = sys.argv[1]
web, page = os.path.join(source, "core/web"), os.path.join(source, "core/cli/report/html")
EXACT = re.compile(r"\d+\.\d+\.\d+")


def read(*parts):
    with open(os.path.join(*parts), encoding="utf-8") as file:
        return file.read()


def check_lock(wanted):
    """Every package of the lock is pinned by its SHA-512 and runs nothing when it is installed; what is asked for is what is locked."""
    lock = json.loads(read(web, "package-lock.json"))["packages"]
    assert lock[""]["dependencies"] == wanted, lock[""]
    packages = {path.removeprefix("node_modules/"): about for path, about in lock.items() if path}
    assert {name: about["version"] for name, about in packages.items()} == wanted, packages
    for name, about in packages.items():
        assert about["integrity"].startswith("sha512-") and len(about["integrity"]) > 90, name
        assert not about.get("hasInstallScript"), name


def check_texts(version):
    """The version in the page that says how to get it, and in the build, which says it in its comment and in its messages."""
    assert f"[uPlot](https://github.com/leeoniya/uPlot) {version} (MIT licence" in read(web, "README.md")
    named = set(re.findall(r"uPlot (\d+\.\d+\.\d+)", read(page, "CMakeLists.txt")))
    assert named == {version}, named


def check_files(version):
    """Of what is installed, the files that go into the page have the sums that the build wants.  Whether there are any."""
    folder = os.path.join(web, "node_modules/uplot")
    if not os.path.exists(os.path.join(folder, "package.json")):
        return False
    text = read(page, "CMakeLists.txt")
    assert json.loads(read(folder, "package.json"))["version"] == version
    for which, name in (("js", "uPlot.iife.min.js"), ("css", "uPlot.min.css")):
        assert re.search(rf'set\(chart_{which} "\$\{{chart_folder\}}/{re.escape(name)}"\)', text), name
        pinned = re.search(rf"set\(chart_{which}_hash ([0-9a-f]{{64}})\)", text)[1]
        with open(os.path.join(folder, "dist", name), "rb") as file:
            assert hashlib.sha256(file.read()).hexdigest() == pinned, f"{name} is another one than core/cli/report/html/CMakeLists.txt pins"
    assert "MIT" in read(folder, "LICENSE")
    return True


asked = json.loads(read(web, "package.json"))["dependencies"]
assert list(asked) == ["uplot"] and EXACT.fullmatch(asked["uplot"]), f"core/web/package.json asks for {asked}: write one exact version"
check_lock(asked)
check_texts(asked["uplot"])
print("the package agrees" + ("" if check_files(asked["uplot"]) else "; npm has not put it into core/web/node_modules, so its files are not checked"))
