# SPDX-License-Identifier: Apache-2.0
"""The binding of libkwhy-analyse.so on the recordings of the examples."""

import math
import subprocess
import sys
import threading
import unittest
from pathlib import Path

import kwhy

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
TRAIN = EXAMPLES / "recordings" / "train.kwhy"
DECODE = EXAMPLES / "recordings" / "decode.kwhy"


class Analysed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.analysis = kwhy.Analysis(TRAIN)

    @classmethod
    def tearDownClass(cls):
        cls.analysis.close()

    def test_figures_are_those_of_the_document(self):
        document = self.analysis.as_dict()
        self.assertEqual(document["schema"], "kwhy.report/1")
        self.assertAlmostEqual(self.analysis.run.joules, document["run"]["energy_nj"] * 1e-9)
        self.assertLess(self.analysis.run.low_j, self.analysis.run.high_j)
        self.assertEqual([finding.id for finding in self.analysis.findings], [one["id"] for one in document["findings"]])
        self.assertEqual(self.analysis.findings[0].count, document["findings"][0]["count"])
        self.assertEqual(self.analysis.findings[0].evidence[0].what, document["findings"][0]["evidence"][0]["what"])

    def test_the_accounts_of_a_device_add_up(self):
        device = self.analysis.devices[0]
        self.assertIn("H200", device.name)
        known = [account.joules for account in device.accounts if not math.isnan(account.joules)]
        self.assertAlmostEqual(sum(known), device.metered_j, places=6)

    def test_a_finding_saves_what_its_change_is_projected_to(self):
        cured = [finding for finding in self.analysis.findings if finding.change]
        self.assertTrue(cured)
        plan = self.analysis.project(cured[0].change)
        self.assertAlmostEqual(plan.changes[0].saved_s, cured[0].saved_s)
        self.assertEqual(plan.changes[0].bound, cured[0].bound)
        self.assertEqual(plan.as_dict()["schema"], "kwhy.whatif/1")

    def test_a_plan_has_changes_and_those_left_out(self):
        plan = self.analysis.plan()
        self.assertLess(plan.after_s, plan.before_s)
        self.assertTrue(plan.changes and plan.refused)
        self.assertGreater(self.analysis.project("pinned", overlap_copies=3).before_s, 0)

    def test_what_is_refused_is_said_in_a_sentence(self):
        with self.assertRaisesRegex(kwhy.KwhyError, "no-such-file"):
            kwhy.Analysis("no-such-file")
        with self.assertRaisesRegex(kwhy.KwhyError, "pinned"):
            self.analysis.project("pined")
        with self.assertRaisesRegex(TypeError, "powr"):
            kwhy.Analysis(DECODE, powr=1)

    def test_options_are_taken(self):
        with kwhy.Analysis(DECODE, work={"tokens": 100}, min_gain_percent=100.0, thresholds=["small-copies.max_bytes=8"]) as one:
            self.assertEqual(one.findings, [])
            self.assertEqual(one.as_dict()["work"][0]["count"], 100)
        with self.assertRaises(kwhy.KwhyError):
            one.as_dict()

    def test_threads_may_share_an_analysis(self):
        plans = []
        threads = [threading.Thread(target=lambda: plans.append(self.analysis.project("pinned"))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len({plan.after_s for plan in plans}), 1)
        self.assertEqual(len(plans), 3)

    def test_the_example_prints_the_three_largest_findings(self):
        run = subprocess.run(
            [sys.executable, str(EXAMPLES / "analyse" / "findings.py"), str(TRAIN)], stdout=subprocess.PIPE, check=True
        )
        lines = run.stdout.decode().splitlines()
        self.assertEqual(lines[0], self.analysis.findings[0].title)
        self.assertEqual(len([line for line in lines if line.startswith(("  saves", "  frees the device"))]), 3)


if __name__ == "__main__":
    unittest.main()
