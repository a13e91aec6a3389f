// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

// LIR-1

// expected-error@+1 {{LIR-1: a buffer holds at least 1 byte, found 0}}
func.func private @f(!lir.mem<hbm, 0>)

// -----

// LIR-1

// expected-error@+1 {{LIR-1: a buffer holds at least 1 byte, found -8}}
func.func private @f(!lir.mem<dm, -8>)

// -----

// LIR-1

// expected-error@+1 {{LIR-1: hbm holds 51535413248 bytes, found 51535413249}}
func.func private @f(!lir.mem<hbm, 51535413249>)

// -----

// MM-5

// expected-error@+1 {{MM-5: dm holds 524288 bytes, found 524289}}
func.func private @f(!lir.mem<dm, 524289>)

// -----

// TU-31

// expected-error@+1 {{TU-31: trf holds 65536 bytes, found 65792}}
func.func private @f(!lir.mem<trf, 65792, lanes 8>)

// -----

// TU-35

// expected-error@+1 {{TU-35: vrf holds 8192 bytes, found 8224}}
func.func private @f(!lir.mem<vrf, 8224>)

// -----

// TU-30

// expected-error@+1 {{TU-30: lanes must be 1, 2, 4 or 8, found 3}}
func.func private @f(!lir.mem<trf, 2048, lanes 3>)

// -----

// LIR-2

// expected-error@+1 {{LIR-2: a trf buffer of 8 lanes holds a multiple of 256 bytes, found 128}}
func.func private @f(!lir.mem<trf, 128, lanes 8>)

// -----

// LIR-2

// expected-error@+1 {{LIR-2: only trf has lanes, found lanes 8 in dm}}
func.func private @f(!lir.mem<dm, 128, lanes 8>)

// -----

// LIR-2

// expected-error@+1 {{LIR-2: a vrf buffer holds a multiple of 32 bytes, found 40}}
func.func private @f(!lir.mem<vrf, 40>)

// -----

// An unknown tier.

// expected-error@+1 {{expected a memory tier: hbm, dm, trf or vrf}}
func.func private @f(!lir.mem<spm, 40>)

// -----

// A number too large.

// expected-error@+1 {{integer value too large}}
func.func private @f(!lir.mem<dm, 99999999999999999999>)

// -----

// LIR-4

func.func @f(%a: !lir.mem<hbm, 1048576>, %b: !lir.mem<dm, 4096>, %i: index) {
  // expected-error@+1 {{LIR-4: cluster must be 0 to 1, found 2}}
  lir.dma %a to %b engines [#lir.engine<cluster 2 pe 0 from 0 to 0 loops [64 : 64 : 4194304] packet 64>] : !lir.mem<hbm, 1048576>, !lir.mem<dm, 4096>
  return
}

// -----

// LIR-4

func.func @f(%a: !lir.mem<hbm, 1048576>, %b: !lir.mem<dm, 4096>, %i: index) {
  // expected-error@+1 {{LIR-4: pe must be 0 to 3, found 4}}
  lir.dma %a to %b engines [#lir.engine<cluster 0 pe 4 from 0 to 0 loops [64 : 64 : 4194304] packet 64>] : !lir.mem<hbm, 1048576>, !lir.mem<dm, 4096>
  return
}

// -----

// MM-31

func.func @f(%a: !lir.mem<hbm, 1048576>, %b: !lir.mem<dm, 4096>, %i: index) {
  // expected-error@+1 {{MM-31: a packet has 1 to 4096 bytes, found 4104}}
  lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 64 : 4194304] packet 4104>] : !lir.mem<hbm, 1048576>, !lir.mem<dm, 4096>
  return
}

// -----

// MM-31

func.func @f(%a: !lir.mem<hbm, 1048576>, %b: !lir.mem<dm, 4096>, %i: index) {
  // expected-error@+1 {{MM-31: a packet has 1 to 4096 bytes, found 0}}
  lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 64 : 4194304] packet 0>] : !lir.mem<hbm, 1048576>, !lir.mem<dm, 4096>
  return
}

// -----

// LIR-5

func.func @f(%a: !lir.mem<hbm, 1048576>, %b: !lir.mem<dm, 4096>, %i: index) {
  // expected-error@+1 {{LIR-5: a descriptor has room for 7 loops, found 8}}
  lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [1 : 0 : 0, 1 : 0 : 0, 1 : 0 : 0, 1 : 0 : 0, 1 : 0 : 0, 1 : 0 : 0, 1 : 0 : 0, 1 : 0 : 0] packet 64>] : !lir.mem<hbm, 1048576>, !lir.mem<dm, 4096>
  return
}

