# SPDX-License-Identifier: Apache-2.0
"""The binding against played-back readings and a fake driver; see tests/python/CMakeLists.txt for how it is run."""

import asyncio
import inspect
import json
import math
import os
import sys
import tempfile
import threading
import time
import types
import unittest
import unittest.mock
import weakref

import kwhy

FIRST_UNIX_NS = 1795245124000000000


def write_power(path, watts, seconds):
    """A GPU at a constant power: a counter that ticks every 100 ms and samples every 20 ms."""
    with open(path, "w", encoding="utf-8") as out:
        out.write("time_ns,device,source,value\n")
        for sample in range(int(seconds * 50)):
            out.write("{},0,nvml.sample_mw,{}\n".format(FIRST_UNIX_NS + sample * 20000000, watts * 1000))
            if sample % 5 == 0:
                out.write(
                    "{},0,nvml.energy_mj,{}\n".format(FIRST_UNIX_NS + sample * 20000000, 1000 + sample * 20 * watts)
                )


class Replayed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "power.csv")
        write_power(cls.path, 250, 600)
        cls.session = kwhy.Session(replay_path=cls.path)

    @classmethod
    def tearDownClass(cls):
        cls.session.close()
        cls.folder.cleanup()

    def test_the_energy_of_a_region_is_power_times_its_time(self):
        with self.session.measure("steady") as region:
            time.sleep(0.4)
        result = region.result
        self.assertEqual(result.count, 1)
        self.assertAlmostEqual(result.energy.joules, 250 * result.wall_s, delta=0.1)
        self.assertLess(result.energy.low_j, result.energy.joules)
        self.assertGreater(result.energy.high_j, result.energy.joules)
        self.assertTrue(result.energy.enough)
        self.assertEqual(result.energy.basis, "counter+power")
        self.assertEqual(result.by_meter["gpu 0"].joules, result.energy.joules)

    def test_a_decorated_function_is_a_region_and_keeps_its_name_and_value(self):
        @self.session.measure("decorated")
        def double(value):
            """Doubles."""
            time.sleep(0.01)
            return 2 * value

        self.assertEqual([double(i) for i in range(3)], [0, 2, 4])
        self.assertEqual(double.__name__, "double")
        self.assertEqual(self.session.results()["decorated"].count, 3)

    def test_a_decorated_coroutine_is_measured_until_it_returns(self):
        @self.session.measure("awaited")
        async def double(value):
            await asyncio.sleep(0.1)
            return 2 * value

        self.assertTrue(inspect.iscoroutinefunction(double))
        self.assertEqual(asyncio.run(double(4)), 8)
        result = self.session.results()["awaited"]
        self.assertEqual((result.count, result.open), (1, 0))
        self.assertGreaterEqual(result.wall_s, 0.099)

    def test_a_decorated_generator_is_measured_from_its_first_value_to_its_end(self):
        @self.session.measure("iterated")
        def count(last):
            for i in range(last):
                time.sleep(0.05)
                yield i
            return "all"

        def outer():
            self.assertEqual((yield from count(2)), "all")

        self.assertEqual(list(outer()), [0, 1])
        left = count(2)
        next(left)
        left.close()
        result = self.session.results()["iterated"]
        self.assertEqual((result.count, result.open), (2, 0))
        self.assertGreaterEqual(result.wall_s, 0.149)

    def test_an_asynchronous_generator_is_refused_with_the_cure(self):
        async def count():
            yield 1

        with self.assertRaisesRegex(TypeError, "'count'.*with"):
            self.session.measure("never")(count)

    def test_work_counts_for_every_region_that_the_thread_is_in(self):
        with self.session.measure("outer") as outer:
            with self.session.measure("inner") as inner:
                inner.work("tokens", 100)
                time.sleep(0.2)
            outer.work("tokens", 50)
        results = self.session.results()
        self.assertEqual(results["inner"].work["tokens"].amount, 100)
        self.assertEqual(results["outer"].work["tokens"].amount, 150)
        inner_work = results["inner"].work["tokens"]
        self.assertAlmostEqual(inner_work.joules_per_unit, results["inner"].energy.joules / 100)
        self.assertAlmostEqual(inner_work.units_per_joule * inner_work.joules_per_unit, 1)

    def test_a_region_ends_when_an_exception_leaves_it(self):
        with self.assertRaises(ZeroDivisionError):
            with self.session.measure("failing"):
                raise ZeroDivisionError
        self.assertEqual(self.session.results()["failing"].open, 0)

    def test_threads_in_one_region_share_its_energy(self):
        inside = threading.Barrier(4)  # all of them at once, however late a thread begins

        def run():
            with self.session.measure("shared"):
                inside.wait()
                time.sleep(0.3)
                inside.wait()

        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        result = self.session.results()["shared"]
        self.assertEqual(result.count, 4)
        self.assertGreater(result.total_s, 4 * 0.3)
        self.assertLessEqual(result.wall_s, result.total_s - 3 * 0.3)
        self.assertAlmostEqual(result.energy.joules, 250 * result.wall_s, delta=0.1)

    def test_what_is_too_short_says_how_often_to_repeat_it(self):
        with self.session.measure("short"):
            pass
        energy = self.session.results()["short"].energy
        self.assertFalse(energy.enough)
        self.assertGreater(energy.repetitions_needed, 1)
        self.assertIn("too short to tell", str(energy))

    def test_idle_is_taken_off_for_the_net(self):
        session = kwhy.Session(replay_path=self.path)
        with session.measure("before") as region:
            time.sleep(0.1)
        self.assertTrue(math.isnan(region.result.energy.net_joules))
        session.measure_idle(0.2)
        self.assertAlmostEqual(region.result.energy.net_joules, 0, delta=0.1)
        session.close()

    def test_results_are_one_json_document_too(self):
        document = self.session.results().as_dict()
        self.assertEqual(document["schema"], "kwhy.measure/1")
        self.assertEqual(document["meters"][0]["name"], "gpu 0")
        self.assertEqual(document["regions"][0]["name"], "(session)")

    def test_a_name_with_quotes_is_json_still(self):
        with self.session.measure('a "b" \\ c\n'):
            pass
        names = [region["name"] for region in json.loads(self.session.results().json_text)["regions"]]
        self.assertIn('a "b" \\ c ', names)

    def test_the_result_of_a_name_that_the_library_changes_is_found(self):
        for name in ("a\ttab", "line\nfeed", "x" * 5000, "\u00e9" * 3000, "lone \ud83d", ""):
            with self.subTest(name=name[:12]):
                with self.session.measure(name) as region:
                    pass
                self.assertEqual(region.result.count, 1)
                self.assertFalse(math.isnan(region.joules))
        self.assertIn("a tab", self.session.results().regions)

    def test_names_with_a_nul_are_refused(self):
        for name in ("nul\0", "nul\0one", "\0"):
            with self.assertRaisesRegex(kwhy.KwhyError, "NUL"):
                with self.session.measure(name):
                    pass
            with self.assertRaisesRegex(kwhy.KwhyError, "NUL"):
                self.session.work(name, 1)
        self.assertNotIn("nul", self.session.results().regions)

    def test_the_librarys_own_names_are_refused(self):
        for name in ("(session)", "(idle)"):
            with self.assertRaisesRegex(kwhy.KwhyError, "another name"):
                with self.session.measure(name):
                    pass
            with self.assertRaisesRegex(kwhy.KwhyError, "another name"):
                self.session.work(name, 1)

    def test_a_region_that_has_not_begun_has_no_result(self):
        with self.assertRaisesRegex(kwhy.KwhyError, "'not begun'"):
            self.session.measure("not begun").result

    def sample(self, sampler, seconds):
        """Begins, waits and ends; its joules are those of a time between the wait and all of it."""
        before = time.monotonic()
        sampler.start()
        started = time.monotonic()
        time.sleep(seconds)
        stopping = time.monotonic()
        sampler.stop()
        after = time.monotonic()
        joules = sampler.energy_joules()
        self.assertGreater(joules, 250 * (stopping - started) - 0.5)
        self.assertLess(joules, 250 * (after - before) + 0.5)
        return joules

    def test_the_power_sampler_drops_in(self):
        sampler = kwhy.PowerSampler(device_index=0, interval=0.1, replay_path=self.path)
        joules = self.sample(sampler, 0.3)
        self.assertEqual(sampler.energy_joules(), joules)
        sampler.close()

    def test_the_power_sampler_begins_anew_at_each_start(self):
        sampler = kwhy.PowerSampler(replay_path=self.path)
        self.sample(sampler, 0.6)
        self.sample(sampler, 0.2)
        sampler.close()

    def test_a_region_ends_when_the_gpu_cannot_be_waited_for(self):
        class Cuda:
            calls = 0

            @staticmethod
            def is_available():
                return True

            is_initialized = is_available

            @classmethod
            def synchronize(cls):
                cls.calls += 1
                if cls.calls == 2:
                    raise RuntimeError("CUDA error")

        torch = types.ModuleType("torch")
        torch.cuda = Cuda
        with unittest.mock.patch.dict(sys.modules, {"torch": torch}):
            with self.assertRaisesRegex(RuntimeError, "CUDA error"):
                with self.session.measure("lost with the GPU"):
                    pass
        self.assertEqual(self.session.results()["lost with the GPU"].open, 0)

    def test_work_that_is_no_amount_is_refused(self):
        with self.session.measure("refusing") as region:
            for amount in (math.nan, math.inf, -1):
                with self.assertRaisesRegex(kwhy.KwhyError, "cannot be counted"):
                    region.work("refused", amount)

    def test_a_forked_child_records_nothing_and_ends_well(self):
        child = os.fork()
        if child == 0:
            try:
                with self.session.measure("of the child"):
                    pass
            finally:
                os._exit(1 if sys.exc_info()[0] else 0)
        _, status = os.waitpid(child, 0)
        self.assertEqual(status, 0)
        self.assertNotIn("of the child", self.session.results().regions)

    def test_a_session_that_nobody_holds_is_closed(self):
        session = kwhy.Session(replay_path=self.path)
        reference = weakref.ref(session)
        del session
        self.assertIsNone(reference())


