# furiosa_add_library(name sources... LINK libs...)
# A plain C++ library of this project, without MLIR.
function(furiosa_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  llvm_update_compile_flags(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
endfunction()

# furiosa_add_tool(name sources... LINK libs...)
# A program in build/bin.
function(furiosa_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_llvm_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  llvm_update_compile_flags(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
endfunction()

# furiosa_add_c_program(name sources... LINK libs...)
# A program in C, in build/bin.
function(furiosa_add_c_program name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wpedantic)
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  set_target_properties(${name} PROPERTIES
    C_STANDARD 99
    LINKER_LANGUAGE CXX
    RUNTIME_OUTPUT_DIRECTORY ${LLVM_RUNTIME_OUTPUT_INTDIR})
endfunction()

# furiosa_add_unittest(name sources... LINK libs... LABELS labels...)
# A GoogleTest program; each of its tests is a ctest test.
function(furiosa_add_unittest name)
  cmake_parse_arguments(ARG "" "" "LINK;LABELS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  llvm_update_compile_flags(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest_main)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/unittests)
  set(properties)
  if(ARG_LABELS)
    set(properties PROPERTIES LABELS "${ARG_LABELS}")
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 ${properties})
endfunction()

# furiosa_tablegen_dialect(Target dialect TypeAndAttributeFile)
# Generates what one dialect's <file>.td declares beside its ops.
function(furiosa_tablegen_dialect target dialect file)
  set(LLVM_TARGET_DEFINITIONS ${file}.td)
  mlir_tablegen(${file}Dialect.h.inc -gen-dialect-decls -dialect=${dialect})
  mlir_tablegen(${file}Dialect.cpp.inc -gen-dialect-defs -dialect=${dialect})
  mlir_tablegen(${file}Enums.h.inc -gen-enum-decls)
  mlir_tablegen(${file}Enums.cpp.inc -gen-enum-defs)
  mlir_tablegen(${file}Attributes.h.inc -gen-attrdef-decls -attrdefs-dialect=${dialect})
  mlir_tablegen(${file}Attributes.cpp.inc -gen-attrdef-defs -attrdefs-dialect=${dialect})
  mlir_tablegen(${file}Types.h.inc -gen-typedef-decls -typedefs-dialect=${dialect})
  mlir_tablegen(${file}Types.cpp.inc -gen-typedef-defs -typedefs-dialect=${dialect})
  mlir_tablegen(${file}OpInterfaces.h.inc -gen-op-interface-decls)
  mlir_tablegen(${file}OpInterfaces.cpp.inc -gen-op-interface-defs)
  add_public_tablegen_target(${target})
  add_dependencies(mlir-headers ${target})
endfunction()

# furiosa_tablegen_ops(Target files...)
# Generates the ops of each file into an include of its own, so that a dialect
# compiles one engine at a time.
function(furiosa_tablegen_ops target)
  foreach(file IN LISTS ARGN)
    set(LLVM_TARGET_DEFINITIONS ${file}.td)
    mlir_tablegen(${file}.h.inc -gen-op-decls)
    mlir_tablegen(${file}.cpp.inc -gen-op-defs)
  endforeach()
  add_public_tablegen_target(${target})
  add_dependencies(mlir-headers ${target})
endfunction()

# furiosa_precompile_mlir(targets...)
# Parses MLIR's headers once for all of these targets: a third of the time of
# a file that uses them. Every file still includes what it uses; the `gcc`
# preset compiles without precompiled headers and shows what is missing.
function(furiosa_precompile_mlir)
  foreach(target IN LISTS ARGN)
    if(TARGET obj.${target})
      set(target obj.${target})
    endif()
    target_precompile_headers(${target} REUSE_FROM FuriosaPrecompiled)
  endforeach()
endfunction()
