// Rules of views, fills, gathers and chains that write views.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

// MM-38: padding only, behind all cells.
#axes = #tmap.axes<A = 256, B = 8, C = 4>
!dm = !visa.dm<i32, slice "A", element "C, B", #axes>
!pad = !visa.dm<i32, slice "A", element "[C, B] # 40", #axes>
!less = !visa.dm<i32, slice "A", element "C", #axes>
!inner = !visa.dm<i32, slice "A", element "C, B # 16", #axes>
!zero = !visa.dm<i32, slice "A", element "[C, B] #{0} 40", #axes>
!slice = !visa.dm<i32, slice "A / 2 # 256", element "[C, B] # 40", #axes>
func.func @pads(%h: !visa.hbm<i32, element "A, C, B", #axes>) attributes {visa.kernel} {
  %d = visa.to_dm %h : !visa.hbm<i32, element "A, C, B", #axes> -> !dm
  %p = visa.pad %d : !dm -> !pad
  %u = visa.unpad %p : !pad -> !dm
  // expected-error @below {{MM-38: element "C" has 4 positions, fewer than "C, B" with 32}}
  %0 = visa.pad %d : !dm -> !less
  // expected-error @below {{MM-38: element "C, B # 16" is not "C, B" with padding behind all its cells; write "[C, B] # 64"}}
  %1 = visa.pad %d : !dm -> !inner
  // expected-error @below {{MM-38: element "[C, B] #{0} 40" is not "C, B" with padding behind}}
  %2 = visa.pad %d : !dm -> !zero
  // expected-error @below {{MM-38: slice of the view is "A / 2 # 256", expected "A"}}
  %3 = visa.pad %d : !dm -> !slice
  return
}

// -----

// MM-36: what is written has bottom padding outside the window.
#axes = #tmap.axes<A = 8, B = 8>
!hbm = !visa.hbm<f32, element "A, B", #axes>
!dm = !visa.dm<f32, slice "1 # 256", element "A, B", #axes>
!read = !visa.dm<f32, slice "1 # 256", element "A = 4 # 8, B", #axes>
func.func @written_view(%h: !hbm) attributes {visa.kernel} {
  %d = visa.to_dm %h : !hbm -> !dm
  // expected-note @below {{the tile is made here}}
  %v = visa.tile %d[4] along "A" take 4 : !dm -> !read
  %t = visa.tile %d[0] along "A" take 4 : !dm -> !read
  %r = visa.chain main -> !read {
    fetch %t time "A = 4" packet "B" : !read
    collect time "A = 4" packet "B"
    commit_trim packet "B"
    // expected-error @below {{MM-36: a view that is written has bottom padding: the tile has element "A = 4 # 8, B", expected "A = 4 #{!} 8, B"}}
    commit element "A = 4 # 8, B" into %v : !read
  }
  return
}

// -----

// MM-36: the bottom padding reaches to the last live cell; behind that it may
// end. A window of all live cells needs none.
#axes = #tmap.axes<A = 6, B = 8>
!hbm = !visa.hbm<f32, element "A, B", #axes>
!dm = !visa.dm<f32, slice "1 # 256", element "A # 8, B", #axes>
!read = !visa.dm<f32, slice "1 # 256", element "A = 2 # 8, B", #axes>
!all = !visa.dm<f32, slice "1 # 256", element "A = 2 #{!} 8, B", #axes>
!live = !visa.dm<f32, slice "1 # 256", element "A = 2 #{!} 6 # 8, B", #axes>
!short = !visa.dm<f32, slice "1 # 256", element "A = 2 #{!} 5 # 8, B", #axes>
!cells = !visa.dm<f32, slice "1 # 256", element "[A = 2, B] #{!} 47 # 64", #axes>
!more = !visa.dm<f32, slice "1 # 256", element "[A = 2, B] #{!} 49 # 64", #axes>
!lastw = !visa.dm<f32, slice "1 # 256", element "1 #{!} 6 # 8, B", #axes>
!rest = !visa.dm<f32, slice "1 # 256", element "1 #{!} 2 # 8, B", #axes>
!out = !visa.dm<f32, slice "1 # 256", element "A # 8, B = 2 #{!} 8", #axes>
!inside = !visa.dm<f32, slice "1 # 256", element "A # 8, B = 2 #{!} 4 # 8", #axes>
func.func @short_holes(%h: !hbm) attributes {visa.kernel} {
  %d = visa.to_dm %h : !hbm -> !dm
  %0 = visa.tile %d[4] along "A" take 2 : !dm -> !all
  %1 = visa.tile %d[4] along "A" take 2 : !dm -> !live
  // expected-error @below {{MM-36: the view has element "A = 2 #{!} 5 # 8, B", expected "A = 2 # 8, B" where it is read, "A = 2 #{!} 8, B" where it is written}}
  %2 = visa.tile %d[4] along "A" take 2 : !dm -> !short
  // expected-error @below {{MM-36: the view has element "[A = 2, B] #{!} 47 # 64"}}
  %3 = visa.tile %d[4] along "A" take 2 : !dm -> !cells
  %4 = visa.tile %d[4] along "A" take 2 : !dm -> !more
  %5 = visa.tile %d[0] along "B" take 2 : !dm -> !out
  // expected-error @below {{MM-36: the view has element "A # 8, B = 2 #{!} 4 # 8"}}
  %6 = visa.tile %d[0] along "B" take 2 : !dm -> !inside
  // A tile of a tile: its rows too are held by the hole of the first.
  %7 = visa.tile %1[0] along "A = 2" take 1 : !live -> !lastw
  // expected-error @below {{MM-36: the view has element "1 #{!} 2 # 8, B"}}
  %8 = visa.tile %1[0] along "A = 2" take 1 : !live -> !rest
  return
}