class Shared(unittest.TestCase):
    """The process's session."""

    def open(self):
        session = kwhy.session(gpus=False, host=False)
        self.addCleanup(session.close)
        return session

    def test_it_is_one_until_it_is_closed_and_then_another(self):
        first = self.open()
        self.assertIs(kwhy.session(), first)
        with self.assertRaisesRegex(kwhy.KwhyError, "close it"):
            kwhy.session(gpus=False)
        first.close()
        second = self.open()
        self.assertIsNot(second, first)
        self.assertIs(kwhy.session(), second)

    def test_a_decorated_function_goes_on_in_the_next(self):
        @kwhy.measure("step")
        def step():
            pass

        for runs in (1, 2):
            session = self.open()
            for _ in range(runs):
                step()
            self.assertEqual(kwhy.results()["step"].count, runs)
            session.close()

    def end_a_run_of_a_closed_session(self, step):
        """Begins a run in a thread, closes its session, begins one in the next, and ends both, the older first."""
        failures, inside = [], [threading.Event(), threading.Event()]
        go_on = [threading.Event(), threading.Event()]

        def run(turn):
            try:
                self.assertEqual(step(inside[turn], go_on[turn]), "done")
            except Exception as failure:
                failures.append(failure)

        threads = [threading.Thread(target=run, args=(turn,)) for turn in range(2)]
        for turn in range(2):
            session = self.open()
            threads[turn].start()
            inside[turn].wait()
            if turn == 0:
                session.close()
        go_on[0].set()
        threads[0].join()
        region = kwhy.results()["step"]
        go_on[1].set()
        threads[1].join()
        self.assertEqual(failures, [])
        self.assertEqual((region.count, region.open, region.unmatched), (1, 1, 0))
        region = kwhy.results()["step"]
        self.assertEqual((region.count, region.open, region.unmatched), (1, 0, 0))
        session.close()

    def test_a_run_of_a_closed_session_ends_nothing_in_the_next(self):
        region = kwhy.measure("step")

        @region
        def called(inside, go_on):
            inside.set()
            go_on.wait()
            return "done"

        @region
        async def awaited(inside, go_on):
            return called.__wrapped__(inside, go_on)

        @region
        def iterated(inside, go_on):
            yield called.__wrapped__(inside, go_on)

        def within(inside, go_on):
            with region:
                return called.__wrapped__(inside, go_on)

        self.end_a_run_of_a_closed_session(called)
        self.end_a_run_of_a_closed_session(lambda *gates: asyncio.run(awaited(*gates)))
        self.end_a_run_of_a_closed_session(lambda *gates: list(iterated(*gates))[0])
        self.end_a_run_of_a_closed_session(within)

    def test_a_region_ends_quietly_with_its_session(self):
        session = self.open()
        with session.measure("step"):
            session.close()

    def test_a_session_is_closed_when_calls_of_other_threads_have_returned(self):
        session = self.open()
        library, order = session._library, []
        inside, go_on = threading.Event(), threading.Event()

        class Slow:
            def __getattr__(self, name):
                return getattr(library, name)

            def kwhy_session_absence(self, handle, number):
                inside.set()
                go_on.wait(10)
                order.append("returned")

            def kwhy_session_close(self, handle):
                order.append("closed")
                library.kwhy_session_close(handle)

        session._library = Slow()
        asking = threading.Thread(target=lambda: session.not_available)
        closing = threading.Thread(target=session.close)
        asking.start()
        inside.wait(10)
        closing.start()
        closing.join(0.05)
        self.assertTrue(session._is_closed())
        self.assertEqual(order, [])
        go_on.set()
        asking.join()
        closing.join()
        self.assertEqual(order, ["returned", "closed"])

    def test_a_call_of_the_own_thread_does_not_hold_up_its_close(self):
        session = self.open()
        session._call(lambda handle: session.close())
        self.assertTrue(session._is_closed())

    def test_a_region_tells_nothing_once_its_session_is_closed(self):
        session = self.open()
        with kwhy.measure("step") as region:
            pass
        session.close()
        with self.assertRaisesRegex(kwhy.KwhyError, "closed"):
            region.result