// -----

// LIR-5

func.func @f(%a: !lir.mem<hbm, 1048576>, %b: !lir.mem<dm, 4096>, %i: index) {
  // expected-error@+1 {{LIR-5: loop 0 must run 1 to 65536 times, found 65537}}
  lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [65537 : 0 : 0] packet 64>] : !lir.mem<hbm, 1048576>, !lir.mem<dm, 4096>
  return
}

// -----

// LIR-5

func.func @f(%a: !lir.mem<hbm, 1048576>, %b: !lir.mem<dm, 4096>, %i: index) {
  // expected-error@+1 {{LIR-5: loop 0 must run 1 to 65536 times, found 0}}
  lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [0 : 0 : 0] packet 64>] : !lir.mem<hbm, 1048576>, !lir.mem<dm, 4096>
  return
}

// -----

// LIR-5

func.func @f(%a: !lir.mem<hbm, 1048576>, %b: !lir.mem<dm, 4096>, %i: index) {
  // expected-error@+1 {{LIR-5: strides of loop 0 must not be negative, found -8 and 0}}
  lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [2 : -8 : 0] packet 64>] : !lir.mem<hbm, 1048576>, !lir.mem<dm, 4096>
  return
}

// -----

// LIR-5

func.func @f(%a: !lir.mem<hbm, 1048576>, %b: !lir.mem<dm, 4096>, %i: index) {
  // expected-error@+1 {{LIR-5: bases must not be negative, found -8 and 0}}
  lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from -8 to 0 loops [64 : 64 : 4194304] packet 64>] : !lir.mem<hbm, 1048576>, !lir.mem<dm, 4096>
  return
}

// -----

// MM-52

func.func @f(%a: !lir.mem<hbm, 1048576>, %b: !lir.mem<vrf, 4096>, %i: index) {
  // expected-error@+1 {{MM-52: target must be in hbm or dm, found vrf}}
  lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 64 : 4194304] packet 64>] : !lir.mem<hbm, 1048576>, !lir.mem<vrf, 4096>
  return
}

// -----

// LIR-8

func.func @f(%a: !lir.mem<hbm, 1048576>, %b: !lir.mem<dm, 4096>, %i: index) {
  // expected-error@+1 {{LIR-8: source and target overlap in one buffer}}
  lir.dma %a to %a engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 64 : 4194304] packet 64>] : !lir.mem<hbm, 1048576>, !lir.mem<hbm, 1048576>
  return
}

// -----

// LIR-9

func.func @f(%a: !lir.mem<hbm, 1048576>, %b: !lir.mem<dm, 4096>, %i: index) {
  // expected-error@+1 {{LIR-9: needs at least one engine}}
  lir.dma %a to %b engines [] : !lir.mem<hbm, 1048576>, !lir.mem<dm, 4096>
  return
}

// -----

// LIR-9

func.func @f(%a: !lir.mem<hbm, 1048576>, %b: !lir.mem<dm, 4096>, %i: index) {
  // expected-error@+1 {{LIR-9: two descriptors for the engine of cluster 0 pe 0}}
  lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 64 : 4194304] packet 64>, #lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 64 : 4194304] packet 64>] : !lir.mem<hbm, 1048576>, !lir.mem<dm, 4096>
  return
}

// -----

// LIR-8

func.func @f(%a: !lir.mem<hbm, 1048576>, %b: !lir.mem<dm, 4096>, %i: index) {
  // expected-error@+1 {{LIR-8: source of the engine of cluster 0 pe 0 reaches byte 1048584 of a buffer of 1048576}}
  lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 1044488 to 0 loops [64 : 64 : 4194304] packet 64>] : !lir.mem<hbm, 1048576>, !lir.mem<dm, 4096>
  return
}

// -----

// LIR-8

func.func @f(%a: !lir.mem<hbm, 1048576>, %b: !lir.mem<dm, 4096>, %i: index) {
  // expected-error@+1 {{LIR-8: target of the engine of cluster 0 pe 0 reaches byte 4104 of a buffer of 4096}}
  lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 4040 loops [64 : 64 : 4194304] packet 64>] : !lir.mem<hbm, 1048576>, !lir.mem<dm, 4096>
  return
}

// -----

// LIR-8

