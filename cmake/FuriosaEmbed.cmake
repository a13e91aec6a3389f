# cmake -D INPUT= -D SYMBOL= -D SOURCE= -D HEADER= -P FuriosaEmbed.cmake
# Writes the bytes of a file as an array in C, which is C++ as well.
get_filename_component(header "${HEADER}" NAME)
file(READ "${INPUT}" bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE "${HEADER}" "#ifndef FURIOSA_KERNEL_${SYMBOL}_H
#define FURIOSA_KERNEL_${SYMBOL}_H

#include <stddef.h>

#ifdef __cplusplus
extern \"C\" {
#endif

extern const unsigned char ${SYMBOL}_edf[];
extern const size_t ${SYMBOL}_edf_size;

#ifdef __cplusplus
}
#endif

#endif
")
file(WRITE "${SOURCE}" "#include \"include/${header}\"

const unsigned char ${SYMBOL}_edf[] = {
${bytes}
};
const size_t ${SYMBOL}_edf_size = ${size};
")
