// What goes from time into freed slices may be a digit that the axis of the
// groups cuts, or a part of one, with padding in time or in the slices.
// RUN: furiosa-run --check %s --kernel pair iota | FileCheck %s --check-prefix=PAIR
// RUN: furiosa-run --check %s --kernel part iota | FileCheck %s --check-prefix=PART
// RUN: furiosa-run --check %s --kernel padded iota | FileCheck %s --check-prefix=PADDED
// RUN: furiosa-run --check %s --kernel dummy iota | FileCheck %s --check-prefix=DUMMY

// Four slices and both groups of step 0: 8 elements from r * 64 and on,
// r * 64 + 8: 4 * 2 a + 64 * 12 + 32.
// PAIR: interpreter and simulator agree
// PAIR: 800 808 816 824 832 840 848 856
#pair = #tmap.axes<N = 64, R = 4, T = 4, I = 2, A = 8>
!pi = !visa.hbm<i32, element "N, R, T, I, A", #pair>
!pd = !visa.dm<i32, slice "N, R", element "T, I, A", #pair>
!pr = !visa.dm<i32, slice "N, T", element "A", #pair>
!po = !visa.hbm<i32, element "N, T, A", #pair>
func.func @pair(%i: !pi) -> !po attributes {visa.kernel} {
  %d = visa.to_dm %i : !pi -> !pd
  %r = visa.chain main -> !pr {
    fetch %d time "T / 2, I, T % 2" packet "A" : !pd
    collect time "T / 2, I, T % 2" packet "A"
    vector_init
    vector_unzip axis "I" time "T"
    vector_zip clip add
    vector_inter_slice_reduce add slice "N, T" time "1"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  %o = visa.to_hbm %r : !pr -> !po
  return %o : !po
}

// 4 a + 64 * 6.
// PART: interpreter and simulator agree
// PART: 384 388 392 396 400 404 408 412
#part = #tmap.axes<N = 64, R = 4, T = 8, A = 8>
!ti = !visa.hbm<i32, element "N, R, T, A", #part>
!td = !visa.dm<i32, slice "N, R", element "T, A", #part>
!tr = !visa.dm<i32, slice "N, T / 2 % 4", element "T % 2, A", #part>
!to = !visa.hbm<i32, element "N, T, A", #part>
func.func @part(%i: !ti) -> !to attributes {visa.kernel} {
  %d = visa.to_dm %i : !ti -> !td
  %r = visa.chain main -> !tr {
    fetch %d time "T" packet "A" : !td
    collect time "T" packet "A"
    vector_init
    vector_inter_slice_reduce add slice "N, T / 2 % 4" time "T % 2"
    vector_final
    commit_trim packet "A"
    commit element "T % 2, A"
  }
  %o = visa.to_hbm %r : !tr -> !to
  return %o : !to
}

// Three steps padded to four: 4 a + 24 * 6.
// PADDED: interpreter and simulator agree
// PADDED: 144 148 152 156 160 164 168 172
#padded = #tmap.axes<N = 64, R = 4, T = 3, A = 8>
!di = !visa.hbm<i32, element "N, R, T, A", #padded>
!dd = !visa.dm<i32, slice "N, R", element "T # 4, A", #padded>
!dr = !visa.dm<i32, slice "N, 1 # 2, T # 4 % 2", element "T # 4 / 2, A", #padded>
!do = !visa.hbm<i32, element "N, T, A", #padded>
func.func @padded(%i: !di) -> !do attributes {visa.kernel} {
  %d = visa.to_dm %i : !di -> !dd
  %r = visa.chain main -> !dr {
    fetch %d time "T # 4" packet "A" : !dd
    collect time "T # 4" packet "A"
    vector_init
    vector_inter_slice_reduce add slice "N, 1 # 2, T # 4 % 2" time "T # 4 / 2"
    vector_final
    commit_trim packet "A"
    commit element "T # 4 / 2, A"
  }
  %o = visa.to_hbm %r : !dr -> !do
  return %o : !do
}

// Slices that are padding leave the other digit in time: 4 a + 32 * 6.
// DUMMY: interpreter and simulator agree
// DUMMY: 192 196 200 204 208 212 216 220
#dummy = #tmap.axes<N = 64, R = 4, T = 4, A = 8>
!mi = !visa.hbm<i32, element "N, R, T, A", #dummy>
!md = !visa.dm<i32, slice "N, R", element "T, A", #dummy>
!mr = !visa.dm<i32, slice "N, 1 # 2, T % 2", element "T / 2, A", #dummy>
!mo = !visa.hbm<i32, element "N, T, A", #dummy>
func.func @dummy(%i: !mi) -> !mo attributes {visa.kernel} {
  %d = visa.to_dm %i : !mi -> !md
  %r = visa.chain main -> !mr {
    fetch %d time "T" packet "A" : !md
    collect time "T" packet "A"
    vector_init
    vector_inter_slice_reduce add slice "N, 1 # 2, T % 2" time "T / 2"
    vector_final
    commit_trim packet "A"
    commit element "T / 2, A"
  }
  %o = visa.to_hbm %r : !mr -> !mo
  return %o : !mo
}