func.func @f(%a: !lir.mem<hbm, 1048576>, %b: !lir.mem<dm, 4096>, %i: index) {
  // expected-error@+1 {{LIR-8: target of the engine of cluster 0 pe 0 reaches slice 64, a pe has 64}}
  lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 4194304 loops [64 : 64 : 4194304] packet 64>] : !lir.mem<hbm, 1048576>, !lir.mem<dm, 4096>
  return
}

// -----

// LIR-8

func.func @f(%a: !lir.mem<hbm, 1048576>, %b: !lir.mem<dm, 4096>, %i: index) {
  // expected-error@+1 {{LIR-8: source of the engine of cluster 0 pe 0 reaches an address that does not fit in 64 bits}}
  lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [65536 : 9223372036854775807 : 0, 65536 : 9223372036854775807 : 0] packet 64>] : !lir.mem<hbm, 1048576>, !lir.mem<dm, 4096>
  return
}

// -----

// LIR-8: a descriptor may go on at an earlier byte of the next slice.

func.func @f(%a: !lir.mem<hbm, 1048576>, %b: !lir.mem<dm, 4096>, %i: index) {
  lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 4032 loops [2 : 64 : 4190272] packet 64>] : !lir.mem<hbm, 1048576>, !lir.mem<dm, 4096>
  // expected-error@+1 {{LIR-8: target of the engine of cluster 0 pe 0 reaches byte 4104 of a buffer of 4096}}
  lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 4032 loops [2 : 64 : 4190272] packet 72>] : !lir.mem<hbm, 1048576>, !lir.mem<dm, 4096>
  return
}

// -----

// An offset into two buffers in turn.

func.func @f(%a: !lir.mem<dm, 64>, %b: !lir.mem<dm, 64>, %i: index) {
  lir.exec main {
    // expected-error@+1 {{not yet supported: an offset known only at run time into two buffers}}
    fetch_sequencer %a[%i] interleave %b from 0 along 0 loops [2 : 0] read 32 packet 32 flits 2 : !lir.mem<dm, 64>, !lir.mem<dm, 64>
    collect flits_per_packet 1
  }
  return
}

// -----

// MM-30

func.func @f(%a: !lir.mem<hbm, 1048576>, %b: !lir.mem<dm, 4096>, %i: index) {
  // expected-error@+1 {{MM-30: packet of the engine of cluster 0 pe 0 must be a multiple of 8 bytes, found 60}}
  lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 64 : 4194304] packet 60>] : !lir.mem<hbm, 1048576>, !lir.mem<dm, 4096>
  return
}

// -----

// MM-30

func.func @f(%a: !lir.mem<hbm, 1048576>, %b: !lir.mem<dm, 4096>, %i: index) {
  // expected-error@+1 {{MM-30: source base of the engine of cluster 0 pe 0 must be a multiple of 8 bytes, found 4}}
  lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 4 to 0 loops [64 : 64 : 4194304] packet 64>] : !lir.mem<hbm, 1048576>, !lir.mem<dm, 4096>
  return
}

// -----

// MM-30

func.func @f(%a: !lir.mem<hbm, 1048576>, %b: !lir.mem<dm, 4096>, %i: index) {
  // expected-error@+1 {{MM-30: source stride of the engine of cluster 0 pe 0 must be a multiple of 8 bytes, found 20}}
  lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 20 : 4194304] packet 64>] : !lir.mem<hbm, 1048576>, !lir.mem<dm, 4096>
  return
}

// -----

// MM-29

func.func @f(%a: !lir.mem<hbm, 1048576>, %b: !lir.mem<dm, 4096>, %i: index) {
  // expected-error@+1 {{MM-29: target base of the engine of cluster 0 pe 0 must be a multiple of 8 bytes, found 4}}
  lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 4 loops [64 : 64 : 4194304] packet 64>] : !lir.mem<hbm, 1048576>, !lir.mem<dm, 4096>
  return
}

// -----

// MM-29

func.func @f(%a: !lir.mem<hbm, 1048576>, %b: !lir.mem<dm, 4096>, %i: index) {
  // expected-error@+1 {{MM-29: target stride of the engine of cluster 0 pe 0 must be a multiple of 8 bytes, found 4194308}}
  lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 64 : 4194308] packet 64>] : !lir.mem<hbm, 1048576>, !lir.mem<dm, 4096>
  return
}

// -----

// Engines only.

