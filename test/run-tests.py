#!/usr/bin/env python3
"""Runs the unit tests (ctest) and the lit tests of a build folder.

Prints what failed, and ends with one line "N passed, N failed" that counts
both. Exit status 0 if and only if nothing failed and something ran.
"""

import collections
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree


def run_ctest(build, jobs, env):
    """Passed and failed unit and integration tests."""
    report = os.path.join(build, "ctest.xml")
    if os.path.exists(report):
        os.remove(report)
    process = subprocess.run(
        ["ctest", "--test-dir", build, "-j", str(jobs), "--output-on-failure",
         "--no-tests=error", "--output-junit", os.path.abspath(report), "-Q"],
        env=env)
    if not os.path.exists(report):
        return 0, 1
    passed = failed = 0
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        if case.get("status") == "run":
            passed += 1
        elif case.get("status") != "disabled":
            failed += 1
            print(f"FAILED: {case.get('name')}")
            output = case.findtext("system-out") or ""
            print(output[-8000:])
    if process.returncode != 0 and failed == 0:
        failed = 1
    return passed, failed


def run_lit(build, jobs, env):
    """Passed and failed lit tests."""
    lit = "/usr/lib/llvm-22/bin/lit"
    report = os.path.join(build, "lit.json")
    if os.path.exists(report):
        os.remove(report)
    process = subprocess.run(
        [sys.executable, lit, "-sv", "-j", str(jobs), "-o", report,
         os.path.join(build, "test")], env=env)
    if not os.path.exists(report):
        return 0, 1
    with open(report, encoding="utf-8") as file:
        codes = collections.Counter(
            test["code"] for test in json.load(file)["tests"])
    passed = codes["PASS"] + codes["XFAIL"] + codes["FLAKYPASS"]
    failed = (codes["FAIL"] + codes["XPASS"] + codes["UNRESOLVED"] +
              codes["TIMEOUT"])
    if process.returncode != 0 and failed == 0:
        failed = 1
    if codes["UNSUPPORTED"]:
        print(f"{codes['UNSUPPORTED']} lit tests skipped, which want what is "
              "not here:")
        with open(report, encoding="utf-8") as file:
            for test in json.load(file)["tests"]:
                if test["code"] == "UNSUPPORTED":
                    print(f"  {test['name']}")
    return passed, failed


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: run-tests.py BUILD")
    build = sys.argv[1]
    jobs = os.cpu_count() or 1
    env = dict(os.environ)
    # Code inside the packaged archives is not instrumented.
    env.setdefault("ASAN_OPTIONS",
                   "allow_user_poisoning=0:detect_container_overflow=0")
    env.setdefault("UBSAN_OPTIONS", "print_stacktrace=1:halt_on_error=1")
    unit_passed, unit_failed = run_ctest(build, jobs, env)
    lit_passed, lit_failed = run_lit(build, jobs, env)
    passed, failed = unit_passed + lit_passed, unit_failed + lit_failed
    print(f"{passed} passed, {failed} failed", flush=True)
    sys.exit(0 if failed == 0 and passed > 0 else 1)


if __name__ == "__main__":
    main()
