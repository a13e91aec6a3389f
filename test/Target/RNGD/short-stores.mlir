// RUN: furiosa-translate --mlir-to-edf --verify-schedule=false %s -o %t.edf
// RUN: furiosa-translate --disassemble %t.edf | FileCheck %s
// RUN: furiosa-translate --edf-to-mlir %t.edf -o %t.mlir
// RUN: FileCheck %s --check-prefix=BACK < %t.mlir
// RUN: furiosa-translate --mlir-to-edf --verify-schedule=false %t.mlir -o %t.again
// RUN: cmp %t.edf %t.again

// Words in a row go into a register file by one command; others, and those
// that slices exchange, by registers and an exec.

resource.program @stores pes 4 clusters [0] release "0.6" makespan 3000 lower_bound 0 {
  %a = resource.buffer at 1024 live [0, 3000] : !lir.mem<dm, 4096>
  %w = resource.buffer at 64 live [0, 3000] : !lir.mem<trf, 4096, lanes 8>
  %v = resource.buffer at 128 live [0, 3000] : !lir.mem<vrf, 256>
  // 8 lanes of 16 rows from row 2 on, packets of 2 flits.
  // CHECK: issue pe 0-3: stotrf {{.*}}fetch_base=0x400 fetch_limit=512 {{.*}}flits_per_packet=2 {{.*}}write_row_base=0x2 write_row_count=16 write_mac_row=8 flits_per_period=1 valid_flits_per_period=1
  // CHECK-NEXT: issue pe 0-3: wait dma_tag_id=0 type=execution target_context=sub
  // BACK: fetch_sequencer %[[A:.*]] loops [512 : 8] read 8 packet 64 flits 128 : !lir.mem<dm, 4096>
  // BACK-NEXT: collect flits_per_packet 2
  // BACK-NEXT: trf_store %{{.*}} rows_per_lane 16
  resource.issue sub cycles [0, 100] {
    lir.exec sub {
      fetch_sequencer %a loops [16 : 256, 4 : 64, 8 : 8] read 8 packet 64 flits 128 : !lir.mem<dm, 4096>
      collect flits_per_packet 2
      trf_store %w rows_per_lane 16 : !lir.mem<trf, 4096, lanes 8>
    }
  }
  resource.wait sub
  // i8 as i32: a word of 8 bytes is a flit.
  // CHECK: issue pe 0-3: stovrf {{.*}}fetch_base=0x408 fetch_limit=8 {{.*}}i8_to_i32{{.*}}words_per_packet=4 {{.*}}write_row_base=0x4 write_row_count=8 write_row_stride=1
  // BACK: fetch_sequencer %[[A]] base 8 loops [8 : 8] read 8 packet 32 flits 8
  // BACK-NEXT: fetch_adapter cast i8 to i32
  // BACK-NEXT: collect flits_per_packet 1
  // BACK-NEXT: vrf_store %{{.*}} rows 8
  resource.issue sub cycles [100, 200] {
    lir.exec sub {
      fetch_sequencer %a base 8 loops [8 : 8] read 8 packet 32 flits 8 : !lir.mem<dm, 4096>
      fetch_adapter cast i8 to i32
      collect flits_per_packet 1
      vrf_store %v rows 8 : !lir.mem<vrf, 256>
    }
  }
  resource.wait sub
  // A step is left out.
  // CHECK: mtosfr {{.*}} (VectorRegisterFile, bank 0)
  // CHECK: issue pe 0-3: exec subunit_bitmap=dm_slice|sub_fetch|vrf
  // BACK: fetch_sequencer %[[A]] loops [8 : 64, 4 : 8] read 8 packet 32 flits 8
  resource.issue sub cycles [200, 300] {
    lir.exec sub {
      fetch_sequencer %a loops [8 : 64, 4 : 8] read 8 packet 32 flits 8 : !lir.mem<dm, 4096>
      collect flits_per_packet 1
      vrf_store %v rows 8 : !lir.mem<vrf, 256>
    }
  }
  resource.wait sub
  // CHECK: mtosfr {{.*}} (DotProductEngineRegisterFile, bank 0)
  // CHECK: issue pe 0-3: exec subunit_bitmap=dm_slice|sub_fetch|trf
  // BACK: switch transpose slices [4, 8, 8] time0 1
  resource.issue sub cycles [300, 400] {
    lir.exec sub {
      fetch_sequencer %a loops [512 : 8] read 8 packet 32 flits 128 : !lir.mem<dm, 4096>
      switch transpose slices [4, 8, 8] time0 1
      collect flits_per_packet 1
      trf_store %w rows_per_lane 16 : !lir.mem<trf, 4096, lanes 8>
    }
  }
  resource.wait sub
}