func.func @f(%a: !lir.mem<hbm, 64>, %b: !lir.mem<dm, 64>) {
  // expected-error@+1 {{'lir.dma' op attribute 'engines' failed to satisfy constraint: engines}}
  lir.dma %a to %b engines [1, "x"] : !lir.mem<hbm, 64>, !lir.mem<dm, 64>
  return
}

// -----

// LIR-3, from the generic form of an attribute there is none: lists of a loop come together.

func.func @f(%a: !lir.mem<hbm, 64>, %b: !lir.mem<dm, 64>) {
  // expected-error@+1 {{expected ':'}}
  lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [4 : 8] packet 8>] : !lir.mem<hbm, 64>, !lir.mem<dm, 64>
  return
}

// -----

// LIR-6

func.func @f(%a: !lir.mem<dm, 64>) {
  lir.exec main {
    // expected-error@+1 {{LIR-6: 2 loop sizes, but 1 strides}}
    "lir.fetch_sequencer"(%a) <{sizes = array<i64: 2, 2>, strides = array<i64: 8>, read = 8 : i64, packet = 8 : i64, flits = 4 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!lir.mem<dm, 64>) -> ()
  }
  return
}

// -----

// MM-52

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    // expected-error@+1 {{MM-52: source must be in dm, found vrf}}
    fetch_sequencer %v loops [1 : 0] read 32 packet 32 flits 1 : !lir.mem<vrf, 32>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// MM-6

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    // expected-error@+1 {{MM-6: the sequencer holds 8 loops, found 9}}
    fetch_sequencer %a loops [2 : 32, 1 : 0, 1 : 0, 1 : 0, 1 : 0, 1 : 0, 1 : 0, 1 : 0, 1 : 0] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// MM-7

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    // expected-error@+1 {{MM-7: loop 0 must run 1 to 65536 times, found 65537}}
    fetch_sequencer %a loops [65537 : 0] read 32 packet 32 flits 65537 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// MM-7

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    // expected-error@+1 {{MM-7: loop 0 must run 1 to 65536 times, found -1}}
    fetch_sequencer %a loops [-1 : 0] read 32 packet 32 flits 65537 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-6

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    // expected-error@+1 {{LIR-6: stride of loop 0 must be 0 to 4194303, found 4194304}}
    fetch_sequencer %a loops [2 : 4194304] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-6

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    // expected-error@+1 {{LIR-6: the number of steps does not fit in 64 bits}}
    fetch_sequencer %a loops [65536 : 0, 65536 : 0, 65536 : 0, 65536 : 0] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-10

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    // expected-error@+1 {{LIR-10: read must be 1, 2, 4, 8, 16 or 32 bytes, found 64}}
    fetch_sequencer %a loops [2 : 32] read 64 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-10

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec sub {
    // expected-error@+1 {{LIR-10: the sub context reads 8 bytes at a time, found 32}}
    fetch_sequencer %a loops [64 : 32] read 32 packet 64 flits 64 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    trf_store %w rows_per_lane 8 : !lir.mem<trf, 2048, lanes 8>
  }
  return
}

// -----

// MM-12

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    // expected-error@+1 {{MM-12: packet must be positive, found 0}}
    fetch_sequencer %a loops [2 : 32] read 4 packet 0 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-11

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    // expected-error@+1 {{LIR-11: flits must be positive, found 0}}
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 0 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-7

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    // expected-error@+1 {{LIR-7: accesses reach byte 2112 of a buffer of 2048}}
    fetch_sequencer %a base 32 loops [2 : 2048] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-7

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    // expected-error@+1 {{LIR-7: base must not be negative, found -8}}
    fetch_sequencer %a base -8 loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-11

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    // expected-error@+1 {{LIR-11: 3 reads of 16 bytes do not make whole packets of 32}}
    fetch_sequencer %a loops [3 : 32] read 16 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-11

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    // expected-error@+1 {{LIR-11: flits must be 2, found 3}}
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 3 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-11

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    // expected-error@+1 {{LIR-11: flits_per_packet must be 1, found 2}}
    collect flits_per_packet 2
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-11

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    // expected-error@+1 {{LIR-11: flits_per_packet must be positive, found 0}}
    collect flits_per_packet 0
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// TU-6

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    // expected-error@+1 {{TU-6: no fetch conversion from 'i8' to 'bf16'}}
    fetch_adapter cast i8 to bf16
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// TU-7

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    // expected-error@+1 {{TU-7: a read may grow to 32 bytes, found 128}}
    fetch_adapter cast i8 to i32
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-12

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec sub {
    fetch_sequencer %a loops [8 : 64, 4 : 512, 8 : 8] read 8 packet 64 flits 64 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    // expected-error@+1 {{LIR-12: target must be in trf, found vrf}}
    trf_store %v rows_per_lane 8 : !lir.mem<vrf, 32>
  }
  return
}

