"""Builds the package's wheel for pip (PEP 517), so that pip needs no setuptools, no wheel and no index: a wheel is a zip file with three
texts beside the modules (PEP 427).  pip runs it in a process of its own, in the package's folder."""
import base64
import hashlib
import os
import re
import zipfile

PACKAGE = "rkb"


def field(name):
    """A field of pyproject.toml's [project]; Python before 3.11 reads no TOML."""
    with open("pyproject.toml", encoding="utf-8") as file:
        return re.search(rf'^{name} = "([^"]*)"', file.read(), re.MULTILINE).group(1)


def metadata():
    return (f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: {field('version')}\nSummary: {field('description')}\nLicense: Apache-2.0\n"
            f"Requires-Python: {field('requires-python')}\nProvides-Extra: frames\nRequires-Dist: pandas; extra == 'frames'\n")


WHEEL = "Wheel-Version: 1.0\nGenerator: rkb\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def modules():
    """{name in the wheel: bytes}"""
    found = {}
    for name in sorted(os.listdir(PACKAGE)):
        if name.endswith(".py"):
            with open(os.path.join(PACKAGE, name), "rb") as file:
                found[f"{PACKAGE}/{name}"] = file.read()
    return found


def write(directory, files):
    folder, name = f"{PACKAGE}-{field('version')}.dist-info", f"{PACKAGE}-{field('version')}-py3-none-any.whl"
    files = {**files, f"{folder}/METADATA": metadata().encode(), f"{folder}/WHEEL": WHEEL.encode()}
    record = ""
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
    files[f"{folder}/RECORD"] = f"{record}{folder}/RECORD,,\n".encode()
    with zipfile.ZipFile(os.path.join(directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))  # the same bytes whenever it is built
            entry.external_attr = 0o644 << 16
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return write(wheel_directory, modules())


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """pip install -e: a file that names this folder."""
    return write(wheel_directory, {f"{PACKAGE}.pth": f"{os.getcwd()}\n".encode()})