// -----

// TU-77: the result is the tensor that is written. MM-26: at whole words.
#axes = #tmap.axes<A = 8, B = 8>
!hbm = !visa.hbm<i16, element "A, B", #axes>
!dm = !visa.dm<i16, slice "1 # 256", element "A, B", #axes>
!read = !visa.dm<i16, slice "1 # 256", element "A, B = 4 # 8", #axes>
!write = !visa.dm<i16, slice "1 # 256", element "A, B = 4 #{!} 8", #axes>
!other = !visa.dm<i16, slice "1 # 256", element "A, [B = 4] #{!} 8", #axes>
func.func @into(%h: !hbm) attributes {visa.kernel} {
  %d = visa.to_dm %h : !hbm -> !dm
  %r = visa.alloc : !dm
  %v = visa.tile %r[1] along "B" take 4 : !dm -> !write
  %w = visa.tile %r[4] along "B" take 4 : !dm -> !write
  %t = visa.tile %d[0] along "B" take 4 : !dm -> !read
  %x = visa.chain main -> !write {
    fetch %t time "A" packet "B = 4" : !read
    collect time "A" packet "B = 4 # 16"
    commit_trim packet "B = 4"
    // expected-error @below {{MM-26: the view begins at a byte of data memory that is no multiple of 8}}
    commit element "A, B = 4 #{!} 8" into %v : !write
  }
  %y = visa.chain main -> !other {
    fetch %t time "A" packet "B = 4" : !read
    collect time "A" packet "B = 4 # 16"
    commit_trim packet "B = 4"
    // expected-error @below {{TU-77: the chain's result is another name of the tensor that it writes}}
    commit element "A, B = 4 #{!} 8" into %w : !write
  }
  return
}

// -----

// The Tensor Unit works in the slices of its tensors.
#axes = #tmap.axes<A = 256, B = 8>
!hbm = !visa.hbm<i32, element "A, B", #axes>
!dm = !visa.dm<i32, slice "A", element "B", #axes>
!tile = !visa.dm<i32, slice "A = 4 # 256", element "B", #axes>
func.func @slices(%h: !hbm) attributes {visa.kernel} {
  %d = visa.to_dm %h : !hbm -> !dm
  %t = visa.tile %d[8] of slice along "A" take 4 : !dm -> !tile
  %r = visa.chain main -> !tile {
    // expected-error @below {{not yet supported: a chain on slices that a view has moved; copy the view first}}
    fetch %t time "1" packet "B" : !tile
    collect time "1" packet "B"
    commit_trim packet "B"
    commit element "B"
  }
  return
}

// -----

// MM-46, MM-47: constants, whole tensors, some types.
#axes = #tmap.axes<A = 256, B = 8>
!hbm = !visa.hbm<f32, element "A, B", #axes>
!dm = !visa.dm<f32, slice "A", element "B", #axes>
!write = !visa.dm<f32, slice "A", element "B = 4 #{!} 8", #axes>
!f4 = !visa.dm<f4E2M1FN, slice "A", element "B", #axes>
func.func @fills() attributes {visa.kernel} {
  %c = arith.constant 1.5 : f32
  %v = arith.addf %c, %c : f32
  %d = visa.alloc : !dm
  visa.memset %d with %c : !dm, f32
  // expected-error @below {{MM-46: the value of a fill is a constant of the program}}
  visa.memset %d with %v : !dm, f32
  // expected-note @below {{the view is made here}}
  %t = visa.tile %d[0] along "B" take 4 : !dm -> !write
  // expected-error @below {{MM-47: a fill covers a tensor as a whole, the target is a view}}
  visa.memset %t with %c : !write, f32
  %f = visa.alloc : !f4
  %z = arith.constant 1.0 : f4E2M1FN
  // expected-error @below {{MM-47: no fill of 'f4E2M1FN'}}
  visa.memset %f with %z : !f4, f4E2M1FN
  return
}

