#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""That the mutants are what they should be: none in text, each in its place, and the same each time."""

import contextlib
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import mutants  # noqa: E402
from mutants import rooms  # noqa: E402
import python_place  # noqa: E402
import report  # noqa: E402
import workplace  # noqa: E402
from cpp_tokens import tokenize  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]


def changes(text: str, operator: str | None = None, file: str = "core/src/some.cpp") -> list[str]:
    return [m.apply(text) for m in mutants.mutants_of(file, text) if operator in (None, m.operator)]


def of_python(text: str, operator: str | None = None) -> list[str]:
    """The changed bodies of a Python function."""
    before = "def some():\n    "
    return [m[len(before):].strip() for m in changes(before + text + "\n", operator, "python/barmap/some.py")]


def of_body(body: str, operator: str | None = None) -> list[str]:
    """The changed bodies of a function."""
    before, after = "void some() {\n    ", "\n}\n"
    return [m[len(before):-len(after)] for m in changes(before + body + after, operator)]


class Operators(unittest.TestCase):
    def test_relations(self):
        self.assertEqual(of_body("f(a < b);", "relation"), ["f(a <= b);", "f(a >= b);"])
        self.assertEqual(of_body("f(a == b);", "relation"), ["f(a != b);"])
        self.assertEqual(of_body("std::vector<int> x;"), [])

    def test_arithmetic_and_bits(self):
        self.assertEqual(of_body("x = a * b;", "arithmetic"), ["x = a / b;"])
        self.assertEqual(of_body("int* p = q;"), [])
        self.assertEqual(of_body("x = a << b;", "bits"), ["x = a >> b;"])
        self.assertEqual(of_body("x |= a;", "bits"), ["x &= a;"])

    def test_text_is_not_added_up(self):
        self.assertEqual(of_body('x = "a" + y;', "arithmetic"), [])

    def test_logic_and_negation(self):
        self.assertEqual(of_body("f(a && b);", "logic"), ["f(a || b);"])
        self.assertEqual(of_body("f(!a);", "negation"), ["f(a);"])
        self.assertEqual(of_body("f(~a);", "negation"), ["f(a);"])
        self.assertEqual(of_body("auto&& x = y;", "logic"), [])

    def test_constants(self):
        self.assertEqual(of_body("f(4);", "constant"), ["f(3);", "f(5);"])
        self.assertEqual(of_body("f(0);", "constant"), ["f(1);"])
        self.assertEqual(of_body("f(0x10u);", "constant"), ["f(0x11u);", "f(0xfu);"])
        self.assertEqual(of_body("f(1'000);", "constant"), ["f(1001);", "f(999);"])
        self.assertEqual(of_body("f(010);", "constant"), ["f(011);", "f(07);"])
        self.assertEqual(of_body("f(1.5);", "constant"), [])

    def test_conditions(self):
        self.assertEqual(of_body("if (a || b)\n        f();", "condition"),
                         ["if ((a || b) && false)\n        f();", "if ((a || b) || true)\n        f();"])
        self.assertEqual(of_body("if (int x = g(); x)\n        f();", "condition"),
                         ["if (int x = g(); (x) && false)\n        f();",
                          "if (int x = g(); (x) || true)\n        f();"])
        self.assertEqual(of_body("while (a)\n        f();", "condition"),
                         ["while ((a) && false)\n        f();"])
        self.assertEqual(of_body("if constexpr (a)\n        f();", "condition"), [])
        self.assertEqual(len(of_body("x = a ? b : c;", "condition")), 2)

    def test_statements(self):
        self.assertEqual(of_body("f(a);", "statement"), [";"])
        self.assertEqual(of_body("x->y.f(a);", "statement"), [";"])
        self.assertEqual(of_body("x = a;", "statement"), [";"])
        self.assertEqual(of_body("if (c)\n        f();", "statement"), ["if (c)\n        ;"])
        self.assertEqual(of_body("break;", "statement"), [";"])
        self.assertEqual(of_body("f([&] { g(); });", "statement"), [";", "f([&] { ; });"])
        for declaration in ("int x = 1;", "foo::bar x(1);", "auto x = f();", "foo* x = f();",
                            "foo& x = f();", "foo<int> x(1);"):
            self.assertEqual(of_body(declaration, "statement"), [], declaration)

    def test_fences(self):
        self.assertEqual(of_body('__asm__ volatile("mfence" ::: "memory");', "fence"),
                         [";", '__asm__ volatile("lfence" ::: "memory");'])
        self.assertEqual(of_body("std::atomic_thread_fence(x);", "fence"), [";"])

    def test_orders_of_memory(self):
        for before, after in (("x.load(std::memory_order_acquire);", "x.load(std::memory_order_relaxed);"),
                              ("y = load_acquire(x);", "y = load_relaxed(x);"),
                              ("f(x, __ATOMIC_ACQ_REL);", "f(x, __ATOMIC_RELAXED);")):
            self.assertEqual(of_body(before, "order"), [after])
        self.assertEqual(of_body("x.load(std::memory_order_relaxed);", "order"), [])
        self.assertEqual(of_body('asm volatile("ld.acquire.sys.u64 %0, [%1];");', "order"),
                         ['asm volatile("ld.acquire.gpu.u64 %0, [%1];");',
                          'asm volatile("ld.relaxed.sys.u64 %0, [%1];");'])
        self.assertEqual(of_body('asm volatile("fence.acq_rel.sys;");', "fence"),
                         [";", 'asm volatile("fence.acq_rel.gpu;");'])

    def test_operands(self):
        self.assertEqual(of_body("if (a(b) && !c.d)\n        f();", "operand"),
                         ["if ( !c.d)\n        f();", "if (a(b) )\n        f();"])
        self.assertEqual(of_body("x = a || b && c;", "operand"),
                         ["x =  b && c;", "x = a ;", "x = a ||  c;", "x = a || b ;"])
        self.assertEqual(of_body("x = (a + 1) % f(b) * c;", "operand"), ["x = (a + 1)  * c;"])
        self.assertEqual(of_body("x = a & mask;", "operand"), ["x = a ;"])

    def test_locks_and_handlers(self):
        self.assertEqual(of_body("std::lock_guard const hold(lock_);", "lock"), [";"])
        self.assertEqual(of_body("f(std::unique_lock(lock_));", "lock"), [])
        for before, after in (("std::exception const& failure", "std::runtime_error const& failure"),
                              ("std::bad_alloc const&", "std::bad_exception const&"),
                              ("...", "std::bad_exception const&")):
            self.assertEqual(of_body(f"try {{\n    }} catch ({before}) {{\n    }}", "handler"),
                             [f"try {{\n    }} catch ({after}) {{\n    }}"])

    def test_results(self):
        self.assertEqual(of_body('check(f(a), "text");', "ignored"), ["static_cast<void>(f(a));"])
        self.assertEqual(of_body("return a;", "return"), ["return {};"])
        self.assertEqual(of_body('return "text";', "return"), [])
        self.assertEqual(of_body("return true;"), ["return false;"])

    def test_arguments(self):
        self.assertEqual(of_body("f(a, b, c);", "arguments"), ["f(b, a, c);", "f(a, c, b);"])
        self.assertEqual(of_body("f(a, g(b, c));", "arguments"), ["f(g(b, c), a);", "f(a, g(c, b));"])
        self.assertEqual(changes("void f(int a, int b);", "arguments"), [])


