"""A test case whose tests are the steps of one story, in the order of their names."""

import unittest


class Sequence(unittest.TestCase):
    """After the first step that fails the others are skipped: they would only tell of the same fault."""

    broken = None

    def run(self, result=None):
        bad = len(result.failures) + len(result.errors)
        super().run(result)
        if len(result.failures) + len(result.errors) > bad:
            type(self).broken = type(self).broken or self._testMethodName
        return result

    def setUp(self):
        if self.broken:
            self.skipTest(f"{self.broken} failed")