// -----

#axes = #tmap.axes<A = 256, B = 8>
!dm = !visa.dm<i32, slice "A", element "B", #axes>
func.func @fill_type(%d: !dm, %c: i8) {
  // expected-error @below {{fills a tensor of 'i32' with 'i8'}}
  visa.memset %d with %c : !dm, i8
  return
}

// -----

// MM-42, MM-44: gathers.
#axes = #tmap.axes<R = 16, I = 128, T = 12, U = 4, D = 8>
!t = !visa.hbm<bf16, element "T, D", #axes>
!tu = !visa.hbm<bf16, element "T, U, D", #axes>
!i = !visa.hbm<i32, element "R, I", #axes>
!id = !visa.dm<i32, slice "R, I / 8", element "I % 8", #axes>
!g = !visa.dm<bf16, slice "R, I / 8", element "I % 8, D", #axes>
!one = !visa.dm<bf16, slice "R, 1 # 16", element "D", #axes>
func.func @gathers(%t: !t, %tu: !tu, %i: !i) attributes {visa.kernel} {
  %id = visa.to_dm %i : !i -> !id
  // expected-error @below {{MM-42: an index of 8192 bytes, a PE holds 4096; use a scaled index in HBM, or gather in parts}}
  %0 = visa.gather %t by %id : !t, !id -> !g
  %1 = visa.gather scaled %t by %i : !t, !i -> !g
  // expected-error @below {{MM-44: rows are found along the one axis of the table that they lack, found 2 T U}}
  %2 = visa.gather scaled %tu by %i : !tu, !i -> !g
  // expected-error @below {{MM-44: axis I of the index is none of the rows}}
  %3 = visa.gather scaled %t by %i : !t, !i -> !one
  return
}

// -----

#axes = #tmap.axes<K = 64, T = 12, D = 8>
!t = !visa.hbm<bf16, element "T, D", #axes>
!i = !visa.hbm<i32, element "K", #axes>
!g = !visa.dm<bf16, slice "K # 256", element "D", #axes>
func.func @index_in_hbm(%t: !t, %i: !i) {
  // expected-error @below {{an index that counts rows lies in data memory}}
  %0 = visa.gather %t by %i : !t, !i -> !g
  return
}

// -----

// MM-43, MM-45: scatters.
#axes = #tmap.axes<K = 64, C = 80, D = 16>
!c = !visa.hbm<bf16, element "C, D", #axes>
!i = !visa.hbm<i32, element "K", #axes>
!id = !visa.dm<i32, slice "1 # 256", element "K", #axes>
!d = !visa.dm<bf16, slice "K / 2 # 256", element "K % 2, D", #axes>
!split = !visa.dm<bf16, cluster "K / 32", slice "K % 32 # 256", element "D", #axes>
func.func @scatters(%c: !c, %i: !i, %x: !visa.hbm<bf16, element "K, D", #axes>) attributes {visa.kernel} {
  %d = visa.to_dm %x : !visa.hbm<bf16, element "K, D", #axes> -> !d
  %s = visa.to_dm %x : !visa.hbm<bf16, element "K, D", #axes> -> !split
  %id = visa.to_dm %i : !i -> !id
  visa.scatter scaled %d by %i into %c : !d, !i, !c
  // expected-error @below {{MM-45: a scatter by rows is not implemented}}
  visa.scatter %d by %id into %c : !d, !id, !c
  // expected-error @below {{MM-43: axis K of the index lies in slice and element of the source}}
  visa.scatter scaled %s by %i into %c : !split, !i, !c
  return
}

// -----

// MM-34: cells that get another index lose the old one.
#axes = #tmap.axes<A = 256, B = 8, C = 4>
!hbm = !visa.hbm<i32, element "A, B", #axes>
!dm = !visa.dm<i32, slice "A", element "B", #axes>
!new = !visa.dm<i32, slice "C, A / 4", element "B", #axes>
func.func @reshaped_source(%h: !hbm) -> !hbm attributes {visa.kernel} {
  %d = visa.to_dm %h : !hbm -> !dm
  // expected-error @below {{MM-34: the cells get another index, but the source is used behind the reshape}}
  %e = visa.reshape %d : !dm -> !new
  // expected-note @below {{it is used here}}
  %o = visa.to_hbm %d : !dm -> !hbm
  return %o : !hbm
}

// -----