class PythonOperators(unittest.TestCase):
    def test_expressions(self):
        self.assertEqual(of_python("f(a < b)", "relation"), ["f(a <= b)", "f(a >= b)"])
        self.assertEqual(of_python("f(a is not b)", "relation"), ["f(a is b)"])
        self.assertEqual(of_python("f(a and b)", "logic"), ["f(a or b)"])
        self.assertEqual(of_python("f(a and b)", "operand"), ["f(b)", "f(a)"])
        self.assertEqual(of_python("x = a % n", "operand"), ["x = a"])
        self.assertEqual(of_python("x = a * (b + c)", "arithmetic"), ["x = a // (b + c)", "x = a * (b - c)"])
        self.assertEqual(of_python("f(not a)", "negation"), ["f(bool(a))"])
        self.assertEqual(of_python("f(4, True)", "constant"), ["f(3, True)", "f(5, True)"])
        self.assertEqual(of_python("f(4, True)", "value"), ["f(4, False)"])
        self.assertEqual(of_python("x = min(a)", "function"), ["x = max(a)"])

    def test_statements(self):
        self.assertEqual(of_python("f()", "statement"), ["pass"])
        self.assertEqual(of_python("self.x = a", "statement"), ["pass"])
        self.assertEqual(of_python("raise E('a', 4)"), ["pass"])
        self.assertEqual(of_python("return a", "return"), ["return None"])
        self.assertEqual(of_python("while a: f()", "condition"), ["while (a) and False: f()"])
        self.assertEqual(of_python("with lock: f()", "lock"), ["if True: f()"])
        self.assertEqual(of_python("with a as b: f()", "lock"), [])
        self.assertEqual(of_python("try: f()\n    except E: g()", "handler"),
                         ["try: f()\n    except ZeroDivisionError: g()"])

    def test_texts_for_people_and_types(self):
        for text in ('"""A text of 4."""', "x: Literal[4] = y", "x = f'{a + 4}'", "def f(x: int | None): ..."):
            self.assertEqual(of_python(text), [], text)


