// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

// LIR-7: a fetch reads inside its buffer to the last byte, whatever the packet:
// these reads have twice the stride of what they read.

func.func @doubled_stride(%a: !lir.mem<dm, 32>, %c: !lir.mem<dm, 32>) {
  lir.exec main {
    // expected-error@+1 {{LIR-7: accesses reach byte 56 of a buffer of 32; where padding is read there, the buffer must have room for it}}
    fetch_sequencer %a loops [4 : 16] read 8 packet 32 flits 1 : !lir.mem<dm, 32>
    collect flits_per_packet 1
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [] write 32 slices [0, 255] : !lir.mem<dm, 32>
  }
  return
}

// -----

// One byte of the last read.
func.func @last_byte(%a: !lir.mem<dm, 31>, %c: !lir.mem<dm, 32>) {
  lir.exec main {
    // expected-error@+1 {{LIR-7: accesses reach byte 32 of a buffer of 31; where padding}}
    fetch_sequencer %a loops [] read 32 packet 32 flits 1 : !lir.mem<dm, 31>
    collect flits_per_packet 1
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [] write 32 slices [0, 255] : !lir.mem<dm, 32>
  }
  return
}

// -----

// The second buffer of a pair.
func.func @other(%a: !lir.mem<dm, 64>, %b: !lir.mem<dm, 64>, %c: !lir.mem<dm, 64>) {
  lir.exec main {
    // expected-error@+1 {{LIR-7: accesses reach byte 72 of a buffer of 64; where padding}}
    fetch_sequencer %a interleave %b from 40 along 0 loops [2 : 0] read 32 packet 32 flits 2 : !lir.mem<dm, 64>, !lir.mem<dm, 64>
    collect flits_per_packet 1
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 64>
  }
  return
}

// -----

// The sub context: the last of four reads.
func.func @sub(%a: !lir.mem<dm, 24>, %v: !lir.mem<vrf, 32>) {
  lir.exec sub {
    // expected-error@+1 {{LIR-7: accesses reach byte 32 of a buffer of 24; where padding}}
    fetch_sequencer %a loops [4 : 8] read 8 packet 32 flits 1 : !lir.mem<dm, 24>
    collect flits_per_packet 1
    vrf_store %v rows 1 : !lir.mem<vrf, 32>
  }
  return
}
