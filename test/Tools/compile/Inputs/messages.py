"""Reads what compile says to programs.

usage: messages.py PROGRAM BAD.mlir GOOD.mlir FOLDER
"""

import json
import os
import shutil
import subprocess
import sys

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


def check_fields(value, fields):
    for name, kind in fields.items():
        assert name in value, (name, value)
        assert isinstance(value[name], kind), (name, value[name])


SPAN = {"file_name": str, "byte_start": int, "byte_end": int, "line_start": int,
        "line_end": int, "column_start": int, "column_end": int,
        "is_primary": bool, "text": list, "label": (str, type(None)),
        "suggested_replacement": (str, type(None)),
        "suggestion_applicability": (str, type(None)),
        "expansion": (dict, type(None))}
DIAGNOSTIC = {"message": str, "code": (dict, type(None)), "level": str,
              "spans": list, "children": list, "rendered": (str, type(None))}
TARGET = {"kind": list, "crate_types": list, "name": str, "src_path": str,
          "edition": str, "doc": bool, "doctest": bool, "test": bool}
MESSAGE = {"package_id": str, "manifest_path": str, "target": dict,
           "message": dict}
ARTIFACT = {"package_id": str, "manifest_path": str, "target": dict,
            "profile": dict, "features": list, "filenames": list,
            "executable": (str, type(None)), "fresh": bool}
PROFILE = {"opt_level": str, "debuginfo": int, "debug_assertions": bool,
           "overflow_checks": bool, "test": bool}


def check_diagnostic(diagnostic):
    check_fields(diagnostic, DIAGNOSTIC)
    assert diagnostic["level"] in ("error", "warning", "note", "help")
    if diagnostic["code"] is not None:
        check_fields(diagnostic["code"],
                     {"code": str, "explanation": (str, type(None))})
    for span in diagnostic["spans"]:
        check_fields(span, SPAN)
        for line in span["text"]:
            check_fields(line, {"text": str, "highlight_start": int,
                                "highlight_end": int})
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
        if line["reason"] == "compiler-message":
            check_fields(line, MESSAGE)
            check_fields(line["target"], TARGET)
            check_diagnostic(line["message"])
        elif line["reason"] == "compiler-artifact":
            check_fields(line, ARTIFACT)
            check_fields(line["target"], TARGET)
            check_fields(line["profile"], PROFILE)
        else:
            assert line["reason"] == "build-finished", line
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
code, out, err = compile_with("sarif", good, bad)
log = json.loads(out)
assert code == 1 and log["version"] == "2.1.0"
assert log["$schema"].endswith("sarif-2.1.0.json")
(run,) = log["runs"]
check_fields(run["tool"]["driver"], {"name": str, "version": str, "rules": list})
assert run["invocations"] == [{"executionSuccessful": False}]
assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["TU-29", "MA-7"]
result = run["results"][0]
assert result["ruleId"] == "TU-29" and result["level"] == "error"
place = result["locations"][0]["physicalLocation"]
assert place["region"]["startLine"] == 33
assert place["region"]["startColumn"] == 28
assert place["artifactLocation"]["uri"].startswith("file:///")
code, out, err = compile_with("sarif", good)
assert code == 0 and json.loads(out)["runs"][0]["results"] == []
