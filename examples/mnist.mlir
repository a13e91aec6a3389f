// Forward pass of a two-layer perceptron on one image of 800 pixels, 28 x 28
// and padding: 256 hidden units, each on a slice, and 16 classes.
//   hidden = max(w1 x + b1, 0), logits = w2 hidden + b2
// Sums are exact up to f32 rounding; what a layer hands on is bf16. A sum and
// its bias lie side by side on axis I and are added in pair mode.
#axes = #tmap.axes<X = 800, H = 256, C = 16, I = 2, D = 8, E = 16>
!x = !visa.hbm<bf16, element "X", #axes>
!w1 = !visa.hbm<bf16, element "H, X", #axes>
!b1 = !visa.hbm<bf16, element "H", #axes>
!w2 = !visa.hbm<bf16, element "C, H", #axes>
!b2 = !visa.hbm<bf16, element "C", #axes>
!logits = !visa.hbm<bf16, element "C, 1 # 4", #axes>

!rows1 = !visa.dm<bf16, slice "H", element "X", #axes>
!trf1 = !visa.trf<bf16, slice "H", lane "1", element "X", #axes>
!pair1 = !visa.dm<bf16, slice "H", element "I, 1 # 4", #axes>
!half1 = !visa.dm<bf16, slice "H", element "1 #{!} 2, 1 # 4", #axes>
!hidden = !visa.dm<bf16, slice "H", element "1 # 4", #axes>
!bias1a = !visa.dm<bf16, slice "H / 8, 1 # 8", element "H % 8", #axes>
!bias1b = !visa.dm<bf16, slice "H / 8, 1 # 8", element "H % 8, 1 # 4", #axes>
!bias1c = !visa.dm<bf16, slice "H / 8, D", element "H % 8, 1 # 4", #axes>
!bias1d = !visa.dm<bf16, slice "H", element "D, 1 # 4", #axes>
!bias1e = !visa.dm<bf16, slice "H", element "1 # 8, 1 # 4", #axes>

!rows2 = !visa.dm<bf16, slice "C, 1 # 16", element "H", #axes>
!trf2 = !visa.trf<bf16, slice "C, 1 # 16", lane "1", element "H", #axes>
!pair2 = !visa.dm<bf16, slice "C, 1 # 16", element "I, 1 # 4", #axes>
!half2 = !visa.dm<bf16, slice "C, 1 # 16", element "1 #{!} 2, 1 # 4", #axes>
!out = !visa.dm<bf16, slice "C, 1 # 16", element "1 # 4", #axes>
!bias2a = !visa.dm<bf16, slice "1 # 256", element "C", #axes>
!bias2b = !visa.dm<bf16, slice "1 # 256", element "C, 1 # 4", #axes>
!bias2c = !visa.dm<bf16, slice "E, 1 # 16", element "C, 1 # 4", #axes>
!bias2d = !visa.dm<bf16, slice "C, 1 # 16", element "E, 1 # 4", #axes>
!bias2e = !visa.dm<bf16, slice "C, 1 # 16", element "1 # 16, 1 # 4", #axes>

