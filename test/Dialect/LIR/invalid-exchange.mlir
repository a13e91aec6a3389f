// Units that convert, exchange and turn the stream, one broken rule a case.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

// TU-5: the pairs of the tables.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 64>
    // expected-error@+1 {{TU-5: no fetch conversion from 'bf16' to 'f32'; there are f4E2M1FN to f8E4M3FN and f8E5M2, f8E4M3FN and f8E5M2 to bf16}}
    table_lookup bf16 to f32
    collect flits_per_packet 1
    commit_adapter in 32 keep 8
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// TU-5: main only.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec sub {
    fetch_sequencer %a loops [4 : 8] read 8 packet 16 flits 4 : !lir.mem<dm, 64>
    // expected-error@+1 {{TU-5: the sub context has no lookup tables}}
    table_lookup f4E2M1FN to f8E4M3FN
    collect flits_per_packet 1
    commit_adapter in 32 keep 8
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// TU-7: 8 bytes become 16, then 64 (row 64).

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 64 flits 4 : !lir.mem<dm, 64>
    table_lookup f4E2M1FN to f8E4M3FN
    // expected-error@+1 {{TU-7: a read may grow to 32 bytes, found 64}}
    fetch_adapter cast f8E4M3FN to f32
    collect flits_per_packet 1
    commit_adapter in 32 keep 8
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// TU-4: what one conversion makes the next takes.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 64 flits 4 : !lir.mem<dm, 64>
    table_lookup f8E4M3FN to bf16
    // expected-error@+1 {{TU-4: the stream is 'bf16', found a conversion from 'i8'}}
    fetch_adapter cast i8 to i32
    collect flits_per_packet 1
    commit_adapter in 32 keep 8
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// TU-8: pairs.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 64>
    // expected-error@+1 {{TU-8: no fetch conversion from 'i8' to 'i5'; there are i4 to i5, i8 to i9}}
    zero_point_sub 3 i8 to i5
    collect flits_per_packet 1
    commit_adapter in 32 keep 8
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// TU-8: range.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 64>
    // expected-error@+1 {{TU-8: zero point must be -8 to 7, found 8}}
    zero_point_sub 8 i4 to i5
    collect flits_per_packet 1
    commit_adapter in 32 keep 8
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// LIR-20: order.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 64>
    zero_point_sub 3 i4 to i5
    // expected-error@+1 {{LIR-20: expected switch or custom_switch or collect after zero_point_sub}}
    fetch_adapter cast i8 to i32
    collect flits_per_packet 1
    commit_adapter in 32 keep 8
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// TU-36: a stream as it leaves fetch.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 64>
    zero_point_sub 3 i8 to i9
    collect flits_per_packet 1
    // expected-error@+1 {{TU-36: the stream comes as 'i9' from fetch, found RawInt8}}
    feed_buffer RawInt8 Flit1 stream [time 4, packet 32] weight RawInt8 [lane 8, element 32] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [4 : 0] read 32 broadcast 0 : !lir.mem<trf, 256, lanes 8>
    packet_reducer add depth 5 columns 1 to i32
    time_reducer slots 1 count 1 strides [0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 8
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// TU-9: i9 without a zero point.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 64>
    collect flits_per_packet 1
    // expected-error@+1 {{TU-9: only zero_point_sub makes a stream of RawInt9}}
    feed_buffer RawInt9 Flit1 stream [time 4, packet 32] weight RawInt8 [lane 8, element 32] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [4 : 0] read 32 broadcast 0 : !lir.mem<trf, 256, lanes 8>
    packet_reducer add depth 5 columns 1 to i32
    time_reducer slots 1 count 1 strides [0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 8
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// TU-13.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 64>
    // expected-error@+1 {{TU-13: slices must be powers of two up to 256, found 3}}
    switch broadcast1 slices [64, 3, 1] time0 1
    collect flits_per_packet 1
    commit_adapter in 32 keep 8
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// TU-14: three parts.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 64>
    // expected-error@+1 {{TU-14: slices are slice2, slice1 and slice0, found 2 numbers}}
    switch broadcast1 slices [64, 4] time0 1
    collect flits_per_packet 1
    commit_adapter in 32 keep 8
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// TU-14: as many slices as a cluster has.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 64>
    // expected-error@+1 {{TU-14: the product of slices must be 64, 128 or 256, found 32}}
    switch broadcast1 slices [8, 4, 1] time0 1
    collect flits_per_packet 1
    commit_adapter in 32 keep 8
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// TU-14: forwarding.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 64>
    // expected-error@+1 {{TU-14: forwarding has slice1 1 and slice0 1, found 4 and 1}}
    switch forwarding slices [64, 4, 1] time0 1
    collect flits_per_packet 1
    commit_adapter in 32 keep 8
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// TU-15: time0 where there is none.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 64>
    // expected-error@+1 {{TU-15: time0 must be 1 in this topology, found 2}}
    switch broadcast1 slices [64, 4, 1] time0 2
    collect flits_per_packet 1
    commit_adapter in 32 keep 8
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// TU-15: packets.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 64>
    // expected-error@+1 {{TU-15: the 4 packets are no multiple of 8}}
    switch inter_transpose slices [32, 4, 2] time0 2
    collect flits_per_packet 1
    commit_adapter in 32 keep 8
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// TU-3.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 2 flits 16 : !lir.mem<dm, 64>
    // expected-error@+1 {{TU-3: the switch moves words of 8 bytes, found packets of 2}}
    switch transpose slices [64, 4, 1] time0 1
    collect flits_per_packet 1
    commit_adapter in 32 keep 8
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// LIR-18: a switch that copies makes more flits.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 64>
    switch broadcast1 slices [64, 4, 1] time0 1
    collect flits_per_packet 1
    commit_adapter in 32 keep 8
    // expected-error@+1 {{LIR-18: steps must be 16, found 4}}
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// TU-65.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 64>
    collect flits_per_packet 1
    // expected-error@+1 {{TU-65: bits must be 4, 8, 16 or 32, found 64}}
    transpose rows 2 columns 8 out_rows 8 bits 64
    commit_adapter in 32 keep 8
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// TU-68.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 64>
    collect flits_per_packet 1
    // expected-error@+1 {{TU-68: rows of 32 bits must be 1 to 2, found 4}}
    transpose rows 4 columns 8 out_rows 8 bits 32
    commit_adapter in 32 keep 8
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// TU-69: columns.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 64>
    collect flits_per_packet 1
    // expected-error@+1 {{TU-69: columns of 4 bits must be powers of two from 16 to 32, found 8}}
    transpose rows 4 columns 8 out_rows 8 bits 4
    commit_adapter in 32 keep 8
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// TU-69: rows that leave.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 64>
    collect flits_per_packet 1
    // expected-error@+1 {{TU-69: out_rows must be 1 to the 8 columns, found 9}}
    transpose rows 2 columns 8 out_rows 9 bits 32
    commit_adapter in 32 keep 8
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// TU-70.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 64>
    collect flits_per_packet 1
    // expected-error@+1 {{TU-70: 4 flits are no batches of 8}}
    transpose rows 8 columns 8 out_rows 8 bits 8
    commit_adapter in 32 keep 8
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// TU-65: the width of the stream.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 32 flits 4 : !lir.mem<dm, 64>
    fetch_adapter cast i8 to i32
    collect flits_per_packet 1
    // expected-error@+1 {{TU-65: the stream is 'i32', found bits 8}}
    transpose rows 4 columns 8 out_rows 8 bits 8
    commit_adapter in 32 keep 8
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// TU-75.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 64>
    collect flits_per_packet 1
    // expected-error@+1 {{TU-75: keep must be 16 or 32 bytes of f32, found 24}}
    commit_adapter in 32 keep 24 cast f32_to_bf16
    commit_sequencer %c loops [4 : 16] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// TU-76: type.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 32 flits 4 : !lir.mem<dm, 64>
    fetch_adapter cast i8 to i32
    collect flits_per_packet 1
    // expected-error@+1 {{TU-76: f32_to_bf16 takes f32, found 'i32'}}
    commit_adapter in 32 keep 32 cast f32_to_bf16
    commit_sequencer %c loops [4 : 16] write 16 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// TU-76: context.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec sub {
    fetch_sequencer %a loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 64>
    collect flits_per_packet 1
    // expected-error@+1 {{TU-76: only the main context converts on the way out}}
    commit_adapter in 32 keep 16 cast f32_to_bf16
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// LIR-18: a cast halves what is written.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 64>
    collect flits_per_packet 1
    commit_adapter in 32 keep 16 cast f32_to_bf16
    // expected-error@+1 {{LIR-18: write must be 8, found 16}}
    commit_sequencer %c loops [4 : 16] write 16 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// TU-14.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 64>
    // expected-error@+1 {{TU-14: the product of slices must be 64, 128 or 256, found 32}}
    custom_switch ring 4 slices [32 : 4] packets []
    collect flits_per_packet 1
    commit_adapter in 32 keep 8
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// TU-26: a power of two.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 64>
    // expected-error@+1 {{TU-26: the ring must be a power of two up to the 256 slices, found 6}}
    custom_switch ring 6 slices [256 : 1] packets []
    collect flits_per_packet 1
    commit_adapter in 32 keep 8
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// TU-24.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 64>
    // expected-error@+1 {{TU-24: packets come in rising order of the slices that send them, found stride 1 outside of loops that reach 2}}
    custom_switch ring 4 slices [64 : 4, 4 : 0] packets [2 : 1, 2 : 2]
    collect flits_per_packet 1
    commit_adapter in 32 keep 8
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}

// -----

// TU-26: within the ring.

func.func @f(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  lir.exec main {
    fetch_sequencer %a loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 64>
    // expected-error@+1 {{TU-26: packets come from a ring of 4 slices, found loops that reach 7}}
    custom_switch ring 4 slices [64 : 4, 4 : 0] packets [8 : 1]
    collect flits_per_packet 1
    commit_adapter in 32 keep 8
    commit_sequencer %c loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}
