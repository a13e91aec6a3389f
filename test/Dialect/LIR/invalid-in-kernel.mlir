// In a kernel the units of a command are verified before what they owe one
// another: numbers that would divide by zero or overflow are refused by the unit.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

func.func @packet() attributes {visa.kernel} {
  %0 = lir.alloc : !lir.mem<dm, 64>
  lir.exec main {
    // expected-error@+1 {{MM-12: packet must be positive, found 0}}
    fetch_sequencer %0 loops [] read 32 packet 0 flits 1 : !lir.mem<dm, 64>
    collect flits_per_packet 1
    commit_adapter in 32 keep 32
    commit_sequencer %0 loops [] write 32 slices [0, 0] : !lir.mem<dm, 64>
  }
  return
}

// -----

func.func @loop() attributes {visa.kernel} {
  %0 = lir.alloc : !lir.mem<dm, 64>
  lir.exec main {
    // expected-error@+1 {{MM-7: loop 0 must run 1 to 65536 times, found 9223372036854775807}}
    fetch_sequencer %0 loops [9223372036854775807 : 0, 4 : 0] read 32 packet 32 flits 4 : !lir.mem<dm, 64>
    collect flits_per_packet 1
    commit_adapter in 32 keep 32
    commit_sequencer %0 loops [] write 32 slices [0, 0] : !lir.mem<dm, 64>
  }
  return
}

// -----

func.func @broadcast() attributes {visa.kernel} {
  %0 = lir.alloc : !lir.mem<dm, 64>
  %1 = lir.alloc : !lir.mem<trf, 512, lanes 8>
  lir.exec main {
    fetch_sequencer %0 loops [] read 32 packet 32 flits 1 : !lir.mem<dm, 64>
    collect flits_per_packet 1
    // expected-error@+1 {{TU-43: time_broadcast must divide time 1, found 0}}
    feed_buffer RawInt8 Flit1 stream [time 1, packet 32] weight RawInt8 [lane 8, element 64] promoted RawInt9 lane_broadcast 8 time_broadcast 0
    trf_sequencer %1 loops [] read 32 broadcast 0 : !lir.mem<trf, 512, lanes 8>
    packet_reducer add depth 5 columns 1 to i32
    time_reducer slots 1 count 1 strides []
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %0 loops [] write 32 slices [0, 0] : !lir.mem<dm, 64>
  }
  return
}

// -----

func.func @count() attributes {visa.kernel} {
  %0 = lir.alloc : !lir.mem<dm, 64>
  %1 = lir.alloc : !lir.mem<trf, 512, lanes 8>
  lir.exec main {
    fetch_sequencer %0 loops [] read 32 packet 32 flits 1 : !lir.mem<dm, 64>
    collect flits_per_packet 1
    feed_buffer RawInt8 Flit1 stream [time 1, packet 32] weight RawInt8 [lane 8, element 64] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %1 loops [] read 32 broadcast 0 : !lir.mem<trf, 512, lanes 8>
    packet_reducer add depth 5 columns 1 to i32
    // expected-error@+1 {{LIR-16: slots and count must be positive, found 1 and 0}}
    time_reducer slots 1 count 0 strides []
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %0 loops [] write 32 slices [0, 0] : !lir.mem<dm, 64>
  }
  return
}