// Windows of data memory: what only the run knows.
#axes = #tmap.axes<A = 4096, B = 8>
!hbm = !visa.hbm<i32, element "A, B", #axes>
!dm = !visa.dm<i32, slice "1 # 256", element "A, B", #axes>
!one = !visa.dm<i32, slice "1 # 256", element "1 # 4096, B", #axes>
!row = !visa.hbm<i32, element "1 #{!} 4096, B", #axes>
func.func @long_loop(%h: !hbm, %o: !hbm) attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4096 = arith.constant 4096 : index
  %d = visa.to_dm %h : !hbm -> !dm
  scf.for %i = %c0 to %c4096 step %c1 {
    // expected-error @below {{not yet supported: a tile of a DM tensor in loops of more than 1024 steps, which are unrolled}}
    %t = visa.tile %d[%i] along "A" take 1 : !dm -> !one
    %w = visa.tile %o[%i] along "A" take 1 : !hbm -> !row
    visa.copy %t into %w : !one, !row
  }
  return
}

// -----

// Structure of views.
#axes = #tmap.axes<A = 256, B = 8>
!hbm = !visa.hbm<i32, element "A, B", #axes>
!dm = !visa.dm<i32, slice "A", element "B", #axes>
func.func @memory(%h: !hbm) {
  // expected-error @below {{is in the same memory}}
  %p = visa.pad %h : !hbm -> !dm
  return
}

// -----

#axes = #tmap.axes<A = 256, B = 8>
!hbm = !visa.hbm<i32, element "A, B", #axes>
func.func @no_slice(%h: !hbm) {
  // expected-error @below {{has no slice}}
  %p = visa.tile %h[0] of slice along "A" take 1 : !hbm -> !hbm
  return
}

// -----

#axes = #tmap.axes<A = 256, B = 8>
!i32 = !visa.hbm<i32, element "A, B", #axes>
!f32 = !visa.hbm<f32, element "A, B", #axes>
func.func @element_type(%h: !i32) {
  // expected-error @below {{reads 'i32' as 'f32'}}
  %p = visa.reshape %h : !i32 -> !f32
  return
}

// -----

// MM-33: within data memory the grid stays.
#axes = #tmap.axes<A = 64, B = 8>
!hbm = !visa.hbm<i32, element "A, B", #axes>
!dm = !visa.dm<i32, slice "A # 256", element "B", #axes>
!few = !visa.dm<i32, slice "A", element "B", #axes>
func.func @grid(%h: !hbm) attributes {visa.kernel} {
  %d = visa.to_dm %h : !hbm -> !dm
  // expected-error @below {{MM-3: slice "A" has 64 positions}}
  %e = visa.alloc : !few
  // expected-error @below {{MM-33: slice "A" has 64 positions, the source has 256}}
  visa.copy %d into %e : !dm, !few
  return
}

// -----

// Branches on what is known when loops are unrolled.
#axes = #tmap.axes<A = 64>
!hbm = !visa.hbm<i32, element "A", #axes>
func.func @branches(%a: !hbm, %b: !hbm) attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2000 = arith.constant 2000 : index
  scf.for %i = %c0 to %c2000 step %c1 {
    %first = arith.cmpi eq, %i, %c0 : index
    // expected-error @below {{not yet supported: a branch in loops of more than 1024 steps, which are unrolled}}
    scf.if %first {
      visa.copy %a into %b : !hbm, !hbm
    }
  }
  return
}

// -----

// Copies in the sub context stay in their slices and move words.
#axes = #tmap.axes<A = 256, B = 6, C = 4>
!h = !visa.hbm<i16, element "A, B, C", #axes>
!d = !visa.dm<i16, slice "A", element "B, C", #axes>
!t = !visa.dm<i16, slice "A", element "C, B", #axes>
!s = !visa.dm<i16, slice "A % 16, A / 16", element "B, C", #axes>
func.func @copies(%h: !h) attributes {visa.kernel} {
  %d = visa.to_dm %h : !h -> !d
  %t = visa.alloc : !t
  %s = visa.alloc : !s
  // expected-error @below {{not yet supported: a parallel copy that does not move words of 8 bytes in at most 8 loops; leave `parallel` out, so that the DMA moves them}}
  visa.copy parallel %d into %t : !d, !t
  // expected-error @below {{not yet supported: a parallel copy whose source and target do not lie in the same slices; leave `parallel` out}}
  visa.copy parallel %d into %s : !d, !s
  // expected-error @below {{not yet supported: a copy within one tensor whose source and target may overlap}}
  visa.copy parallel %d into %d : !d, !d
  return
}

// -----

#axes = #tmap.axes<A = 256, B = 6, C = 4>
!h = !visa.hbm<i16, element "A, B, C", #axes>
func.func @in_hbm(%h: !h) attributes {visa.kernel} {
  %o = visa.alloc : !h
  // expected-error @below {{copies in parallel between tensors in data memory only; leave `parallel` out}}
  visa.copy parallel %h into %o : !h, !h
  return
}