class Refused(unittest.TestCase):
    def test_a_file_that_is_not_there_is_an_error_in_words(self):
        with self.assertRaisesRegex(kwhy.KwhyError, "no-such-file.csv"):
            kwhy.Session(replay_path="no-such-file.csv")

    def test_a_closed_session_says_so(self):
        session = kwhy.Session(gpus=False, host=False)
        session.close()
        with self.assertRaisesRegex(kwhy.KwhyError, "closed"):
            session.results()

    def test_without_a_meter_time_is_measured_and_energy_not_available(self):
        with kwhy.Session(gpus=False, host=False) as session:
            with session.measure("timed") as region:
                time.sleep(0.05)
            result = region.result
            self.assertGreater(result.wall_s, 0.049)
            self.assertFalse(result.energy.available)
            self.assertIn("not available", str(result.energy))

    def test_the_version_is_told(self):
        self.assertRegex(kwhy.library_version(), r"^\d+\.\d+\.\d+$")


@unittest.skipUnless(os.environ.get("KWHY_FAKE_NVML"), "the fake driver is not on the library path")
class FakeDriver(unittest.TestCase):
    def test_a_busy_gpu_at_300_w(self):
        with kwhy.Session(host=False) as session:
            self.assertEqual(session.meters[0].product, "NVIDIA H200")
            with session.measure("busy") as region:
                time.sleep(1.0)
            result = region.result
        self.assertEqual(result.energy.state, "measured")
        known = "%s, %.4f to %.4f J in %.4f s" % (result.energy, result.energy.low_j, result.energy.high_j, result.wall_s)
        self.assertAlmostEqual(result.energy.mean_w, 300, delta=3, msg=known)


if __name__ == "__main__":
    unittest.main()
