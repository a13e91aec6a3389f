"""Reads what compile says to programs, and checks it against
docs/messages.schema.json and the structure of SARIF.

usage: messages.py PROGRAM BAD.mlir GOOD.mlir FOLDER
"""

import copy
import json
import os
import shutil
import subprocess
import sys

import schema as jsonschema

program, bad, good, folder = sys.argv[1:]
program = shutil.which(program)
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)


def compile_with(style, *sources):
    run = subprocess.run(
        [program, "compile", *sources, "-o", os.path.join(folder, "out"),
         "--message-format", style], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE)
    # JSON is UTF-8, whatever the names hold.
    return run.returncode, run.stdout.decode("utf-8"), run.stderr


LINE = jsonschema.load_documented("messages")
SARIF = jsonschema.load(os.path.join(os.path.dirname(__file__), "sarif.schema.json"))


def check_diagnostic(diagnostic):
    for span in diagnostic["spans"]:
        # What is marked is there, byte for byte.
        if os.path.exists(span["file_name"]) and span["text"]:
            with open(span["file_name"], "rb") as file:
                data = file.read()
            marked = data[span["byte_start"]:span["byte_end"]]
            line = span["text"][0]
            assert marked.decode("utf-8", "replace") == line["text"][
                span["column_start"] - 1:span["column_end"] - 1], span
            assert data[:span["byte_start"]].count(b"\n") + 1 == \
                span["line_start"], span
    for child in diagnostic["children"]:
        check_diagnostic(child)


def read_lines(text):
    lines = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        jsonschema.validate(line, LINE)
        if line["reason"] == "compiler-message":
            check_diagnostic(line["message"])
    assert [line["reason"] for line in lines].index("build-finished") == \
        len(lines) - 1
    return lines


# A good kernel and a bad one of two.
code, out, err = compile_with("json", good, bad)
lines = read_lines(out)
assert code == 1 and lines[-1]["success"] is False
artifacts = [line for line in lines if line["reason"] == "compiler-artifact"]
assert [line["target"]["name"] for line in artifacts] == \
    ["gemm_i8", "outer::good"]
assert all(os.path.exists(line["filenames"][0]) for line in artifacts)
messages = [line for line in lines if line["reason"] == "compiler-message"]
assert len(messages) == 2
first = messages[0]["message"]
assert first["level"] == "error" and first["code"]["code"] == "TU-29"
assert messages[0]["package_id"] == "package"
assert messages[0]["target"]["name"] == "outer::bad"
span = first["spans"][0]
assert (span["line_start"], span["column_start"]) == (33, 28), span
assert first["rendered"].splitlines()[0].startswith(bad + ":33:28: error: ")
assert messages[1]["message"]["code"]["code"] == "MA-7"
# The table is for humans.
assert b"2 compiled, 0 cached, 1 failed" in err

# All good.
code, out, err = compile_with("json", good)
assert code == 0 and read_lines(out)[-1] == {"reason": "build-finished",
                                             "success": True}

# Notes are children.
run = subprocess.run([program, "compile", good, "--release", "0.3", "-o", folder,
                      "--message-format", "json"], stdout=subprocess.PIPE,
                     stderr=subprocess.DEVNULL, text=True)
(message,) = [line["message"] for line in read_lines(run.stdout)
              if line["reason"] == "compiler-message"]
assert message["code"] is None, message
assert [child["level"] for child in message["children"]] == ["note"] * 3
assert all(child["spans"] for child in message["children"])

# The rule stands behind the op, or behind what parses its text.
parts = folder + "/rules.mlir"
with open(bad, encoding="utf-8") as file:
    text = file.read()
assert text.count('packet "A %8"') == 1
for changed, rule in ((text.replace('packet "A %8"', 'packet "A %"'), "MA-2"),
                      (text.replace('"A", #axes', '"TU-3", #axes'), "MA-3")):
    with open(parts, "w", encoding="utf-8") as file:
        file.write(changed)
    code, out, err = compile_with("json", parts)
    found = read_lines(out)[0]["message"]
    assert found["code"]["code"] == rule, found
    code, out, err = compile_with("sarif", parts)
    assert json.loads(out)["runs"][0]["results"][0]["ruleId"] == rule
# What a message quotes is no rule.
code, out, err = compile_with("json", good, "TU-31")
assert read_lines(out)[0]["message"]["code"] is None, out

# What cannot be read or parsed, and what is selected wrongly.
for source in folder + "/none.mlir", folder + "/syntax.mlir":
    with open(folder + "/syntax.mlir", "w", encoding="utf-8") as file:
        file.write("func.func @f(\n")
    code, out, err = compile_with("json", source)
    assert code == 1
    assert read_lines(out)[0]["message"]["level"] == "error"
