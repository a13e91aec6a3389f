# Configuration of the lit test suite.

import os
import shutil

import lit.formats
from lit.llvm import llvm_config

config.name = "FURIOSA"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "CMakeLists.txt", "vectors"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.furiosa_obj_root, "test")

# Browsers are there for the schedule viewer alone.
chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser",
                                                "google-chrome"))), None)
if chromium:
    config.available_features.add("chromium")
    config.substitutions.append(("%chromium", chromium))

if shutil.which("zsh"):
    config.available_features.add("zsh")

if "Address" in config.furiosa_sanitizer:
    config.available_features.add("asan")

llvm_config.use_default_substitutions()
llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
llvm_config.with_environment("PATH", config.furiosa_tools_dir, append_path=True)
# Tests of the cache name a folder of their own.
config.environment["FURIOSA_OPT_CACHE_DIR"] = ""
config.substitutions.append(
    ("%examples", os.path.join(config.furiosa_src_root, "examples"))
)
config.substitutions.append(("%tools_dir", config.furiosa_tools_dir))
llvm_config.add_tool_substitutions(
    ["furiosa-opt-mlir", "furiosa-translate", "furiosa-run", "furiosa-lsp-server",
     "furiosa-capi-example", "furiosa-capi-test"],
    [config.furiosa_tools_dir],
)