// -----

// LIR-12

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec sub {
    fetch_sequencer %a loops [8 : 64, 4 : 512, 8 : 8] read 8 packet 64 flits 64 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    // expected-error@+1 {{LIR-12: rows_per_lane must be 8 to fill a buffer of 2048 bytes in 8 lanes, found 4}}
    trf_store %w rows_per_lane 4 : !lir.mem<trf, 2048, lanes 8>
  }
  return
}

// -----

// LIR-12

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec sub {
    fetch_sequencer %a loops [8 : 64, 4 : 512, 8 : 8] read 8 packet 64 flits 64 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    // expected-error@+1 {{LIR-12: rows must be 1 to fill a buffer of 32 bytes, found 2}}
    vrf_store %v rows 2 : !lir.mem<vrf, 32>
  }
  return
}

// -----

// LIR-12

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec sub {
    fetch_sequencer %a loops [8 : 64, 4 : 512, 8 : 8] read 8 packet 64 flits 64 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    // expected-error@+1 {{LIR-12: rows must be 64, found 1}}
    vrf_store %v rows 1 : !lir.mem<vrf, 32>
  }
  return
}

// -----

// LIR-12

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec sub {
    fetch_sequencer %a loops [128 : 8] read 8 packet 64 flits 32 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    // expected-error@+1 {{LIR-12: rows in all lanes must be 32, found 64}}
    trf_store %w rows_per_lane 8 : !lir.mem<trf, 2048, lanes 8>
  }
  return
}

// -----