code, out, err = compile_with("json", good, "xyzzy")
assert code == 1 and "xyzzy" in read_lines(out)[0]["message"]["message"]

# Any bytes: in the name of the file, of the module and of the kernel, in the
# line of the excerpt; columns count characters.
strange = os.path.join(os.fsencode(folder), b"\xff \xc3\xa9\x1b\n.mlir")
with open(strange, "wb") as file:
    file.write(b'module @"p\\FF" { func.func @"k\\FE\\0A\\22"() -> i32 attributes '
               b'{visa.kernel, x = "\xc3\xa9\xff"} { return } }\n')
run = subprocess.run([os.fsencode(program), b"compile", strange, b"-o",
                      os.fsencode(folder), b"--message-format", b"json"],
                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
assert run.returncode == 1, run
lines = [json.loads(line) for line in run.stdout.decode("utf-8").splitlines()]
assert lines[0]["target"]["name"] == 'k\ufffd\n"', lines[0]
assert lines[0]["package_id"] == "p\ufffd"
span = lines[0]["message"]["spans"][0]
with open(strange, "rb") as file:
    text = file.read()
assert text[span["byte_start"]:].startswith(b"return"), span
line = text.split(b"\n")[0].decode("utf-8", "replace")
assert line[span["column_start"] - 1:].startswith("return"), span
# In the table a name is one line.
assert rb'k\xFE\x0A"' in run.stderr, run.stderr
with open(strange, "wb") as file:
    file.write(b'func.func @"k\\FE\\0A\\22"() attributes {visa.kernel} { return }\n')
run = subprocess.run([os.fsencode(program), b"compile", strange, b"-o",
                      os.fsencode(folder)], stdout=subprocess.PIPE)
assert run.returncode == 0, run
assert os.path.exists(os.path.join(os.fsencode(folder), b'k\xfe\n".edf'))

# SARIF 2.1.0.
def compile_to_sarif(*sources):
    code, out, err = compile_with("sarif", *sources)
    log = json.loads(out)
    jsonschema.validate(log, SARIF)
    assert log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    # What is named is there.
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert set(rules) == {result["ruleId"] for result in run["results"]
                          if "ruleId" in result}
    return code, run, rules


code, run, rules = compile_to_sarif(good, bad)
assert code == 1
assert run["invocations"] == [{"executionSuccessful": False}]
assert rules == ["TU-29", "MA-7"]
result = run["results"][0]
assert result["ruleId"] == "TU-29" and result["level"] == "error"
place = result["locations"][0]["physicalLocation"]
assert place["region"]["startLine"] == 33
assert place["region"]["startColumn"] == 28
assert place["artifactLocation"]["uri"].startswith("file:///")
assert [note["message"]["text"] for note in result["relatedLocations"]] == \
    ['"A / 16" has 128 positions, "1" has 1']
code, run, rules = compile_to_sarif(good)
assert code == 0 and run["results"] == rules == []
assert run["invocations"] == [{"executionSuccessful": True}]
# What has no place, a file as a whole, a strange name.
compile_to_sarif(good, "xyzzy")
compile_to_sarif(folder + "/none.mlir")
with open(strange, "wb") as file:
    file.write(b"func.func @f(")
code, run, rules = compile_to_sarif(os.fsdecode(strange))
uri = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
assert uri.endswith("/%FF%20%C3%A9%1B%0A.mlir"), uri


# The schemas are not satisfied by just anything.
def refuses(schema, value, change):
    damaged = copy.deepcopy(value)
    change(damaged)
    try:
        jsonschema.validate(damaged, schema)
    except AssertionError:
        return True
    return False


code, out, err = compile_with("json", bad)
line = next(line for line in read_lines(out) if line["reason"] == "compiler-message")
assert refuses(LINE, line, lambda m: m.pop("package_id"))
assert refuses(LINE, line, lambda m: m["message"].update(level="fatal"))
assert refuses(LINE, line, lambda m: m["message"]["spans"][0].pop("byte_start"))
assert refuses(LINE, line, lambda m: m["message"]["children"][0].update(a=1))
code, out, err = compile_with("sarif", bad)
log = json.loads(out)
assert refuses(SARIF, log, lambda s: s.update(version="2.0.0"))
assert refuses(SARIF, log, lambda s: s["runs"][0]["results"][0].pop("message"))
assert refuses(SARIF, log, lambda s: s["runs"][0]["results"][0].update(level="fatal"))
