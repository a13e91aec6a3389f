// Faults of axes, mappings and tensors in IR, a rule each.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

// MA-1
// expected-error @below {{MA-1: a mapping is expected here; '1' is the identity}}
func.func private @f() attributes {m = #tmap.mapping<"", #tmap.axes<N = 8>>}

// -----

// MA-2
// expected-error @below {{MA-2: expected a number after the operator, found the end of the text}}
func.func private @f() attributes {m = #tmap.mapping<"N /", #tmap.axes<N = 8>>}

// -----

// MA-3
// expected-error @below {{MA-3: unexpected character '*' in a mapping; a product is written with a comma}}
func.func private @f() attributes {m = #tmap.mapping<"N * 2", #tmap.axes<N = 8>>}

// -----

// MA-3: an escape would shift columns.
// expected-error @below {{MA-3: escapes are not allowed in a mapping}}
func.func private @f() attributes {m = #tmap.mapping<"\4E", #tmap.axes<N = 8>>}

// -----

// MA-4
// expected-error @below {{MA-4: ')' closes '[' of column 1; write ']'}}
func.func private @f() attributes {m = #tmap.mapping<"[N)", #tmap.axes<N = 8>>}

// -----

// MA-5
// expected-error @below {{MA-5: '1_000' is not a plain decimal number; write digits only}}
func.func private @f() attributes {m = #tmap.mapping<"N # 1_000", #tmap.axes<N = 8>>}

// -----

// MA-6
// expected-error @below {{MA-6: 'n' is not an axis name; names start with an upper-case letter}}
func.func private @f() attributes {m = #tmap.mapping<"n", #tmap.axes<N = 8>>}

// -----

// MA-6: in a declaration.
// expected-error @below {{MA-6: 'n' is not an axis name; names are letters, digits and '_', starting with an upper-case letter}}
func.func private @f() attributes {m = #tmap.axes<n = 8>}

// -----

// MA-7
// expected-error @below {{MA-7: axis 'Q' is not declared; declared are N}}
func.func private @f() attributes {m = #tmap.mapping<"Q", #tmap.axes<N = 8>>}

// -----

// MA-7: named mappings stand for resolved text, which IR holds.
// expected-error @below {{MA-7: named mappings are not resolved here; write out mapping 'Rows' in brackets}}
func.func private @f() attributes {m = #tmap.mapping<"{Rows}", #tmap.axes<N = 8>>}

// -----

// MA-7: and so do constants.
// expected-error @below {{MA-7: escapes are not resolved here; write the number 8}}
func.func private @f() attributes {m = #tmap.mapping<"N / {N::SIZE}", #tmap.axes<N = 8>>}

// -----

// MA-8
// expected-error @below {{MA-8: '/ 3' does not divide a size of 8; 2 and 4 divide it, or pad it with '# 9' first}}
func.func private @f() attributes {m = #tmap.mapping<"N / 3", #tmap.axes<N = 8>>}

// -----

// MA-9
// expected-error @below {{MA-9: '= 9' exceeds a size of 8; padding is '# 9'}}
func.func private @f() attributes {m = #tmap.mapping<"N = 9", #tmap.axes<N = 8>>}

// -----

// MA-10
// expected-error @below {{MA-10: '# 7' is below a size of 8; shrinking is '= 7'}}
func.func private @f() attributes {m = #tmap.mapping<"N # 7", #tmap.axes<N = 8>>}

// -----

// MA-11
// expected-error @below {{MA-11: the sizes at the comma, 4611686018427387904 and 2, have a product of 9223372036854775808 or more; sizes stay below}}
func.func private @f() attributes {m = #tmap.mapping<"N, 2", #tmap.axes<N = 4611686018427387904>>}

// -----

// MA-12
// expected-error @below {{MA-12: axis 'N' is declared twice, with sizes 8 and 4; drop one}}
func.func private @f() attributes {m = #tmap.axes<N = 8, N = 4>}

// -----

// MA-12
// expected-error @below {{MA-12: axis N has size 0, expected at least 1}}
func.func private @f() attributes {m = #tmap.axes<N = 0>}

// -----

// MA-13: a tensor's mapping is a product of digits.
// expected-error @below {{MA-13: % 9 cuts across rows of 6 cells; cut at a multiple of 6, or inside one row (3 divides both)}}
func.func private @f(!tmap.tensor<i8, "[A, B] % 9", #tmap.axes<A = 3, B = 6>>)

// -----

// MA-14
// expected-error @below {{MA-14: both digits of 'A #{0} 8' at 4 occur}}
func.func private @f(!tmap.tensor<i8, "A #{0} 8 / 4, A #{0} 8 % 4", #tmap.axes<A = 6>>)

// -----

// MA-15
// expected-error @below {{MA-15: 'A, A' steps twice through axis A}}
func.func private @f(!tmap.tensor<i8, "A, A", #tmap.axes<A = 6>>)

// -----

// expected-error @below {{expected an integer or float element type, found 'index'}}
func.func private @f(!tmap.tensor<index, "A", #tmap.axes<A = 6>>)