class Skipped(unittest.TestCase):
    def test_what_no_program_runs(self):
        for text in ("// a < b\n", "/* a < b */\n", '#include "a < b"\n', "#define X a < b\n",
                     "static_assert(a == 4);\n", "template <int N = 4>\nstruct x;\n",
                     "[[deprecated(\"4 < 5\")]] int f();\n", 'char const* x = "a < b";\n',
                     'char const* x = R"(a < b)";\n'):
            self.assertEqual(changes(text), [], text)

    def test_texts_for_people(self):
        self.assertEqual(of_body('throw error(a < b, "x" + std::to_string(4), 5);'), [])
        self.assertEqual(of_body("log(a < b);"), [])

    def test_other_processors(self):
        text = ("#if defined(__x86_64__)\nint a = 1;\n#elif defined(__aarch64__)\nint b = 2;\n"
                "#else\nint c = 3;\n#endif\n#ifdef UNKNOWN\nint d = 4;\n#else\nint e = 5;\n#endif\n"
                "#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)\nint f = 6;\n#endif\n")
        names = {t.text for t in tokenize(text) if len(t.text) == 1 and t.text.isalpha()}
        self.assertEqual(names, {"a", "d", "e", "f"})
        self.assertEqual(mutants.mutants_of("core/src/transfer/cpu/neon.cpp", text), [])


class Names(unittest.TestCase):
    TEXT = ("namespace a {\nstruct b {\n    int c(int x) const { return x + 1; }\n};\n"
            "int b::d(int x) {\n    if (x) {\n        return x - 1;\n    }\n    return 0;\n}\n"
            "b::b(int x) : y_(x), z_{2} {\n    f();\n}\n}\n")

    def test_functions(self):
        found = {(m.function, m.operator) for m in mutants.mutants_of("core/src/some.cpp", self.TEXT)}
        self.assertIn(("c", "arithmetic"), found)
        self.assertIn(("b::d", "arithmetic"), found)
        self.assertIn(("b::b", "statement"), found)

    def test_names_outlive_other_lines(self):
        before = mutants.mutants_of("core/src/some.cpp", self.TEXT)
        after = mutants.mutants_of("core/src/some.cpp", "// new\n\nint other = f();\n" + self.TEXT)
        self.assertEqual([m.id for m in before], [m.id for m in after])
        self.assertEqual(len({m.id for m in before}), len(before))

    def test_the_same_line_twice(self):
        body = "void f() {\n    g(1);\n    g(1);\n}\n"
        found = mutants.mutants_of("core/src/some.cpp", body)
        self.assertEqual(len({m.id for m in found}), len(found))


