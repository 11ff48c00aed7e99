"""What the end-to-end tests share: running the program as a user would, and looking at what it leaves on the disk.

The tests know the program by its help, its exit status, its two streams, its JSON, and the documented format of the
data directory; they link nothing of it. Each works in a folder of its own below the current one (ctest: the build
directory, which is on a disk) and removes it.

MNEME names the binary.
"""

import hashlib
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

BINARY = os.environ.get("MNEME", "./mneme")
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]

# Machine code that recovery compiles is kept between tests, and out of the user's own folder.
os.environ["XDG_CACHE_HOME"] = os.path.join(os.getcwd(), "cache")

# A shell ignores SIGINT for what it runs in the background, and programs inherit that: tests that send it would wait in vain.
signal.signal(signal.SIGINT, signal.default_int_handler)

DONE, FAILED, BAD_ARGUMENTS, DAMAGED = 0, 1, 2, 3

# A command that hangs is a failure of its own, told apart from a slow machine by a wide margin.
LONGEST_COMMAND_SECONDS = 300

# The header page of a log segment or a checkpoint; records lie behind it.
HEADER_PAGE_BYTES = 4096


def mneme(*arguments, **popen):
    """Runs the program to its end; its two streams are text."""
    command = [BINARY, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_COMMAND_SECONDS, check=False, **popen)


def preloaded(library):
    """The value of LD_PRELOAD that loads the library, beside what the test itself is run with."""
    return " ".join(filter(None, (str(library.resolve()), os.environ.get("LD_PRELOAD"))))


class EndToEndTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        # So that scripts/errors knows who provokes what.
        os.environ["MNEME_TEST"] = f"{pathlib.Path(sys.argv[0]).stem}.{type(self).__name__}.{self._testMethodName}"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="end_to_end_", dir=os.getcwd()))
        self.addCleanup(shutil.rmtree, self.folder)

    def told(self, result):
        """All there is to know of a command that did something unexpected."""
        command = " ".join(map(str, result.args))
        return f"{command}\nexit status {result.returncode}\n{result.stdout[-4000:]}\n{result.stderr[-4000:]}"

    def succeed(self, *arguments):
        result = mneme(*arguments)
        self.assertEqual(result.returncode, DONE, self.told(result))
        return result

    def report(self, *arguments):
        """The JSON of a command that succeeds. With --quiet and `--json -`, standard output holds nothing else."""
        return json.loads(self.succeed(*arguments, "--quiet", "--json", "-").stdout)

    def refuse(self, status, words, *arguments):
        """A command that must fail with this status and tell these words on standard error, and nothing as a result."""
        result = mneme(*arguments)
        self.assertEqual(result.returncode, status, self.told(result))
        for word in words:
            self.assertIn(str(word), result.stderr, self.told(result))
        self.assertEqual(result.stdout, "", self.told(result))
        return result

    def recover(self, directory, scheme="clr-p", **options):
        """Recovers; options are the program's, as threads=4."""
        named = [part for name, value in options.items() for part in (f"--{name}", value)]
        return self.report("recover", directory, "--scheme", scheme, *named)

    def recover_alike(self, directory):
        """Recovers serially and in parallel, and holds that both find the same state."""
        serial = self.recover(directory, "clr")
        parallel = self.recover(directory, "clr-p", threads=4, batch=7)
        for field in ("state_digest", "transactions", "durable_lsn", "dropped_bytes"):
            self.assertEqual(serial[field], parallel[field], f"{field} of clr and of clr-p on {directory}")
        return parallel


def copy_database(source, destination):
    """Copies a data directory; the log's unwritten parts stay holes."""
    subprocess.run(["cp", "--recursive", "--sparse=always", source, destination], check=True)


def has_records(directory):
    """Whether a segment of the log has a block of records."""
    for segment in directory.glob("log-*.segment"):
        with open(segment, "rb") as file:
            file.seek(HEADER_PAGE_BYTES)
            if any(file.read(HEADER_PAGE_BYTES)):
                return True
    return False


def fingerprint(directory):
    """Every file's name, size, time of change and content. A command that says "nothing was changed" is held to it."""
    return {
        str(path.relative_to(directory)): (
            path.stat().st_size,
            path.stat().st_mtime_ns,
            hashlib.blake2b(path.read_bytes()).hexdigest(),
        )
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def flip_bit(path, offset, bit):
    """Flips one bit in place; doing it again undoes it."""
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 1 << bit]))


def crc32c(data):
    """The Castagnoli checksum in its standard form, as docs/log_format.md gives it. Slow: for pages, not for logs."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def set_format_version(path, version):
    """Makes a log segment or a checkpoint one of another version: its header page stays intact otherwise."""
    set_header_page(path, 8, struct.pack("<I", version))


def set_header_page(path, offset, words):
    """Puts the bytes into a log segment's or a checkpoint's header page, and makes its checksum right."""
    with open(path, "r+b") as file:
        page = bytearray(file.read(HEADER_PAGE_BYTES))
        page[offset:offset + len(words)] = words
        page[12:16] = struct.pack("<I", crc32c(bytes(page[:12] + page[16:])))
        file.seek(0)
        file.write(page)


def set_manifest(directory, change):
    """Rewrites the manifest with `change` made to its JSON, and its checksum right."""
    path = directory / "MANIFEST"
    text, _ = path.read_text().rsplit("crc32c ", 1)
    content = json.loads(text)
    change(content)
    text = json.dumps(content, indent=2) + "\n"
    path.write_text(f"{text}crc32c {crc32c(text.encode()):08x}\n")
