// RUN: furiosa-translate --mlir-to-edf --verify-schedule=false %s -o %t.edf
// RUN: furiosa-translate --disassemble %t.edf | FileCheck %s
// RUN: furiosa-translate --edf-to-mlir %t.edf | FileCheck %s --check-prefix=BACK
// RUN: furiosa-translate --edf-to-mlir %t.edf -o %t.mlir
// RUN: furiosa-translate --mlir-to-edf --verify-schedule=false %t.mlir -o %t.again
// RUN: cmp %t.edf %t.again

// Every unit of the vector engine, to registers and back.

resource.program @vector pes 1 clusters [1] release "0.6" makespan 3000 lower_bound 0 {
  %d = resource.buffer at 0 live [0, 3000] : !lir.mem<dm, 256>
  %e = resource.buffer at 512 live [0, 3000] : !lir.mem<dm, 256>
  %v = resource.buffer at 32 live [0, 3000] : !lir.mem<vrf, 32>

  // Ids, guards, the stash, both conversions, all clusters.
  // CHECK-LABEL: sfr VectorArithmeticUnitMainContext bank 0
  // CHECK-NEXT: mode = 1 (compare)
  // CHECK-NEXT: compare_operation[0] = 1 (less)
  // CHECK-NEXT: compare_operation[1] = 5 (true)
  // CHECK-NEXT: compare_operation[2] = 6 (false)
  // CHECK-NEXT: compare_operation[3] = 6 (false)
  // CHECK-NEXT: scalar_register[0] = 0xa
  // CHECK-NEXT: write_cmp_op = 3 (always)
  // CHECK: logic_and.reg0_cmp_op = 1 (match)
  // CHECK-NEXT: logic_and.reg1_cmp_op = 2 (not_match)
  // CHECK-NEXT: logic_and.reg0_execution_id = 1
  // CHECK-NEXT: logic_and.reg0_execution_id_mask = 3
  // CHECK-NEXT: logic_and.reg1_execution_id_mask = 8
  // CHECK: fp_mul0_source = 1 (fp_fma)
  // CHECK-NEXT: fp_cluster_source = 4 (fp_mul0)
  // CHECK-NEXT: fp_fma.op_mode = 2 (fma)
  // CHECK-NEXT: fp_fma.arg_mode = 6 (120)
  // CHECK: fp_fma.secondary_scalar[0] = {{.*}}0x40000000
  // CHECK: fp_div.rf_cmp_op = 3 (always)
  // CHECK: fxp_to_fp_mode = 1 (convert)
  // CHECK-NEXT: fxp_to_fp_int_width = 31
  // CHECK-NEXT: fp_to_fxp_mode = 1 (convert)
  // CHECK-NEXT: fp_to_fxp_int_width = 15
  // CHECK-NEXT: split_layer_mode = 1 (split)
  // CHECK-NEXT: concat_layer_mode = 1 (concat)
  // CHECK: read_indexer0_module = 15 (fp_div)
  // CHECK-NEXT: operand_indexer_module = 18 (clip_min)
  // CHECK-NEXT: write_indexer_module = 1 (logic_and)
  // BACK: vector_tag i32 [less 10, true, false, false]
  // BACK-NEXT: vector_alu logic_and and [imm -1 if "10--", imm 255 if "!---0"]
  // BACK-NEXT: vector_stash
  // BACK-NEXT: vector_fxp_to_fp width 31
  // BACK-NEXT: vector_narrow split
  // BACK-NEXT: vector_alu fp_fma fma [imm 0x3F800000 with 0x40000000] mode "120"
  // BACK-NEXT: vector_alu fp_mul0 mul [imm 0x40400000] mode "10"
  // BACK-NEXT: vector_alu fp_div div [vrf %{{.*}} loops [8 : 0, 8 : 4]] : !lir.mem<vrf, 32>
  // BACK-NEXT: vector_widen concat
  // BACK-NEXT: vector_fp_to_fxp width 15
  // BACK-NEXT: vector_alu clip_min min [stash]
  // BACK-NEXT: commit_adapter
  resource.issue main cycles [0, 100] {
    lir.exec main {
      fetch_sequencer %d loops [8 : 32] read 32 packet 32 flits 8 : !lir.mem<dm, 256>
      collect flits_per_packet 1
      vector_tag i32 [less 10, true]
      vector_alu logic_and and [imm -1 if "10--", imm 255 if "!---0"]
      vector_stash
      vector_fxp_to_fp width 31
      vector_narrow split
      vector_alu fp_fma fma [imm 0x3F800000 with 0x40000000] mode "120"
      vector_alu fp_mul0 mul [imm 0x40400000] mode "10"
      vector_alu fp_div div [vrf %v loops [8 : 0, 8 : 4]] : !lir.mem<vrf, 32>
      vector_widen concat
      vector_fp_to_fxp width 15
      vector_alu clip_min min [stash]
      commit_adapter in 32 keep 32
      commit_sequencer %e loops [8 : 32] write 32 slices [0, 63] : !lir.mem<dm, 256>
    }
  }
  resource.wait main

  // A reduction with valid counts, functions of one argument.
  // CHECK-LABEL: sfr VectorRouteUnitMainContext bank 0
  // CHECK-NEXT: data_out_source = 2 (arithmetic_unit)
  // CHECK-NEXT: arithmetic_unit_in_source = 1 (stream)
  // CHECK-NEXT: valid_generator_mode = 1
  // CHECK: allocated_original_dim[0] = 4
  // CHECK: original_dim_valid_count[3] = 50
  // CHECK: slice_id_match[3] = 8
  // CHECK-LABEL: sfr VectorArithmeticUnitMainContext bank 0
  // CHECK: reduce_data_path = 1 (reduce)
  // CHECK-NEXT: reduce_tree_depth = 2 (fold4)
  // CHECK-NEXT: acc_indexer_proceed = 1
  // CHECK-NEXT: reduce_row0_op_mode = 4 (max_f32)
  // CHECK-NEXT: accumulation_limit = 16
  // CHECK-NEXT: reduce_row0_acc_init = {{.*}}0xff800000
  // BACK: vector_valid_clip count 50 span 8 loops [8 : 8]
  // BACK-NEXT: vector_narrow split
  // BACK-NEXT: vector_alu fp_exp neg_exp if "!--1-"
  // BACK-NEXT: vector_alu fp_fpu sqrt
  // BACK-NEXT: vector_reduce max_f32 fold loops [16 : 0] count 16
  // BACK-NEXT: vector_widen pad
  resource.issue main cycles [100, 200] {
    lir.exec main {
      fetch_sequencer %d loops [8 : 32] read 32 packet 32 flits 8 : !lir.mem<dm, 256>
      collect flits_per_packet 1
      vector_valid_clip count 50 span 8 loops [8 : 8]
      vector_narrow split
      vector_alu fp_exp neg_exp if "!--1-"
      vector_alu fp_fpu sqrt
      vector_reduce max_f32 fold loops [16 : 0] count 16
      vector_widen pad
      commit_adapter in 32 keep 32
      commit_sequencer %e loops [] write 32 slices [0, 63] : !lir.mem<dm, 256>
    }
  }
  resource.wait main

  // Counts by slice, sums in several accumulators.
  // BACK: vector_valid_filter mask 48 match 16 major count 3 loops [4 : 1, 2 : 0]
  // BACK-NEXT: vector_narrow trim
  // BACK-NEXT: vector_reduce add_sat_i32 loops [4 : 0, 2 : 1] count 4
  // BACK-NEXT: vector_widen pad
  resource.issue main cycles [200, 300] {
    lir.exec main {
      fetch_sequencer %d loops [8 : 32] read 32 packet 32 flits 8 : !lir.mem<dm, 256>
      collect flits_per_packet 1
      vector_valid_filter mask 48 match 16 major count 3 loops [4 : 1, 2 : 0]
      vector_narrow trim
      vector_reduce add_sat_i32 loops [4 : 0, 2 : 1] count 4
      vector_widen pad
      commit_adapter in 32 keep 32
      commit_sequencer %e loops [2 : 32] write 32 slices [0, 63] : !lir.mem<dm, 256>
    }
  }
  resource.wait main

  // Two groups, each with an operand, fused.
  // CHECK: collect_compaction_mode = 1
  // CHECK: mode = 2 (axis_toggle)
  // CHECK-NEXT: group_size = 2
  // CHECK: operand_indexer_module = 16 (clip_add)
  // CHECK-NEXT: write_indexer_module = 16 (clip_add)
  // BACK: vector_unzip flits 2
  // BACK-NEXT: vector_alu fxp_mul mul_int [imm 2 if "---0", imm 3 if "---1"]
  // BACK-NEXT: vector_stash if "---0"
  // BACK-NEXT: vector_alu clip_add add [stash if "---1"] mode "10"
  // BACK-NEXT: vector_compact if "---1"
  resource.issue main cycles [300, 400] {
    lir.exec main {
      fetch_sequencer %d loops [8 : 32] read 32 packet 32 flits 8 : !lir.mem<dm, 256>
      collect flits_per_packet 1
      vector_unzip flits 2
      vector_alu fxp_mul mul_int [imm 2 if "---0", imm 3 if "---1"]
      vector_stash if "---0"
      vector_alu clip_add add [stash if "---1"] mode "10"
      vector_compact if "---1"
      commit_adapter in 32 keep 32
      commit_sequencer %e loops [4 : 32] write 32 slices [0, 63] : !lir.mem<dm, 256>
    }
  }
  resource.wait main

  // Between slices, behind the ALUs and in front of them.
  // CHECK: data_out_source = 3 (reduce_unit)
  // CHECK-NEXT: reduce_channel_out_source = 2 (arithmetic_unit)
  // CHECK-NEXT: reduce_unit_in_source = 2 (arithmetic_unit)
  // CHECK-NEXT: arithmetic_unit_in_source = 1 (stream)
  // CHECK-NEXT: route_mask = 3
  // CHECK-NEXT: route_group_size = 3
  // CHECK: cluster_source = 2 (max)
  // BACK: vector_alu clip_max max [imm 0]
  // BACK-NEXT: vector_slice_reduce max max slices 8 mask 3 loops [4 : 1, 2 : 0]
  resource.issue main cycles [400, 500] {
    lir.exec main {
      fetch_sequencer %d loops [8 : 32] read 32 packet 32 flits 8 : !lir.mem<dm, 256>
      collect flits_per_packet 1
      vector_alu clip_max max [imm 0]
      vector_slice_reduce max max slices 8 mask 3 loops [4 : 1, 2 : 0]
      commit_adapter in 32 keep 32
      commit_sequencer %e loops [2 : 32] write 32 slices [0, 63] : !lir.mem<dm, 256>
    }
  }
  resource.wait main
  // BACK: vector_slice_reduce mul mul_f32 slices 64 mask 0 loops [8 : 0]
  // BACK-NEXT: vector_alu clip_add add_f32 [imm 0x3F800000]
  resource.issue main cycles [500, 600] {
    lir.exec main {
      fetch_sequencer %d loops [8 : 32] read 32 packet 32 flits 8 : !lir.mem<dm, 256>
      collect flits_per_packet 1
      vector_slice_reduce mul mul_f32 slices 64 mask 0 loops [8 : 0]
      vector_alu clip_add add_f32 [imm 0x3F800000]
      commit_adapter in 32 keep 32
      commit_sequencer %e loops [8 : 32] write 32 slices [0, 0] : !lir.mem<dm, 256>
    }
  }
  resource.wait main
}
