// Where views begin: the worked examples V1 to V9, copied within HBM by bytes.
// RUN: furiosa-opt-mlir %s -split-input-file -convert-visa-to-lir | FileCheck %s

// V1: a column. 512 single bytes, 32 apart.
#axes = #tmap.axes<A = 512, B = 32>
!t = !visa.hbm<i8, element "A, B", #axes>
!v = !visa.hbm<i8, element "A, 1 # 32", #axes>
!o = !visa.hbm<i8, element "A", #axes>
// CHECK-LABEL: func.func @v1
// CHECK:         lir.dma %{{.*}} to %{{.*}} engines [#lir.engine<cluster 0 pe 0 from 5 to 0 loops [512 : 32 : 1] packet 1>]
func.func @v1(%t: !t) -> !o attributes {visa.kernel} {
  %v = visa.tile %t[5] along "B" take 1 : !t -> !v
  %o = visa.alloc : !o
  visa.copy %v into %o : !v, !o
  return %o : !o
}

// -----

// V2: offset 16 · i.
#axes = #tmap.axes<B = 32, D = 64>
!t = !visa.hbm<i8, element "B, D", #axes>
!v = !visa.hbm<i8, element "B, 1 # 4, D % 16", #axes>
!o = !visa.hbm<i8, element "B, D % 16", #axes>
// CHECK-LABEL: func.func @v2
// CHECK:         from 48 to 0 loops [32 : 64 : 16] packet 16>
func.func @v2(%t: !t) -> !o attributes {visa.kernel} {
  %v = visa.tile %t[3] along "D / 16" take 1 : !t -> !v
  %o = visa.alloc : !o
  visa.copy %v into %o : !v, !o
  return %o : !o
}

// -----

// V3: offset 512 · s; windows may overlap.
#axes = #tmap.axes<L = 768, A = 512>
!t = !visa.hbm<i8, element "L, A", #axes>
!v = !visa.hbm<i8, element "L = 256 # 768, A", #axes>
!o = !visa.hbm<i8, element "L = 256, A", #axes>
// CHECK-LABEL: func.func @v3
// CHECK:         from 1024 to 0 loops [32 : 4096 : 4096] packet 4096>
func.func @v3(%t: !t) -> !o attributes {visa.kernel} {
  %v = visa.tile %t[2] along "L" take 256 : !t -> !v
  %o = visa.alloc : !o
  visa.copy %v into %o : !v, !o
  return %o : !o
}

// -----

// V4: an inner digit, 8 blocks at stride 96.
#axes = #tmap.axes<L = 768>
!t = !visa.hbm<i8, element "L", #axes>
!v = !visa.hbm<i8, element "L / 96, L % 96 = 2 # 96", #axes>
!o = !visa.hbm<i8, element "L / 96, L % 96 = 2", #axes>
// CHECK-LABEL: func.func @v4
// CHECK:         from 4 to 0 loops [8 : 96 : 2] packet 2>
func.func @v4(%t: !t) -> !o attributes {visa.kernel} {
  %v = visa.tile %t[4] along "L % 96" take 2 : !t -> !v
  %o = visa.alloc : !o
  visa.copy %v into %o : !v, !o
  return %o : !o
}

// -----

// V5: 32 · i.
#axes = #tmap.axes<A = 8, B = 512>
!t = !visa.hbm<i8, element "A, B", #axes>
!v = !visa.hbm<i8, element "A, B / 32 = 2 # 16, B % 32", #axes>
!o = !visa.hbm<i8, element "A, B / 32 = 2, B % 32", #axes>
// CHECK-LABEL: func.func @v5
// CHECK:         from 448 to 0 loops [8 : 512 : 64] packet 64>
func.func @v5(%t: !t) -> !o attributes {visa.kernel} {
  %v = visa.tile %t[14] along "B / 32" take 2 : !t -> !v
  %o = visa.alloc : !o
  visa.copy %v into %o : !v, !o
  return %o : !o
}

// -----

// V6: a tile of a tile along the same index.
#axes = #tmap.axes<B = 528>
!t = !visa.hbm<i8, element "B", #axes>
!v = !visa.hbm<i8, element "B = 264 # 528", #axes>
!w = !visa.hbm<i8, element "B = 132 # 528", #axes>
!o = !visa.hbm<i8, element "B = 132", #axes>
// CHECK-LABEL: func.func @v6
// CHECK:         from 0 to 0 loops [] packet 132>
func.func @v6(%t: !t) -> !o attributes {visa.kernel} {
  %v = visa.tile %t[0] along "B" take 264 : !t -> !v
  %w = visa.tile %v[0] along "B = 264 # 528" take 132 : !v -> !w
  %o = visa.alloc : !o
  visa.copy %w into %o : !w, !o
  return %o : !o
}