// TU-36

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    // expected-error@+1 {{TU-36: no multiplier takes the stream element type RawInt16; there are RawInt4,}}
    feed_buffer RawInt16 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// TU-36

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    // expected-error@+1 {{TU-36: no multiplier takes the weight element type RawUInt8}}
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawUInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// TU-37

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    // expected-error@+1 {{TU-37: stream RawInt8 and weight RawInt4 do not multiply}}
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt4 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// TU-37

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    // expected-error@+1 {{TU-37: stream RawF8E4M3 and weight RawF8E5M2 do not multiply}}
    feed_buffer RawF8E4M3 Flit2 stream [time 128, packet 64] weight RawF8E5M2 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-13

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    // expected-error@+1 {{LIR-13: RawInt8 is promoted to RawInt9, found RawInt8}}
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt8 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// TU-39

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    // expected-error@+1 {{TU-39: lanes must be 1, 2, 4 or 8, found 3}}
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 3, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// TU-39

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    // expected-error@+1 {{TU-39: lanes must be 8, found 4}}
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 4, element 256] promoted RawInt9 lane_broadcast 4 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-13

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    // expected-error@+1 {{LIR-13: the stream goes to all 8 lanes, found lane_broadcast 1}}
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 1 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-13

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    // expected-error@+1 {{LIR-13: a lane holds 256 bytes, found 257 elements of RawInt8}}
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 257] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-13

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    // expected-error@+1 {{LIR-13: time and element must be positive, found 0 and 256}}
    feed_buffer RawInt8 Flit2 stream [time 0, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// TU-40

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    // expected-error@+1 {{TU-40: 2 flits hold 64 elements of RawInt8, found packet 32}}
    feed_buffer RawInt8 Flit2 stream [time 128, packet 32] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// TU-43

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    // expected-error@+1 {{TU-43: time_broadcast must divide time 128, found 3}}
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 3
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// TU-43

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    // expected-error@+1 {{TU-43: 64 packets of 2 flits are multiplied, but collect gives 256 flits}}
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 2
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-21: the kernel that release 0.3 refused and 0.4 accepts.

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) attributes {lir.release = "0.3"} {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    // expected-error@+2 {{LIR-21: release 0.3 has no feed buffer for RawInt8 with Flit2: a feed buffer of int8 with two collected flits is an unsupported element type before release 0.4}}
    // expected-note@+1 {{RawInt8 with Flit2 from release 0.4 on}}
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-21

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) attributes {lir.release = "9.9"} {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    // expected-error@+1 {{LIR-21: unknown release "9.9"}}
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-12

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    // expected-error@+1 {{LIR-12: source must be in trf, found dm}}
    trf_sequencer %a loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<dm, 2048>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// TU-45

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    // expected-error@+1 {{TU-45: read must be a power of two up to 64 bytes, found 48}}
    trf_sequencer %w loops [32 : 0, 4 : 64] read 48 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// TU-45

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    // expected-error@+1 {{TU-45: base must be a multiple of 64 for reads of 64 bytes, found 32}}
    trf_sequencer %w base 32 loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// TU-45

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    // expected-error@+1 {{TU-45: stride of loop 1 must be a multiple of 64 for reads of 64 bytes, found 32}}
    trf_sequencer %w loops [32 : 0, 4 : 32] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-14

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    // expected-error@+1 {{LIR-14: broadcast counts loops, of which there are 2, found 3}}
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 3 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-7

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    // expected-error@+1 {{LIR-7: accesses reach byte 320 of a buffer of 256}}
    trf_sequencer %w base 64 loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-14

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    // expected-error@+1 {{LIR-14: steps must be 128, found 64}}
    trf_sequencer %w loops [16 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-14

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    // expected-error@+1 {{LIR-14: steps of the broadcast loops must be 1, found 4}}
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 1 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// TU-50

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    // expected-error@+1 {{TU-50: depth must be 0 to 7, found 8}}
    packet_reducer add depth 8 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// TU-48

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    // expected-error@+1 {{TU-48: columns must be 1 to 32, found 64}}
    packet_reducer add depth 0 columns 64 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// TU-49

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    // expected-error@+1 {{TU-49: columns must be a power of two, found 3}}
    packet_reducer add depth 4 columns 3 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// TU-50

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    // expected-error@+1 {{TU-50: a tree of depth 4 leaves 4 columns, found 8}}
    packet_reducer add depth 4 columns 8 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// TU-50

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    // expected-error@+1 {{TU-50: a packet of 64 elements has 6 levels, found depth 7}}
    packet_reducer add depth 7 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-15

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    // expected-error@+1 {{LIR-15: sums are i32 or f32, found 'i16'}}
    packet_reducer add depth 6 columns 1 to i16
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-15

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    // expected-error@+1 {{LIR-15: sums of RawInt9 are i32, found 'f32'}}
    packet_reducer add depth 6 columns 1 to f32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-16

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    // expected-error@+1 {{LIR-16: slots and count must be positive, found 0 and 1}}
    time_reducer slots 0 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-16

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    // expected-error@+1 {{LIR-16: count must be at most 65536, found 65537}}
    time_reducer slots 1 count 65537 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-16

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    // expected-error@+1 {{LIR-16: strides must not be negative, found -1}}
    time_reducer slots 1 count 1 strides [0, -1]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-16

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    // expected-error@+1 {{LIR-16: strides belong to the 2 loops of trf_sequencer, found 1}}
    time_reducer slots 1 count 1 strides [0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-16

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    // expected-error@+1 {{LIR-16: the loops must fill all slots, found stride 2 where 1 is due}}
    time_reducer slots 4 count 1 strides [0, 2]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-16

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    // expected-error@+1 {{LIR-16: slots must be 4, found 2}}
    time_reducer slots 2 count 1 strides [0, 1]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-16

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    // expected-error@+1 {{LIR-16: slots 4 times count 3 must divide the 128 steps}}
    time_reducer slots 4 count 3 strides [0, 1]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-16

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    // expected-error@+1 {{LIR-16: sums end 4 times, but the outermost loops with stride 0 do not count to that}}
    time_reducer slots 32 count 1 strides [1, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// TU-60

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    // expected-error@+1 {{TU-60: the accumulator has 1024 cells, found slots 2048}}
    time_reducer slots 2048 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// TU-60

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 3 columns 8 to i32
    time_reducer slots 32 count 4 strides [1, 0]
    // expected-error@+1 {{TU-60: the accumulator has 1024 cells, found 8 lanes x 32 slots x 8 columns}}
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// TU-39

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    // expected-error@+1 {{TU-39: live must be 1, 2, 4 or 8 lanes, found 5}}
    lane_folder interleaved live 5
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// TU-57

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    // expected-error@+1 {{TU-57: live must be 8, found 4}}
    lane_folder interleaved live 4
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-17

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error@+1 {{LIR-17: fxp_mul has no operation add}}
    vector_alu fxp_mul add [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-17

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error@+1 {{LIR-17: add needs an operand}}
    vector_alu fxp_add add
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-17

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error@+1 {{the register file is the last slot}}
    vector_alu fxp_add add [vrf %v loops [8 : 4], imm 1] : !lir.mem<vrf, 32>
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-17

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error@+1 {{LIR-17: stride of loop 0 must be a multiple of 4, found 2}}
    vector_alu fxp_add add [vrf %v loops [8 : 2]] : !lir.mem<vrf, 32>
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-17

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error@+1 {{LIR-17: steps of the vrf loops must be 16, found 8}}
    vector_alu fxp_add add [vrf %v loops [8 : 4]] : !lir.mem<vrf, 32>
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-7

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error@+1 {{LIR-7: accesses reach byte 64 of a buffer of 32}}
    vector_alu fxp_add add [vrf %v loops [16 : 4]] : !lir.mem<vrf, 32>
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-12

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error@+1 {{LIR-12: vrf must be in vrf, found dm}}
    vector_alu fxp_add add [vrf %a loops [16 : 4]] : !lir.mem<dm, 2048>
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-17

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    // expected-error@+1 {{LIR-17: fxp_add runs once in a pass}}
    vector_alu fxp_add sub [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// TU-61

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    // expected-error@+1 {{TU-61: no cast from 'i32' to 'bf16'}}
    cast i32 to bf16
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// TU-61

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    // expected-error@+1 {{TU-61: the stream is 'i32', found cast from 'f32'}}
    cast f32 to bf16
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-18

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    // expected-error@+1 {{LIR-18: flits of 32 bytes come in, found in 64}}
    commit_adapter in 64 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// TU-73

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    // expected-error@+1 {{TU-73: keep must be 8, 16, 24 or 32 bytes, found 12}}
    commit_adapter in 32 keep 12
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-12

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    // expected-error@+1 {{LIR-12: target must be in dm, found trf}}
    commit_sequencer %w loops [2 : 32] write 32 slices [0, 255] : !lir.mem<trf, 2048, lanes 8>
  }
  return
}

// -----

// MM-23

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    // expected-error@+1 {{MM-23: write must be 8, 16, 24 or 32 bytes, found 64}}
    commit_sequencer %c loops [2 : 32] write 64 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-18

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    // expected-error@+1 {{LIR-18: write must be 32, found 16}}
    commit_sequencer %c loops [2 : 32] write 16 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-18

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    // expected-error@+1 {{LIR-18: steps must be 2, found 3}}
    commit_sequencer %c loops [3 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// MM-26

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    // expected-error@+1 {{MM-26: stride of loop 0 must be a multiple of 8, found 36}}
    commit_sequencer %c loops [2 : 36] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// MM-26

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    // expected-error@+1 {{MM-26: base must be a multiple of 8, found 4}}
    commit_sequencer %c base 4 loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-7

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    // expected-error@+1 {{LIR-7: accesses reach byte 4128 of a buffer of 4096}}
    commit_sequencer %c loops [2 : 4096] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-19

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    // expected-error@+1 {{LIR-19: slices are pairs of first and last, found 0 numbers}}
    commit_sequencer %c loops [2 : 32] write 32 slices [] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-19

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    // expected-error@+1 {{LIR-19: slices are pairs of first and last, found 3 numbers}}
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 1, 2] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-19

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    // expected-error@+1 {{LIR-19: slice ranges must ascend within 0 to 255, found 0 to 256}}
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 256] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-19

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    // expected-error@+1 {{LIR-19: slice ranges must ascend within 0 to 255, found 3 to 9}}
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 3, 3, 9] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-20

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    // expected-error@+1 {{LIR-20: expected fetch_sequencer at the start}}
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-20

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    // expected-error@+1 {{LIR-20: expected table_lookup or fetch_adapter or zero_point_sub or switch or custom_switch or collect after fetch_sequencer}}
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-20

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  // expected-error@+1 {{LIR-20: the route ends early, expected commit_sequencer after commit_adapter}}
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
  }
  return
}