func.func @mnist(%x: !x, %w1: !w1, %b1: !b1, %w2: !w2, %b2: !b2) -> !logits
    attributes {visa.kernel} {
  // First layer: every slice has the image and the weights of one unit.
  %xd = visa.to_dm %x : !x -> !rows1
  %w1d = visa.to_dm %w1 : !w1 -> !rows1
  %pair1 = visa.alloc : !pair1
  %t1 = visa.chain sub -> !trf1 {
    fetch %xd time "1" packet "X" : !rows1
    collect time "X / 16" packet "X % 16"
    to_trf lane "1" element "X"
  }
  %sum1 = visa.tile %pair1[0] along "I" take 1 : !pair1 -> !half1
  %p1 = visa.chain main -> !half1 {
    fetch %w1d time "X / 16" packet "X % 16" : !rows1
    collect time "X / 16" packet "X % 16"
    contract_outer %t1 time "X / 32" packet "X % 32" : !trf1
    contract_packet packet "1"
    contract_time time "1"
    contract_lane interleaved time "1" packet "1 # 8"
    cast to bf16 packet "1 # 16"
    commit_trim packet "1 # 4"
    commit element "1 #{!} 2, 1 # 4" into %sum1 : !half1
  }

  // The bias comes eight to a slice, and goes one to a slice: out of the packet
  // into time, and from there into the slices.
  %b1a = visa.to_dm %b1 : !b1 -> !bias1a
  %b1b = visa.chain main -> !bias1b {
    fetch %b1a time "1" packet "H % 8" : !bias1a
    collect time "1" packet "H % 8 # 16"
    transpose time "H % 8" packet "1 # 16"
    commit_trim packet "1 # 4"
    commit element "H % 8, 1 # 4"
  }
  %b1c = visa.reshape %b1b : !bias1b -> !bias1c
  %b1d = visa.chain main -> !bias1d {
    fetch %b1c time "H % 8" packet "1 # 4" : !bias1c
    switch inter_transpose [8, 1, 1] slice "H" time "D"
    collect time "D" packet "1 # 16"
    commit_trim packet "1 # 4"
    commit element "D, 1 # 4"
  }
  %b1e = visa.reshape %b1d : !bias1d -> !bias1e
  %addend1 = visa.tile %pair1[1] along "I" take 1 : !pair1 -> !half1
  %q1 = visa.chain main -> !half1 {
    fetch %b1e time "1" packet "1 # 4" : !bias1e
    collect time "1" packet "1 # 16"
    commit_trim packet "1 # 4"
    commit element "1 #{!} 2, 1 # 4" into %addend1 : !half1
  }
  %hidden = visa.chain main -> !hidden {
    fetch %pair1 time "I" packet "1 # 4" : !pair1
    fetch_cast to f32
    collect time "I" packet "1 # 8"
    vector_init
    vector_unzip axis "I" time "1"
    vector_zip clip add
    vector_clip max [imm 0.0]
    vector_final
    cast to bf16 packet "1 # 16"
    commit_trim packet "1 # 4"
    commit element "1 # 4"
  }

  // Second layer: the hidden units of all slices to each slice with a class.
  %h = visa.chain main -> !rows2 {
    fetch %hidden time "1" packet "1 # 4" : !hidden
    switch broadcast1 [256, 1] slice "C, 1 # 16" time "H"
    collect time "H" packet "1 # 16"
    transpose time "H / 4" packet "H % 4 # 16"
    commit_trim packet "H % 4"
    commit element "H"
  }
  %w2d = visa.to_dm %w2 : !w2 -> !rows2
  %pair2 = visa.alloc : !pair2
  %t2 = visa.chain sub -> !trf2 {
    fetch %h time "1" packet "H" : !rows2
    collect time "H / 16" packet "H % 16"
    to_trf lane "1" element "H"
  }
  %sum2 = visa.tile %pair2[0] along "I" take 1 : !pair2 -> !half2
  %p2 = visa.chain main -> !half2 {
    fetch %w2d time "H / 16" packet "H % 16" : !rows2
    collect time "H / 16" packet "H % 16"
    contract_outer %t2 time "H / 32" packet "H % 32" : !trf2
    contract_packet packet "1"
    contract_time time "1"
    contract_lane interleaved time "1" packet "1 # 8"
    cast to bf16 packet "1 # 16"
    commit_trim packet "1 # 4"
    commit element "1 #{!} 2, 1 # 4" into %sum2 : !half2
  }
  %b2a = visa.to_dm %b2 : !b2 -> !bias2a
  %b2b = visa.chain main -> !bias2b {
    fetch %b2a time "C / 8" packet "C % 8" : !bias2a
    collect time "C / 8" packet "C % 8 # 16"
    transpose time "C" packet "1 # 16"
    commit_trim packet "1 # 4"
    commit element "C, 1 # 4"
  }
  %b2c = visa.reshape %b2b : !bias2b -> !bias2c
  %b2d = visa.chain main -> !bias2d {
    fetch %b2c time "C" packet "1 # 4" : !bias2c
    switch inter_transpose [16, 16, 1] slice "C, 1 # 16" time "E"
    collect time "E" packet "1 # 16"
    commit_trim packet "1 # 4"
    commit element "E, 1 # 4"
  }
  %b2e = visa.reshape %b2d : !bias2d -> !bias2e
  %addend2 = visa.tile %pair2[1] along "I" take 1 : !pair2 -> !half2
  %q2 = visa.chain main -> !half2 {
    fetch %b2e time "1" packet "1 # 4" : !bias2e
    collect time "1" packet "1 # 16"
    commit_trim packet "1 # 4"
    commit element "1 #{!} 2, 1 # 4" into %addend2 : !half2
  }
  %r = visa.chain main -> !out {
    fetch %pair2 time "I" packet "1 # 4" : !pair2
    fetch_cast to f32
    collect time "I" packet "1 # 8"
    vector_init
    vector_unzip axis "I" time "1"
    vector_zip clip add
    vector_final
    cast to bf16 packet "1 # 16"
    commit_trim packet "1 # 4"
    commit element "1 # 4"
  }
  %logits = visa.to_hbm %r : !out -> !logits
  return %logits : !logits
}
