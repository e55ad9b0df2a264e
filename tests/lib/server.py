"""Starts a real `braid serve` on a free port with a directory of its own, and stops it again."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BINARY = os.environ.get("BRAID_BINARY", str(ROOT / "build" / "release" / "braid"))


class Server:
    """`uri` is where it listens; stop() gives its exit code, negative for a signal."""

    def __init__(self, *options):
        self.store = tempfile.mkdtemp(prefix="braid-")
        command = [BINARY, "serve", "--store", self.store, "--port", "0", "--no-http", *options]
        errors = None if os.environ.get("BRAID_LOG") else subprocess.DEVNULL
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        self.uri = None
        for line in self.process.stdout:
            found = re.search(r"mongodb://\S+", line)
            if found:
                self.uri = found.group(0)
                break
        if self.uri is None:
            raise RuntimeError(f"braid serve ended before it was ready ({self.process.wait()})")

    def stop(self):
        self.process.terminate()
        code = self.process.wait(timeout=30)
        self.process.stdout.close()
        shutil.rmtree(self.store, ignore_errors=True)
        return code