// -----

// V7: an axis of one cell is nowhere.
#axes = #tmap.axes<One = 1, B = 4, D = 8>
!t = !visa.hbm<i8, element "One, B, D", #axes>
!v = !visa.hbm<i8, element "1, B, D", #axes>
!o = !visa.hbm<i8, element "B, D", #axes>
// CHECK-LABEL: func.func @v7
// CHECK:         from 0 to 0 loops [] packet 32>
func.func @v7(%t: !t) -> !o attributes {visa.kernel} {
  %v = visa.tile %t[0] along "One" take 1 : !t -> !v
  %o = visa.alloc : !o
  visa.copy %v into %o : !v, !o
  return %o : !o
}

// -----

// V9: row 3, then columns 2 and 3: cells 14 and 15, in data memory.
#axes = #tmap.axes<A = 8, H = 4>
!t = !visa.dm<i32, slice "1 # 256", element "A, H", #axes>
!v = !visa.dm<i32, slice "1 # 256", element "1 # 8, H", #axes>
!w = !visa.dm<i32, slice "1 # 256", element "1 # 8, H = 2 # 4", #axes>
!o = !visa.hbm<i32, element "H = 2", #axes>
// CHECK-LABEL: func.func @v9
// CHECK:         lir.dma %{{.*}} to %[[D:.*]] engines
// CHECK:         lir.dma %[[D]] to %{{.*}} engines [#lir.engine<cluster 0 pe 0 from 56 to 0 loops [] packet 8>]
func.func @v9(%h: !visa.hbm<i32, element "A, H", #axes>) -> !o attributes {visa.kernel} {
  %t = visa.to_dm %h : !visa.hbm<i32, element "A, H", #axes> -> !t
  %v = visa.tile %t[3] along "A" take 1 : !t -> !v
  %w = visa.tile %v[2] along "H" take 2 : !v -> !w
  %o = visa.to_hbm %w : !w -> !o
  return %o : !o
}

// -----

// Loops that tile data memory are unrolled, registers get numbers; a loop that
// never runs is gone.
#axes = #tmap.axes<A = 8, B = 8>
!h = !visa.hbm<i32, element "A, B", #axes>
!d = !visa.dm<i32, slice "1 # 256", element "A, B", #axes>
!r = !visa.dm<i32, slice "1 # 256", element "1 # 8, B", #axes>
!w = !visa.dm<i32, slice "1 # 256", element "1 #{!} 8, B", #axes>
// CHECK-LABEL: func.func @unrolled
// CHECK-NOT:     scf.for
// CHECK:         lir.exec sub {
// CHECK-NEXT:      fill %[[R:.*]] with 7 : !lir.mem<dm, 256>
// CHECK:         fetch_sequencer %[[D:[0-9]+]] loops
// CHECK:         commit_sequencer %[[R]] base 96 loops
// CHECK:         fetch_sequencer %[[D]] base 64 loops
// CHECK:         commit_sequencer %[[R]] base 160 loops
// CHECK-NOT:     fetch_sequencer
// CHECK:         lir.dma %[[R]] to
func.func @unrolled(%h: !h) -> !h attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %seven = arith.constant 7 : i32
  %d = visa.to_dm %h : !h -> !d
  %r = visa.alloc : !d
  visa.memset %r with %seven : !d, i32
  scf.for %i = %c0 to %c3 step %c2 {
    %j = arith.addi %i, %c3 : index
    %x = visa.tile %d[%i] along "A" take 1 : !d -> !r
    %y = visa.tile %r[%j] along "A" take 1 : !d -> !w
    %z = visa.chain main -> !w {
      fetch %x time "1" packet "B" : !r
      collect time "1" packet "B"
      commit_trim packet "B"
      commit element "1 #{!} 8, B" into %y : !w
    }
  }
  scf.for %i = %c0 to %c0 step %c2 {
    %x = visa.tile %d[%i] along "A" take 1 : !d -> !r
  }
  %o = visa.to_hbm %r : !d -> !h
  return %o : !h
}
