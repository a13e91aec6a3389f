// RUN: furiosa-translate --mlir-to-edf --verify-schedule=false %s --split-input-file --verify-diagnostics

resource.program @twice pes 1 clusters [0] release "0.6" makespan 1 lower_bound 1 {
  %d = resource.buffer at 0 live [0, 1] : !lir.mem<dm, 524288>
  resource.wait main
  // expected-error @below {{no dma with tag 3 is issued before, so it would never end}}
  resource.wait dma tag 3
}

// -----

// A field that is too narrow, by register and name.
resource.program @wide pes 1 clusters [0] release "0.6" makespan 1 lower_bound 1 {
  %d = resource.buffer at 0 live [0, 1] : !lir.mem<dm, 524288>
  resource.issue main cycles [0, 1] {
    lir.exec main {
      // expected-error @below {{FetchUnitMainContext.fetch.words_per_packet: value 65536 does not fit the 16 bits}}
      fetch_sequencer %d loops [16384 : 32] read 32 packet 524288 flits 16384 : !lir.mem<dm, 524288>
      collect flits_per_packet 16384
      commit_adapter in 32 keep 32
      commit_sequencer %d loops [16384 : 32] write 32 slices [0, 0] : !lir.mem<dm, 524288>
    }
  }
}

// -----

// A stride that no descriptor holds.
resource.program @far pes 1 clusters [0] release "0.6" makespan 1 lower_bound 1 {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8589934592>
  %d = resource.buffer at 0 live [0, 1] : !lir.mem<dm, 32>
  resource.issue dma tag 0 cycles [0, 1] {
    // expected-error @below {{DmaDescriptor.source_strides: 4294967296 does not fit, in the engine of cluster 0 pe 0}}
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [2 : 4294967296 : 0] packet 32>] : !lir.mem<hbm, 8589934592>, !lir.mem<dm, 32>
  }
}

// -----

// What a reader of the registers would refuse: a byte written twice.
resource.program @overlap pes 1 clusters [0] release "0.6" makespan 1 lower_bound 1 {
  %d = resource.buffer at 0 live [0, 1] : !lir.mem<dm, 64>
  resource.issue main cycles [0, 1] {
    // expected-error @below {{CommitUnitMainContext.stride0.strides[0]: byte 8 is written more than once (TU-77)}}
    lir.exec main {
      fetch_sequencer %d loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 64>
      collect flits_per_packet 1
      commit_adapter in 32 keep 32
      commit_sequencer %d loops [2 : 8] write 32 slices [0, 0] : !lir.mem<dm, 64>
    }
  }
}
