# furiosa_add_kernel(NAME SOURCE FILE [KERNEL FULL_NAME] [OUTPUT FILE]
#                    [RELEASE RELEASE] [OPTIONS options...] [EMBED]
#                    [DESTINATION DIR])
# Compiles one kernel of a textual or bytecode module to an EDF file.
#
#   SOURCE       the .mlir or .mlirbc file, relative to the source folder
#   KERNEL       its full name, module::function; default NAME
#   OUTPUT       default NAME.edf, relative to the binary folder
#   RELEASE      compile for this release, whatever visa.target says
#   OPTIONS      more options of `furiosa-opt-mlir compile`
#   EMBED        NAME is a static library that holds the bytes; NAME.h declares
#                `const unsigned char NAME_edf[]` and `const size_t NAME_edf_size`
#   DESTINATION  install the EDF file there
#
# The target NAME is part of `all`; its property FURIOSA_EDF is the EDF file. It
# is made again when the source, what it depends on, or the compiler changes.
function(furiosa_add_kernel name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "EMBED"
    "SOURCE;KERNEL;OUTPUT;RELEASE;DESTINATION" "OPTIONS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR
      "furiosa_add_kernel(${name}): unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(ARG_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR
      "furiosa_add_kernel(${name}): no value for ${ARG_KEYWORDS_MISSING_VALUES}")
  endif()
  if(NOT ARG_SOURCE)
    message(FATAL_ERROR "furiosa_add_kernel(${name}): SOURCE is missing")
  endif()
  if(NOT ARG_KERNEL)
    set(ARG_KERNEL ${name})
  endif()
  if(NOT ARG_OUTPUT)
    set(ARG_OUTPUT ${name}.edf)
  endif()
  if(NOT ARG_OUTPUT MATCHES "\\.edf$")
    message(FATAL_ERROR
      "furiosa_add_kernel(${name}): OUTPUT does not end in .edf: ${ARG_OUTPUT}")
  endif()
  set(release)
  if(ARG_RELEASE)
    set(release --release ${ARG_RELEASE})
  endif()
  get_filename_component(source "${ARG_SOURCE}" ABSOLUTE
    BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  get_filename_component(output "${ARG_OUTPUT}" ABSOLUTE
    BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")

  add_custom_command(OUTPUT "${output}"
    COMMAND Furiosa::furiosa-opt-mlir compile "${source}" --exact "${ARG_KERNEL}"
      -o "${output}" --MF "${output}.d" --quiet ${release} ${ARG_OPTIONS}
    DEPENDS "${source}" Furiosa::furiosa-opt-mlir
    DEPFILE "${output}.d"
    COMMENT "Compiling kernel ${ARG_KERNEL}"
    VERBATIM)

  if(ARG_EMBED)
    string(MAKE_C_IDENTIFIER "${name}" symbol)
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    set(suffix c)
    if(NOT "C" IN_LIST languages)
      set(suffix cpp)
    endif()
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/${name}.dir")
    set(embed "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/FuriosaEmbed.cmake")
    add_custom_command(
      OUTPUT "${folder}/${name}.${suffix}" "${folder}/include/${name}.h"
      COMMAND "${CMAKE_COMMAND}" -D "INPUT=${output}" -D "SYMBOL=${symbol}"
        -D "SOURCE=${folder}/${name}.${suffix}"
        -D "HEADER=${folder}/include/${name}.h" -P "${embed}"
      DEPENDS "${output}" "${embed}"
      COMMENT "Embedding kernel ${ARG_KERNEL}"
      VERBATIM)
    add_library(${name} STATIC
      "${folder}/${name}.${suffix}" "${folder}/include/${name}.h")
    target_include_directories(${name} PUBLIC
      "$<BUILD_INTERFACE:${folder}/include>")
  else()
    add_custom_target(${name} ALL DEPENDS "${output}")
  endif()
  set_target_properties(${name} PROPERTIES FURIOSA_EDF "${output}")
  if(ARG_DESTINATION)
    install(FILES "${output}" DESTINATION "${ARG_DESTINATION}")
  endif()
endfunction()
