// RUN: furiosa-translate --mlir-to-edf --verify-schedule=false %s -o %t.edf
// RUN: furiosa-translate --disassemble %t.edf | FileCheck %s
// RUN: furiosa-translate --edf-to-mlir %t.edf -o %t.mlir
// RUN: FileCheck %s --check-prefix=BACK < %t.mlir
// RUN: furiosa-translate --mlir-to-edf --verify-schedule=false %t.mlir -o %t.again
// RUN: cmp %t.edf %t.again

// Table lookup, zero point, switch, transpose and commit cast in registers.

resource.program @exchange pes 4 clusters [0] release "0.6" makespan 3000 lower_bound 0 {
  %a = resource.buffer at 0 live [0, 3000] : !lir.mem<dm, 64>
  %w = resource.buffer at 0 live [0, 3000] : !lir.mem<trf, 256, lanes 8>
  %c = resource.buffer at 64 live [0, 3000] : !lir.mem<dm, 512>
  // CHECK: exec subunit_bitmap=dm_slice|fetch|transpose|commit context_id=0 target_context=main
  // CHECK-LABEL: sfr FetchUnitMainContext bank 0
  // CHECK-NEXT: fetch_mode = 1 (table_lookup)
  // CHECK-NEXT: table_entry_size = 1 (f4e2m1_to_f8e4m3)
  // CHECK-NEXT: tables = 1
  // CHECK-NEXT: type_conversion = 4 (f8e4m3_to_f32)
  // CHECK: flit_count = 4
  // CHECK-NEXT: words_per_packet = 4
  // CHECK-NEXT: topology = 2 (broadcast1)
  // CHECK-NEXT: outer_slice_log_size = 4
  // CHECK-NEXT: outer_dim0_log_size = 1
  // CHECK-NEXT: outer_dim1_log_size = 3
  // CHECK: type_conversion = 2 (f32_to_bf16_relu)
  // BACK: table_lookup f4E2M1FN to f8E4M3FN
  // BACK-NEXT: fetch_adapter cast f8E4M3FN to f32
  // BACK-NEXT: switch broadcast1 slices [16, 8, 2] time0 1
  // BACK-NEXT: collect flits_per_packet 1
  // BACK-NEXT: commit_adapter in 32 keep 32 cast f32_to_bf16_relu
  resource.issue main cycles [0, 100] {
    lir.exec main {
      fetch_sequencer %a loops [4 : 4] read 4 packet 32 flits 4 : !lir.mem<dm, 64>
      table_lookup f4E2M1FN to f8E4M3FN
      fetch_adapter cast f8E4M3FN to f32
      switch broadcast1 slices [16, 8, 2] time0 1
      collect flits_per_packet 1
      commit_adapter in 32 keep 32 cast f32_to_bf16_relu
      commit_sequencer %c loops [32 : 16] write 16 slices [0, 255] : !lir.mem<dm, 512>
    }
  }
  resource.wait main
  // CHECK-LABEL: sfr FetchUnitMainContext bank 0
  // CHECK: flit_count = 2
  // CHECK-NEXT: words_per_packet = 3
  // CHECK-LABEL: sfr OperationDataPathMainContext bank 0
  // CHECK-NEXT: main_context = 0xc (transpose_engine|commit_unit)
  // CHECK-LABEL: sfr TransposeEngineMainContext bank 0
  // CHECK-NEXT: fetch_in_cols = 8
  // CHECK-NEXT: fetch_in_rows = 2
  // CHECK-NEXT: fetch_out_rows = 5
  // CHECK-NEXT: data_type = 3 (32_bit)
  // BACK: fetch_sequencer %{{.*}} loops [2 : 20, 5 : 4] read 4 packet 20 flits 2
  // BACK-NEXT: collect flits_per_packet 1
  // BACK-NEXT: transpose rows 2 columns 8 out_rows 5 bits 32
  resource.issue main cycles [100, 200] {
    lir.exec main {
      fetch_sequencer %a loops [2 : 20, 5 : 4] read 4 packet 20 flits 2 : !lir.mem<dm, 64>
      collect flits_per_packet 1
      transpose rows 2 columns 8 out_rows 5 bits 32
      commit_adapter in 32 keep 8
      commit_sequencer %c loops [5 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
    }
  }
  resource.wait main
  // CHECK-LABEL: sfr FetchUnitMainContext bank 0
  // CHECK-NEXT: num_zero_points = 1
  // CHECK-NEXT: zero_point[0] = 253
  // CHECK-NEXT: type_conversion = 9 (i8_to_i9)
  // CHECK: topology = 4 (inter_transpose)
  // CHECK-NEXT: outer_slice_log_size = 5
  // CHECK-NEXT: outer_dim0_log_size = 2
  // CHECK-NEXT: outer_dim1_log_size = 1
  // CHECK-NEXT: outer_dim0_chunk_size = 1
  // BACK: zero_point_sub -3 i8 to i9
  // BACK-NEXT: switch inter_transpose slices [32, 2, 4] time0 1
  // BACK-NEXT: collect
  // BACK-NEXT: feed_buffer RawInt9 Flit1
  resource.issue main cycles [200, 300] {
    lir.exec main {
      fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 64>
      zero_point_sub -3 i8 to i9
      switch inter_transpose slices [32, 2, 4] time0 1
      collect flits_per_packet 1
      feed_buffer RawInt9 Flit1 stream [time 2, packet 32] weight RawInt8 [lane 8, element 32] promoted RawInt9 lane_broadcast 8 time_broadcast 1
      trf_sequencer %w loops [2 : 0] read 32 broadcast 0 : !lir.mem<trf, 256, lanes 8>
      packet_reducer add depth 5 columns 1 to i32
      time_reducer slots 1 count 1 strides [0]
      lane_folder interleaved live 8
      commit_adapter in 32 keep 32
      commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 512>
    }
  }
  resource.wait main
  // Every slice has a block of its own; this is that of slices 0 to 3.
  // CHECK-LABEL: sfr FetchUnitMainContext bank 0
  // CHECK: topology = 6 (custom_broadcast)
  // CHECK-NEXT: outer_slice_log_size = 6
  // CHECK-NEXT: outer_dim0_log_size = 2
  // CHECK-NEXT: custom_snoop_bitmap_mask0 = 0xf
  // BACK: custom_switch ring 4 slices [64 : 4, 4 : 0] packets [4 : 1]
  resource.issue main cycles [300, 400] {
    lir.exec main {
      fetch_sequencer %a loops [4 : 16] read 16 packet 16 flits 4 : !lir.mem<dm, 64>
      custom_switch ring 4 slices [64 : 4, 4 : 0] packets [4 : 1]
      collect flits_per_packet 1
      commit_adapter in 32 keep 16
      commit_sequencer %c loops [16 : 16] write 16 slices [0, 255] : !lir.mem<dm, 512>
    }
  }
  resource.wait main
}