class Choice(unittest.TestCase):
    def test_each_mutant_is_as_likely_as_any_other(self):
        sizes = {"a": 700, "b": 200, "c": 100, "d": 0}
        self.assertEqual(mutants.drawn(sizes, 5000, "1"), {"a": 700, "b": 200, "c": 100})
        some = mutants.drawn(sizes, 500, "1")
        self.assertEqual(sum(some.values()), 500)
        for file, expected in (("a", 350), ("b", 100), ("c", 50)):
            self.assertLess(abs(some[file] - expected), 40, file)
        self.assertEqual(some, mutants.drawn(dict(reversed(sizes.items())), 500, "1"))
        self.assertNotEqual(some, mutants.drawn(sizes, 500, "2"))

    def test_the_order_is_the_seed_s(self):
        found = mutants.mutants_of("core/src/some.cpp", Names.TEXT * 3)
        one, same, other = (mutants.in_turn(found, seed) for seed in ("1", "1", "2"))
        self.assertEqual([m.id for m in one], [m.id for m in same])
        self.assertNotEqual([m.id for m in one], [m.id for m in other])
        self.assertEqual(sorted(m.id for m in one), sorted(m.id for m in found))

    def test_every_file_of_ours(self):
        found = mutants.all_mutants(ROOT)
        ids = [m.id for all_ in found.values() for m in all_]
        self.assertGreater(len(ids), 2000)
        self.assertEqual(len(set(ids)), len(ids))
        # Every folder with code takes part, by its weight in mutants.
        usual = {f: len(all_) for f, all_ in found.items() if mutants.is_below(f, mutants.USUAL)}
        drawn = mutants.drawn(usual, 240, "1")
        self.assertEqual(sum(drawn.values()), 240)
        drawn_of_some = {f for seed in "12345" for f in mutants.drawn(usual, 240, seed)}
        for folder in ("core/src/api", "core/src/transfer/engine", "core/src/driver", "core/src/map", *rooms.LIBRARIES, "python/binding",
                       "pygpu/runtime", "python/barmap"):
            self.assertTrue(any(mutants.is_below(f, [folder]) for f in drawn_of_some), folder)
        code = {".cpp", ".hpp", ".cuh", ".c", ".h", ".py"}
        files = {str(path.relative_to(ROOT)) for folder in ("core/src", *rooms.GROUND, *rooms.LIBRARIES, *rooms.EXTENSION)
                 for path in rooms.files_in(ROOT / folder, *code)}
        self.assertLessEqual(files - set(mutants.INSTRUCTIONS), set(found), "a file of ours is never looked at")
        self.assertTrue(any(m.operator == "fence" for m in found["core/src/transfer/cpu/fence.hpp"]))
        self.assertTrue(any(m.function == "post_line" for m in found["core/include/barmap/copy.hpp"]))
        self.assertTrue(any(m.function == "load_acquire" for m in found["core/include/barmap/gpu/words.cuh"]))
        self.assertTrue(any(m.function == "include_dir" for m in found["python/barmap/_base/headers.py"]))
        self.assertTrue(mutants.is_below("core/include/barmap/gpu/words.cuh", mutants.USUAL))
        self.assertFalse(mutants.is_below("core/include/barmap/copy.hpp", mutants.USUAL))
        for file in mutants.USUAL:
            self.assertTrue((ROOT / file).exists(), file)


