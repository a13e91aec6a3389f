// RUN: furiosa-translate --mlir-to-edf --verify-schedule=false %s -o %t.edf
// RUN: furiosa-translate --disassemble %t.edf | FileCheck %s
// RUN: furiosa-translate --edf-to-mlir %t.edf -o %t.mlir
// RUN: FileCheck %s --check-prefix=BACK < %t.mlir
// RUN: furiosa-translate --mlir-to-edf --verify-schedule=false %t.mlir -o %t.again
// RUN: cmp %t.edf %t.again

// Every unit that the matmul does not use: VRF load, fetch conversion, ALUs
// with both kinds of operand, the cast, a copy through the sub context.

resource.program @vector pes 1 clusters [1] release "0.4" makespan 3000 lower_bound 0 {
  %d = resource.buffer at 8 live [0, 3000] : !lir.mem<dm, 64>
  %v = resource.buffer at 96 live [0, 3000] : !lir.mem<vrf, 32>
  %u = resource.buffer at 128 live [0, 3000] : !lir.mem<vrf, 64>
  %e = resource.buffer at 128 live [0, 3000] : !lir.mem<dm, 128>
  // CHECK-LABEL: program cluster 1 {
  // CHECK: issue pe 0: stovrf {{.*}}fetch_base=0x8 fetch_limit=4 {{.*}}words_per_packet=4 {{.*}}write_row_base=0x3 write_row_count=1 write_row_stride=1
  // CHECK: issue pe 0: stovrf {{.*}}fetch_base=0x8 fetch_limit=8 {{.*}}words_per_packet=4 {{.*}}write_row_base=0x4 write_row_count=2 write_row_stride=1
  // CHECK: issue pe 0: exec subunit_bitmap=dm_slice|fetch|vector_engine|commit context_id=0 target_context=main
  // CHECK: issue pe 0: exec subunit_bitmap=dm_slice|fetch|vector_engine|commit context_id=0 target_context=main
  // CHECK: issue pe 0: exec subunit_bitmap=dm_slice|sub_fetch|sub_commit context_id=0 target_context=sub
  // CHECK: issue pe 0: exec subunit_bitmap=dm_slice|fetch|commit context_id=0 target_context=main
  // CHECK: end

  resource.issue sub cycles [0, 100] {
    lir.exec sub {
      fetch_sequencer %d loops [4 : 8] read 8 packet 32 flits 1 : !lir.mem<dm, 64>
      collect flits_per_packet 1
      vrf_store %v rows 1 : !lir.mem<vrf, 32>
    }
  }
  resource.wait sub
  resource.issue sub cycles [100, 200] {
    lir.exec sub {
      fetch_sequencer %d loops [8 : 8] read 8 packet 32 flits 2 : !lir.mem<dm, 64>
      collect flits_per_packet 1
      vrf_store %u rows 2 : !lir.mem<vrf, 64>
    }
  }
  resource.wait sub
  // CHECK-LABEL: sfr FetchUnitMainContext bank 0
  // CHECK-NEXT: type_conversion = 2 (i8_to_i32)
  // CHECK-NEXT: base = 8
  // CHECK-NEXT: fetch_size = 8
  // CHECK-NEXT: limits[0] = 2
  // CHECK: flit_count = 2
  // CHECK-NEXT: words_per_packet = 4
  // CHECK-LABEL: sfr OperationDataPathMainContext bank 0
  // CHECK-NEXT: main_context = 0xa (vector_engine|commit_unit)
  // CHECK-LABEL: sfr CommitUnitMainContext bank 0
  // CHECK-NEXT: base = 128
  // CHECK-NEXT: commit_in_size = 32
  // CHECK-NEXT: commit_size = 32
  // CHECK-NEXT: limits[0] = 2
  // CHECK: strides[0] = 32
  // CHECK-NEXT: slice_enable_bitmap_mask0 = 0x5
  // CHECK-LABEL: sfr VectorRouteUnitMainContext bank 0
  // CHECK-NEXT: data_out_source = 2 (arithmetic_unit)
  // CHECK-NEXT: arithmetic_unit_in_source = 1 (stream)
  // CHECK-NEXT: }
  // CHECK-NEXT: {{0x.*}}: sfr VectorReduceUnitMainContext bank 0
  // CHECK-NEXT: cluster_source = 5 (bypass)
  // CHECK-LABEL: sfr VectorArithmeticUnitMainContext bank 0
  // CHECK-NEXT: logic_cluster_source = 6 (bypass)
  // The stream passes add, mul, shift, in this order.
  // CHECK-NEXT: fxp_mul_source = 1 (fxp_add)
  // CHECK-NEXT: fxp_right_shift_source = 3 (fxp_mul)
  // CHECK-NEXT: fxp_cluster_source = 4 (fxp_right_shift)
  // CHECK-NEXT: fxp_add.arg_mode = 1
  // CHECK-NEXT: fxp_add.reg0_cmp_op = 3 (always)
  // CHECK-NEXT: fxp_add.scalar[0] = {{4294967295|0xffffffff}}
  // CHECK-NEXT: fxp_mul.op_mode = 1 (mul_int)
  // CHECK-NEXT: fxp_mul.arg_mode = 1
  // CHECK-NEXT: fxp_mul.rf_cmp_op = 3 (always)
  // CHECK-NEXT: fxp_right_shift.op_mode = 1 (sar)
  // CHECK-NEXT: fxp_right_shift.arg_mode = 1
  // CHECK-NEXT: fxp_right_shift.rf_cmp_op = 3 (always)
  // CHECK-NEXT: fp_cluster_source = 6 (bypass)
  // CHECK-NEXT: clip_cluster_source = 4 (bypass)
  // CHECK-NEXT: read_indexer0_module = 8 (fxp_mul)
  // CHECK-NEXT: read_indexer1_module = 9 (fxp_right_shift)
  // CHECK-NEXT: read_indexer0_operation = 1 (on)
  // CHECK-NEXT: read_indexer0_proceed = 1
  // CHECK-NEXT: read_indexer0_element_size = 2 (4_bytes)
  // CHECK-NEXT: read_indexer1_operation = 1 (on)
  // CHECK-NEXT: read_indexer1_proceed = 1
  // CHECK-NEXT: read_indexer1_element_size = 2 (4_bytes)
  // CHECK-NEXT: read_indexer0_base = 96
  // CHECK-NEXT: read_indexer1_base = 128
  // CHECK-NEXT: read_indexer0_limit[0] = 8
  // CHECK-NEXT: read_indexer0_limit[1] = 2
  // CHECK-NEXT: read_indexer0_limit[2] = 1
  // CHECK: read_indexer0_stride[0] = 4
  // CHECK-NEXT: read_indexer1_limit[0] = 16
  // CHECK-NEXT: read_indexer1_limit[1] = 1
  // CHECK: read_indexer1_stride[0] = 4
  resource.issue main cycles [200, 300] {
    lir.exec main {
      fetch_sequencer %d loops [2 : 8] read 8 packet 32 flits 2 : !lir.mem<dm, 64>
      fetch_adapter cast i8 to i32
      collect flits_per_packet 1
      vector_alu fxp_add add [imm -1]
      vector_alu fxp_mul mul_int [vrf %v loops [2 : 0, 8 : 4]] : !lir.mem<vrf, 32>
      vector_alu fxp_right_shift sar [vrf %u loops [16 : 4]] : !lir.mem<vrf, 64>
      commit_adapter in 32 keep 32
      commit_sequencer %e loops [2 : 32] write 32 slices [0, 0, 2, 2] : !lir.mem<dm, 128>
    }
  }
  resource.wait main
  // A cast alone: the stream passes by the ALUs.
  // CHECK-LABEL: sfr CommitUnitMainContext bank 0
  // CHECK-NEXT: base = 136
  // CHECK-NEXT: commit_in_size = 32
  // CHECK-NEXT: commit_size = 16
  // CHECK-LABEL: sfr VectorRouteUnitMainContext bank 0
  // CHECK-NEXT: data_out_source = 1 (stream)
  // CHECK-NEXT: cast_compaction_mode = 6 (bf16)
  // CHECK-NEXT: cast_compaction_count = 1 (pad)
  resource.issue main cycles [300, 400] {
    lir.exec main {
      fetch_sequencer %d base 32 loops [] read 32 packet 32 flits 1 : !lir.mem<dm, 64>
      collect flits_per_packet 1
      cast f32 to bf16
      commit_adapter in 32 keep 16
      commit_sequencer %e base 8 loops [1 : 64] write 16 slices [0, 63] : !lir.mem<dm, 128>
    }
  }
  resource.wait main
  // CHECK-LABEL: sfr OperationDataPath bank 0
  // CHECK-NEXT: data_path_route_sub_context = 0x8 (commit_unit)
  // CHECK-LABEL: sfr SubCommitUnit bank 0
  // CHECK-NEXT: packet_valid_count = 16
  // CHECK-NEXT: base = 128
  // CHECK-NEXT: commit_in_size = 8
  // CHECK-NEXT: limits[0] = 2
  // CHECK-NEXT: limits[1] = 2
  // CHECK: strides[0] = 8
  // CHECK-NEXT: strides[1] = 32
  resource.issue sub cycles [400, 500] {
    lir.exec sub {
      fetch_sequencer %d loops [8 : 8] read 8 packet 32 flits 2 : !lir.mem<dm, 64>
      collect flits_per_packet 1
      commit_adapter in 32 keep 16
      commit_sequencer %e loops [2 : 32, 2 : 8] write 8 slices [0, 3] : !lir.mem<dm, 128>
    }
  }
  resource.wait sub
  // CHECK: main_context = 0x8 (commit_unit)
  resource.issue main cycles [500, 600] {
    lir.exec main {
      fetch_sequencer %d loops [2 : 32] read 32 packet 64 flits 2 : !lir.mem<dm, 64>
      collect flits_per_packet 2
      commit_adapter in 32 keep 24
      commit_sequencer %e loops [2 : 24] write 24 slices [0, 63] : !lir.mem<dm, 128>
    }
  }
  resource.wait main
}

