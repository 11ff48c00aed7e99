"""Goal: other users of the machine can neither read a database's rows, nor keep its owner out, nor have the owner or root run their code or
write over files through theirs.

Method: a second user (nobody's number) makes databases, links, pipes and machine code, and root uses them. That needs root, as CI has it;
what a user can do to himself is tested without. Machine code that was run leaves a file.
"""

import fcntl
import os
import shutil
import stat
import unittest

from program import DAMAGED, DONE, FAILED, EndToEndTest, fingerprint, mneme, set_manifest

OTHER_USER = 65534
SQL = """
CREATE TABLE room (id BIGINT PRIMARY KEY, guest VARCHAR(20) NOT NULL);
CREATE PROCEDURE book(p_id BIGINT, p_guest VARCHAR(20)) LANGUAGE plpgsql AS $$
BEGIN
  UPDATE room SET guest = p_guest WHERE id = p_id;
END $$;
"""


def modes(folder):
    """What group and others may do with the folder and all that is in it, where they may do anything."""
    paths = [folder, *sorted(folder.rglob("*"))]
    return {str(path): oct(path.lstat().st_mode & 0o7777) for path in paths if path.lstat().st_mode & 0o077}


class OtherUsers(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.folder.chmod(0o755)
        self.database = self.folder / "database"
        self.victim = self.folder / "victim"
        self.victim.write_text("root's own")
        left = self.folder / "left"  # where any user can leave a file
        left.mkdir()
        left.chmod(0o777)
        self.ran = left / "ran"
        (self.folder / "inn.sql").write_text(SQL)
        (self.folder / "calls.csv").write_text("book,1,Ada\nbook,2,Grace\n")
        (self.folder / "rows.csv").write_text("room,1,none\nroom,2,none\n")

    def make(self, directory, *options, **popen):
        files = [self.folder / name for name in ("inn.sql", "calls.csv", "rows.csv")]
        return self.run_as("run", files[0], "--calls", files[1], "--rows", files[2], "--threads", 1, "--transactions", 100, "--data-dir",
                           directory, *options, **popen)

    def run_as(self, *arguments, **popen):
        result = mneme(*arguments, **popen)
        self.assertEqual(result.returncode, DONE, self.told(result))
        return result

    def resume(self, directory, **popen):
        return self.make(directory, "--resume", "--execution", "interpreted", **popen)

    def as_other(self, **environment):
        """Another user, in whose folder the other user's files are made."""
        if os.geteuid() != 0:
            self.skipTest("another user's files can only be made by root")
        self.theirs = self.folder / "theirs"
        self.theirs.mkdir(exist_ok=True)
        os.chown(self.theirs, OTHER_USER, OTHER_USER)
        self.theirs.chmod(0o755)
        return {"user": OTHER_USER, "group": OTHER_USER, "extra_groups": [], "cwd": self.theirs,
                "env": {**os.environ, "HOME": str(self.theirs), "XDG_CACHE_HOME": str(self.theirs / "cache"), **environment}}

    def make_theirs(self):
        other = self.as_other()
        directory = self.theirs / "database"
        self.make(directory, "--execution", "interpreted", **other)
        return directory

    def compiler(self):
        """One that adds code to what it compiles, where EVIL says so: that code leaves a file when it is loaded."""
        evil = self.folder / "evil.cc"
        evil.write_text('#include <cstdio>\n__attribute__((constructor)) static void run() { fclose(fopen("%s", "w")); }\n' % self.ran)
        path = self.folder / "compiler"
        path.write_text(f'#!/bin/sh\n[ -n "$EVIL" ] && [ "$1" != --version ] && set -- "$@" {evil}\nexec {shutil.which("c++")} "$@"\n')
        path.chmod(0o755)
        return str(path)

    def test_another_users_machine_code_is_not_run(self):
        compiler = self.compiler()
        other = self.as_other(MNEME_CXX=compiler, EVIL="1")
        directory = self.make_theirs()
        self.run_as("recover", directory, "--scheme", "clr", **other)
        self.assertTrue(self.ran.exists(), "the other user's own machine code runs for that user")
        self.ran.unlink()
        shutil.copytree(self.theirs / "cache" / "mneme" / "native", directory / "native")
        objects = list((directory / "native").glob("*.so"))
        self.assertTrue(objects)

        # In the directory, in a cache that is theirs, in one that is root's and has files of theirs, and in one that all may write to.
        own = self.folder / "own"
        ours = {**os.environ, "MNEME_CXX": compiler, "XDG_CACHE_HOME": str(own)}
        shutil.copytree(directory / "native", self.folder / "mixed" / "mneme" / "native")
        for each in (self.folder / "mixed").rglob("*.so"):
            os.chown(each, OTHER_USER, OTHER_USER)
        shutil.copytree(directory / "native", self.folder / "open" / "mneme" / "native")
        (self.folder / "open" / "mneme" / "native").chmod(0o777)
        linked = self.theirs / "linked"
        linked.symlink_to(self.folder / "mixed")
        os.chown(linked, OTHER_USER, OTHER_USER, follow_symlinks=False)
        for cache in (own, self.theirs / "cache", self.folder / "mixed", self.folder / "open", linked):
            result = self.run_as("recover", directory, "--scheme", "clr", env={**ours, "XDG_CACHE_HOME": str(cache)})
            self.assertFalse(self.ran.exists(), self.told(result))
            self.assertNotIn("interpreted", result.stderr, self.told(result))
        self.assertEqual([str(path) for path in self.theirs.rglob("*") if path.lstat().st_uid == 0 and "database/native" not in str(path)], [])
        # Objects that root compiled for itself are used again.
        result = self.run_as("recover", directory, "--scheme", "clr", env=ours)
        self.assertNotIn("compiled", result.stderr)
        self.assertEqual(modes(own), {})

    def test_root_does_not_work_in_another_users_directory(self):
        directory = self.make_theirs()
        for name in ("MANIFEST.tmp", "checkpoint-new", "log-000009.segment"):
            (directory / name).symlink_to(self.victim)
        before = fingerprint(directory)
        commands = (("sql", directory, "--command", "SELECT 1;"), ("run", self.folder / "inn.sql", "--data-dir", directory, "--resume"))
        for command in commands:
            self.refuse(FAILED, [directory, "belongs to user", str(OTHER_USER), "sudo -u"], *command)
        empty = self.theirs / "empty"
        empty.mkdir()
        os.chown(empty, OTHER_USER, OTHER_USER)
        result = mneme("sql", empty, "--create", "--command", "SELECT 1;")
        self.assertEqual(result.returncode, FAILED, self.told(result))
        self.assertEqual(list(empty.iterdir()), [])
        self.assertEqual(fingerprint(directory), before)
        self.assertEqual(self.victim.read_text(), "root's own")
        self.resume(directory, **self.as_other())

    def test_root_reads_another_users_directory_and_nothing_else(self):
        directory = self.make_theirs()
        before = fingerprint(directory)
        for command in (("verify", directory), ("recover", directory, "--scheme", "clr", "--execution", "interpreted"), ("inspect", directory)):
            self.run_as(*command)
        self.assertEqual(fingerprint(directory), before)
        segment = next(directory.glob("log-*.segment"))
        for file in (segment, directory / "MANIFEST", directory / "catalog.sql", next(directory.glob("checkpoint-*")),
                     directory / "workload" / "calls.csv"):
            away = self.theirs / "away"
            file.rename(away)
            for spoil, status, words in ((lambda: file.symlink_to(self.victim), DAMAGED, ["is a symbolic link"]),
                                         (lambda: os.link(self.victim, file), FAILED, ["belongs to user", "should to"]),
                                         (lambda: os.mkfifo(file), DAMAGED, ["is not a regular file"])):
                spoil()
                self.refuse(status, [file, *words], "verify", directory)
                file.unlink()
            away.rename(file)

        def lead_out(manifest):
            manifest["segments"][0]["file"] = str(self.victim)

        text = (directory / "MANIFEST").read_text()
        set_manifest(directory, lead_out)
        self.refuse(FAILED, ["names a file outside of it", self.victim], "verify", directory)
        (directory / "MANIFEST").write_text(text)
        self.run_as("verify", directory)

    def test_files_are_their_owners_alone_whatever_the_umask(self):
        for umask in (0o000, 0o022, 0o777):
            shutil.rmtree(self.database, ignore_errors=True)
            shutil.rmtree(self.folder / "archive", ignore_errors=True)
            self.make(self.database, "--execution", "interpreted", "--checkpoint-every", "100", "--log-archive", self.folder / "archive",
                      umask=umask)
            self.resume(self.database, umask=umask)
            self.assertEqual(modes(self.database), {}, f"umask {umask:o}")
            if (self.folder / "archive").exists():
                self.assertEqual(modes(self.folder / "archive"), {}, f"umask {umask:o}")
            for path in self.database.rglob("*"):
                self.assertTrue(path.stat().st_mode & stat.S_IRUSR, path)
        report = self.folder / "report.json"
        self.run_as("inspect", self.database, "--json", report, umask=0o022)
        self.assertEqual(report.stat().st_mode & 0o777, 0o644)

    def test_a_directory_that_others_could_use_is_closed(self):
        self.make(self.database, "--execution", "interpreted")
        wide = [path for path in self.database.rglob("*") if path.name != "lock"]
        for path in (*wide, self.database / "lock", self.database):
            path.chmod(0o777 if path.is_dir() else 0o666)
        (self.database / "MANIFEST.tmp").symlink_to(self.victim)
        told = self.resume(self.database).stderr
        self.assertRegex(told, "could be opened by other users: they are its owner's alone now")
        self.assertEqual({path: mode for path, mode in modes(self.database).items() if path != str(self.database)}, {})
        self.assertEqual(self.database.stat().st_mode & 0o022, 0)
        self.assertEqual(self.victim.read_text(), "root's own")
        self.assertNotIn("other users", self.resume(self.database).stderr)

    def test_no_file_of_another_users_is_used_in_ones_own_directory(self):
        self.make(self.database, "--execution", "interpreted")
        self.as_other()
        for name in ("MANIFEST", "catalog.sql", "lock"):
            os.chown(self.database / name, OTHER_USER, OTHER_USER)
            self.refuse(FAILED, [self.database / name, "belongs to user"], "sql", self.database, "--command", "SELECT 1;")
            os.chown(self.database / name, 0, 0)
        self.resume(self.database)

    def test_a_shared_directory_is_no_data_directory(self):
        shared = self.folder / "shared"
        shared.mkdir()
        shared.chmod(0o1777)
        self.refuse(FAILED, [shared, "other users share"], "sql", shared, "--create", "--command", "SELECT 1;")
        self.assertEqual(shared.stat().st_mode & 0o7777, 0o1777)
        self.assertEqual(list(shared.iterdir()), [])

    def test_what_a_killed_compilation_left_is_removed(self):
        self.make(self.database, "--execution", "interpreted")
        left = self.database / "native" / "compiling-left"

        def leave():
            left.mkdir(parents=True, exist_ok=True)
            (left / "procedures.cc").write_text("// half of it")

        leave()
        self.resume(self.database)
        self.assertFalse(left.exists())
        leave()
        native = os.open(self.database / "native", os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(native, fcntl.LOCK_SH)  # as a process does that compiles there
        self.resume(self.database)
        self.assertTrue(left.exists())
        os.close(native)
        # A link of that name is removed, and not what it leads to.
        shutil.rmtree(left)
        kept = self.folder / "kept"
        kept.mkdir()
        (kept / "file").write_text("stays")
        left.symlink_to(kept)
        self.resume(self.database)
        self.assertFalse(os.path.lexists(left))
        self.assertEqual((kept / "file").read_text(), "stays")


if __name__ == "__main__":
    unittest.main()
