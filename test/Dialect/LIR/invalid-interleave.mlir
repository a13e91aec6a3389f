// A fetch of two buffers in turn (TU-10), one broken rule a case.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

!m = !lir.mem<dm, 256>
func.func @loop_is_none(%a: !m, %b: !m) {
  lir.exec main {
    // expected-error @below {{TU-10: a loop of size 2 and stride 0 goes from one buffer to the other, found loop 1}}
    fetch_sequencer %a interleave %b from 0 along 1 loops [2 : 0] read 32 packet 32 flits 2 : !m, !m
    collect flits_per_packet 1
    commit_adapter in 32 keep 32
    commit_sequencer %a loops [2 : 32] write 32 slices [0, 255] : !m
  }
  return
}

// -----

!m = !lir.mem<dm, 256>
func.func @loop_below_zero(%a: !m, %b: !m) {
  lir.exec main {
    // expected-error @below {{TU-10: a loop of size 2 and stride 0 goes from one buffer to the other, found loop -1}}
    fetch_sequencer %a interleave %b from 0 along -1 loops [2 : 0] read 32 packet 32 flits 2 : !m, !m
    collect flits_per_packet 1
    commit_adapter in 32 keep 32
    commit_sequencer %a loops [2 : 32] write 32 slices [0, 255] : !m
  }
  return
}

// -----

!m = !lir.mem<dm, 256>
func.func @loop_of_three(%a: !m, %b: !m) {
  lir.exec main {
    // expected-error @below {{TU-10: a loop of size 2 and stride 0 goes from one buffer to the other, found loop 0}}
    fetch_sequencer %a interleave %b from 0 along 0 loops [3 : 0] read 32 packet 32 flits 3 : !m, !m
    collect flits_per_packet 1
    commit_adapter in 32 keep 32
    commit_sequencer %a loops [3 : 32] write 32 slices [0, 255] : !m
  }
  return
}

// -----

!m = !lir.mem<dm, 256>
func.func @loop_that_steps(%a: !m, %b: !m) {
  lir.exec main {
    // expected-error @below {{TU-10: a loop of size 2 and stride 0 goes from one buffer to the other, found loop 0}}
    fetch_sequencer %a interleave %b from 0 along 0 loops [2 : 64] read 32 packet 32 flits 2 : !m, !m
    collect flits_per_packet 1
    commit_adapter in 32 keep 32
    commit_sequencer %a loops [2 : 32] write 32 slices [0, 255] : !m
  }
  return
}

// -----

!m = !lir.mem<dm, 256>
!n = !lir.mem<dm, 512>
func.func @types(%a: !m, %b: !n) {
  lir.exec main {
    // expected-error @below {{TU-10: both buffers must be '!lir.mem<dm, 256>', found '!lir.mem<dm, 512>'}}
    fetch_sequencer %a interleave %b from 0 along 0 loops [2 : 0] read 32 packet 32 flits 2 : !m, !n
    collect flits_per_packet 1
    commit_adapter in 32 keep 32
    commit_sequencer %a loops [2 : 32] write 32 slices [0, 255] : !m
  }
  return
}

// -----

!m = !lir.mem<dm, 256>
func.func @behind_the_end(%a: !m, %b: !m) {
  lir.exec main {
    // expected-error @below {{LIR-7: accesses reach byte 320 of a buffer of 256}}
    fetch_sequencer %a interleave %b from 64 along 0 loops [2 : 0, 8 : 32] read 32 packet 32 flits 16 : !m, !m
    collect flits_per_packet 1
    commit_adapter in 32 keep 8
    commit_sequencer %a loops [16 : 8] write 8 slices [0, 255] : !m
  }
  return
}

// -----

!m = !lir.mem<dm, 256>
func.func @in_front(%a: !m, %b: !m) {
  lir.exec main {
    // expected-error @below {{LIR-7: base must not be negative, found -32}}
    fetch_sequencer %a interleave %b from -32 along 0 loops [2 : 0] read 32 packet 32 flits 2 : !m, !m
    collect flits_per_packet 1
    commit_adapter in 32 keep 32
    commit_sequencer %a loops [2 : 32] write 32 slices [0, 255] : !m
  }
  return
}

// -----

!m = !lir.mem<dm, 256>
func.func @no_second_buffer(%a: !m) {
  lir.exec main {
    // expected-error @below {{TU-10: other_base and pair_loop need a second buffer}}
    "lir.fetch_sequencer"(%a) {other_base = 32 : i64, sizes = array<i64: 2>, strides = array<i64: 0>, read = 32 : i64, packet = 32 : i64, flits = 2 : i64, operandSegmentSizes = array<i32: 1, 0, 0>} : (!m) -> ()
    collect flits_per_packet 1
    commit_adapter in 32 keep 32
    commit_sequencer %a loops [2 : 32] write 32 slices [0, 255] : !m
  }
  return
}

// -----

!m = !lir.mem<dm, 256>
!hbm = !lir.mem<hbm, 256>
func.func @in_hbm(%a: !m, %b: !hbm) {
  lir.exec main {
    // expected-error @below {{TU-10: both buffers must be}}
    fetch_sequencer %a interleave %b from 0 along 0 loops [2 : 0] read 32 packet 32 flits 2 : !m, !hbm
    collect flits_per_packet 1
    commit_adapter in 32 keep 32
    commit_sequencer %a loops [2 : 32] write 32 slices [0, 255] : !m
  }
  return
}
