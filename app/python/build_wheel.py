"""pip's way in (PEP 517): a wheel from the package that CMake builds. Nothing beyond the standard library is needed."""

import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import sysconfig
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
VERSION = re.search(r"project\(tarn VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
TAG = f"cp{sys.version_info.major}{sys.version_info.minor}"
PLATFORM = re.sub(r"[-.]", "_", sysconfig.get_platform())
METADATA = f"Metadata-Version: 2.1\nName: tarn\nVersion: {VERSION}\nSummary: Tarn animates water\nRequires-Dist: numpy\n"
WHEEL = f"Wheel-Version: 1.0\nGenerator: tarn\nRoot-Is-Purelib: false\nTag: {TAG}-{TAG}-{PLATFORM}\n"


def build_package():
    """The package for this Python, in a build folder of its own unless it is Debian's."""
    folder = ROOT / ("build" if sys.base_prefix == "/usr" else f"build-python-{TAG}")
    words = ["-DTARN_PYTHON=ON", f"-DTARN_PYTHON_EXECUTABLE={sys._base_executable}"]
    # A folder that is built in already keeps what it was told.
    if not (folder / "CMakeCache.txt").exists():
        words += ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DTARN_CUDA=OFF"]
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, *words], check=True)
    subprocess.run(["cmake", "--build", folder, "--target", "tarn_python"], check=True)
    return folder / "python/tarn"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    package, info = build_package(), f"tarn-{VERSION}.dist-info"
    files = {f"tarn/{path.name}": path.read_bytes() for path in sorted(package.iterdir()) if path.is_file()}
    files[f"{info}/METADATA"] = METADATA.encode()
    files[f"{info}/WHEEL"] = WHEEL.encode()
    record = ""
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    wheel = f"tarn-{VERSION}-{TAG}-{TAG}-{PLATFORM}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return wheel


def get_requires_for_build_wheel(config_settings=None):
    return []
