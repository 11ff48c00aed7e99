"""Goal: a result that can't be written is known before the work begins. Method: name files that can't be written."""

import json
import unittest

from program import BAD_ARGUMENTS, FAILED, EndToEndTest, mneme


class Output(EndToEndTest):
    def refuse_output(self, output, word):
        directory = self.folder / "database"
        commands = [
            ("run", "smallbank", "--data-dir", directory),
            ("crash", "smallbank", "--data-dir", directory),
            ("recover", directory),
            ("verify", directory),
            ("inspect", directory),
            ("slice", "smallbank"),
            ("demo", "--in", self.folder),
        ]
        for command in commands:
            with self.subTest(command=command[0]):
                self.refuse(BAD_ARGUMENTS, ["--json", output, word], *command, "--json", output)
        self.assertFalse(directory.exists())

    def test_in_a_folder_that_is_not_there(self):
        self.refuse_output(self.folder / "nowhere" / "result.json", "there is no folder")

    def test_that_is_a_directory(self):
        self.refuse_output(self.folder, "is a directory")

    def test_on_a_device_without_room(self):
        result = mneme("slice", "smallbank", "--quiet", "--json", "/dev/full")
        self.assertEqual(result.returncode, FAILED, self.told(result))
        self.assertIn("No space left", result.stderr)

    def test_is_written(self):
        output = self.folder / "result.json"
        for _ in range(2):
            self.succeed("slice", "smallbank", "--quiet", "--json", output)
            self.assertIn("procedures", json.loads(output.read_text()))


if __name__ == "__main__":
    unittest.main()