// -----

// LIR-20

func.func @f() {
  // expected-error@+1 {{LIR-20: the route ends early, expected fetch_sequencer at the start}}
  lir.exec main {
  }
  return
}

// -----

// LIR-20

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    // expected-error@+1 {{LIR-20: expected vector_* or cast or transpose or commit_adapter or vrf_store after vector_alu}}
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-20

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
    // expected-error@+1 {{LIR-20: nothing follows commit_sequencer}}
    collect flits_per_packet 1
  }
  return
}

// -----

// LIR-20

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error@+1 {{LIR-20: is no operation unit, which alone stand in lir.exec}}
    %z = arith.constant 1 : i32
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-20

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error@+1 {{LIR-20: is no operation unit, which alone stand in lir.exec}}
    %z = lir.alloc : !lir.mem<dm, 8>
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// LIR-20: a contraction is complete.

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    // expected-error@+1 {{LIR-20: expected packet_reducer after trf_sequencer}}
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// TU-46

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec sub {
    fetch_sequencer %a loops [8 : 64, 4 : 512, 8 : 8] read 8 packet 64 flits 64 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    // expected-error@+1 {{TU-46: only the main context contracts}}
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
  }
  return
}

// -----

// LIR-12: a register-file store on main takes what collect gives.

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error@+1 {{LIR-12: rows must be 2, found 1}}
    vrf_store %v rows 1 : !lir.mem<vrf, 32>
  }
  return
}