class Tests(unittest.TestCase):
    def test_results(self):
        with tempfile.TemporaryDirectory() as folder:
            place = workplace.Place(ROOT, Path(folder))

            def result(script: str, **how) -> str:
                test = workplace.Test("some", ["sh", "-c", script], folder, {}, **how)
                return place.run(test, 10)
            self.assertEqual(result("true"), "passed")
            self.assertEqual(result("exit 3"), "failed")
            self.assertEqual(result("exit 77", skip_code=77), "skipped")
            self.assertEqual(result("echo no GPU here; exit 3", says=["no GPU|NO_DEVICE"]), "passed")
            self.assertEqual(result("echo a GPU", says=["no GPU|NO_DEVICE"]), "failed")

    def test_headers_are_judged_by_some(self):
        with tempfile.TemporaryDirectory() as folder:
            place = workplace.Workplace(ROOT, Path(folder), [])
            def rank(target: str, file: str, name: str = "some") -> int | None:
                return place.rank(workplace.Test(name, [], folder, {}, targets=["barmap", target]), file)
            header = "core/include/barmap/ring.hpp"
            self.assertLess(rank("bin/memory_order_tests", header), rank("bin/contract_tests", header))
            self.assertLess(rank("bin/contract_tests", header), rank("", header, "layout.device_headers"))
            self.assertIsNone(rank("bin/sim_test", header))
            self.assertEqual(rank("bin/sim_test", "core/src/api/pin.cpp"), 0)
            # Folders of sources differ when one of their files does.
            file, sources = "core/include/barmap/gpu/words.cuh", "core/include/barmap/gpu"
            path = place.path_of(file)
            path.parent.mkdir(parents=True)
            path.write_text("one")
            place.pristine = {sources: place.fingerprint(sources)}
            self.assertEqual(place.make([sources]), (True, ""))
            self.assertFalse(place.changed(sources))
            place.put(file, "other")
            self.assertTrue(place.changed(sources))

    def test_python_that_means_the_same_is_not_counted(self):
        with tempfile.TemporaryDirectory() as folder:
            place = python_place.PythonPlace(ROOT, Path(folder))
            package = place.venv / "lib/python3.1/site-packages"
            shutil.copytree(ROOT / python_place.PACKAGE, package / "barmap")
            shutil.copytree(ROOT / python_place.COMPAT, package, dirs_exist_ok=True)
            place._install = lambda jobs: (True, "")
            file, text = "python/barmap/_base/numbers.py", (ROOT / "python/barmap/_base/numbers.py").read_text()
            self.assertFalse(place.changed(python_place.PACKAGE))
            place.put(file, text + "# more\n")
            self.assertFalse(place.changed(python_place.PACKAGE))
            place.put(file, text + "more = 1\n")
            self.assertTrue(place.changed(python_place.PACKAGE))
            place.put(file, text + "1 +\n")
            self.assertFalse(place.make([])[0])
            place.restore(file)
            self.assertTrue(place.make([])[0])


class Report(unittest.TestCase):
    @staticmethod
    def row(name: str, verdict: str) -> dict:
        return {"id": name, "file": "core/src/a.cpp", "line": 1, "function": "f", "operator": "value",
                "verdict": verdict, "by": "", "seconds": 1, "original": name, "mutated": "x"}

    def test_what_counts(self):
        rows = [self.row("a", "killed"), self.row("b", "timeout"), self.row("c", "survived"),
                self.row("d", "survived"), self.row("e", "invalid"), self.row("f", "same")]
        why = {("core/src/a.cpp", "f", "c", "x"): "nothing reads it"}
        text = report.summary(rows, why, "run.py", 3, "abc")
        self.assertIn("killed: 2 of 4 (50.0 %), 1 of them", text)
        self.assertIn("killed, without those explained: 2 of 3 (66.7 %)", text)
        self.assertIn("nothing reads it", text)

    def test_a_partial_run_keeps_the_others(self):
        existing = {"core/src/some.cpp": mutants.mutants_of("core/src/some.cpp", Names.TEXT)}
        one, two = existing["core/src/some.cpp"][:2]
        with tempfile.TemporaryDirectory() as folder:
            def write(rows, partial):
                with contextlib.redirect_stdout(None):
                    report.write(ROOT, Path(folder), rows, existing, partial,
                                 "run.py", 1)
            write([self.row(one.id, "survived"), self.row(two.id, "survived"),
                   self.row("gone", "survived")], False)
            readme = Path(folder) / "README.md"
            readme.write_text(f"superseded\n\n{report.BY_HAND}\nby hand\n")
            write([self.row(one.id, "killed")], True)
            table = {r["id"]: r["verdict"] for r in report.read_table(Path(folder))}
            text = readme.read_text()
        self.assertEqual(table, {one.id: "killed", two.id: "survived"})
        self.assertNotIn("superseded", text)
        self.assertTrue(text.endswith(f"\n\n{report.BY_HAND}\nby hand\n"), text)

    def test_the_explanations_are_whole(self):
        for name, why in report.explanations(ROOT / report.EXPLAINED).items():
            self.assertTrue((ROOT / name[0]).is_file(), name)
            self.assertTrue(why)


if __name__ == "__main__":
    unittest.main()
