"""What the checks of tables in docs/ do alike."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Table:
    """A file with a table, some cells of which are generated."""

    def __init__(self, name, row):
        self.name = name
        self.row = row
        with open(os.path.join(ROOT, "docs", name), encoding="utf-8") as file:
            self.lines = file.read().splitlines()
        self.stale = False

    def rows(self):
        """Index and cells of each row."""
        for index, line in enumerate(self.lines):
            match = self.row.fullmatch(line)
            if match:
                yield index, match.groups()

    def put(self, index, line):
        self.stale |= self.lines[index] != line
        self.lines[index] = line

    def finish(self, faults, update):
        """Writes the file, or says that it is behind the tests; prints all
        faults and says whether there are any."""
        if self.stale and update and not faults:
            with open(os.path.join(ROOT, "docs", self.name), "w",
                      encoding="utf-8") as file:
                file.write("\n".join(self.lines) + "\n")
        elif self.stale:
            faults.append(f"docs/{self.name} is behind the tests; run "
                          f"test/{os.path.basename(sys.argv[0])} --update")
        for fault in faults:
            print(fault)
        return bool(faults)