// BACK-LABEL: resource.program @vector pes 1 clusters [1] release "0.4" makespan 3000 lower_bound 0 {
// BACK: resource.issue main cycles [200, 300] {
// BACK-NEXT: lir.exec main {
// BACK-NEXT: fetch_sequencer %{{.*}} loops [2 : 8] read 8 packet 32 flits 2 : !lir.mem<dm, 64>
// BACK-NEXT: fetch_adapter cast i8 to i32
// BACK-NEXT: collect flits_per_packet 1
// BACK-NEXT: vector_alu fxp_add add [imm -1]
// BACK-NEXT: vector_alu fxp_mul mul_int [vrf %{{.*}} loops [2 : 0, 8 : 4]] : !lir.mem<vrf, 32>
// BACK-NEXT: vector_alu fxp_right_shift sar [vrf %{{.*}} loops [16 : 4]] : !lir.mem<vrf, 64>
// BACK-NEXT: commit_adapter in 32 keep 32
// BACK-NEXT: commit_sequencer %{{.*}} loops [2 : 32] write 32 slices [0, 0, 2, 2] : !lir.mem<dm, 128>
// BACK: fetch_sequencer %{{.*}} base 32 loops [] read 32 packet 32 flits 1 : !lir.mem<dm, 64>
// BACK: cast f32 to bf16
// BACK: commit_sequencer %{{.*}} base 8 loops [] write 16 slices [0, 63] : !lir.mem<dm, 128>
// BACK: commit_sequencer %{{.*}} loops [2 : 32, 2 : 8] write 8 slices [0, 3] : !lir.mem<dm, 128>