// -----

// The register file of tensors behind the vector engine.

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec sub {
    fetch_sequencer %a loops [8 : 8] read 8 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    // expected-error@+1 {{LIR-20: expected vector_* or cast or transpose or commit_adapter or vrf_store after vector_alu}}
    trf_store %w rows_per_lane 8 : !lir.mem<trf, 2048, lanes 8>
  }
  return
}

// -----

// LIR-12: the rows of a register file behind the vector engine.

func.func @f(%a: !lir.mem<dm, 2048>, %v: !lir.mem<vrf, 32>) {
  lir.exec sub {
    fetch_sequencer %a loops [8 : 8] read 8 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    // expected-error@+1 {{LIR-12: rows must be 2, found 1}}
    vrf_store %v rows 1 : !lir.mem<vrf, 32>
  }
  return
}

// -----

// LIR-12: the rows of a register file behind the vector engine on main.

func.func @f(%a: !lir.mem<dm, 2048>, %v: !lir.mem<vrf, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    // expected-error@+1 {{LIR-12: rows must be 2, found 1}}
    vrf_store %v rows 1 : !lir.mem<vrf, 32>
  }
  return
}

// -----

// LIR-18: sub commits words.

func.func @f(%a: !lir.mem<dm, 2048>, %w: !lir.mem<trf, 2048, lanes 8>, %c: !lir.mem<dm, 4096>, %v: !lir.mem<vrf, 32>) {
  lir.exec sub {
    fetch_sequencer %a loops [8 : 8] read 8 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    commit_adapter in 32 keep 32
    // expected-error@+1 {{LIR-18: write must be 8, found 32}}
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

// A unit outside an exec.

func.func @f() {
  // expected-error@+1 {{'lir.collect' op expects parent op 'lir.exec'}}
  lir.collect flits_per_packet 1
  return
}

// -----

// LIR-24: a pattern of 32 bits, in the sub context alone.
func.func @fill(%r: !lir.mem<dm, 64>) {
  lir.exec sub {
    // expected-error@+1 {{LIR-24: the pattern has 32 bits, found 4294967296}}
    fill %r with 4294967296 : !lir.mem<dm, 64>
  }
  return
}

// -----

// LIR-25: an index and its keys come together.
func.func @no_keys(%a: !lir.mem<hbm, 4096>, %d: !lir.mem<dm, 64>, %i: !lir.mem<hbm, 64>) {
  // expected-error@+1 {{LIR-25: an engine without keys}}
  lir.dma %a to %d by %i scale 64 engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [8 : 0 : 8] packet 8>] : !lir.mem<hbm, 4096>, !lir.mem<dm, 64>, !lir.mem<hbm, 64>
  return
}

// -----

func.func @own_stride(%a: !lir.mem<hbm, 4096>, %d: !lir.mem<dm, 64>, %i: !lir.mem<hbm, 64>) {
  // expected-error@+1 {{LIR-25: a key moves the table by 8 bytes of its own}}
  lir.dma %a to %d by %i scale 64 engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [8 : 8 : 8] packet 8 list 0 keys 1>] : !lir.mem<hbm, 4096>, !lir.mem<dm, 64>, !lir.mem<hbm, 64>
  return
}

// -----

func.func @long_list(%a: !lir.mem<hbm, 4096>, %d: !lir.mem<dm, 64>, %i: !lir.mem<hbm, 16>) {
  // expected-error@+1 {{LIR-25: the list leaves the index}}
  lir.dma %a to %d by %i scale 64 engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [8 : 0 : 8] packet 8 list 0 keys 1>] : !lir.mem<hbm, 4096>, !lir.mem<dm, 64>, !lir.mem<hbm, 16>
  return
}
