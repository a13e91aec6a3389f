// RUN: furiosa-translate --mlir-to-edf --verify-schedule=false %s -o %t.edf
// RUN: furiosa-translate --disassemble %t.edf | FileCheck %s
// RUN: furiosa-translate --edf-to-mlir %t.edf -o %t.mlir
// RUN: FileCheck %s --check-prefix=BACK < %t.mlir
// RUN: furiosa-translate --mlir-to-edf --verify-schedule=false %t.mlir -o %t.again
// RUN: cmp %t.edf %t.again

// 512 x 512 x 64 in int8: the registers of both contexts, two of four PEs with
// a descriptor. The numbers of the matmul are those of tensor-unit loops:
// 64 flits into the TRF, 256 into the engine, 128 out of it.

module @gemm {
resource.program @gemm_i8 pes 4 clusters [0] release "0.6" makespan 15340 lower_bound 15000 {
  %in_a = resource.argument 0 input "a" : !lir.mem<hbm, 32768> as #resource.operand<i8, chip "1", element "I, K", axes ["I", "K"] sizes [512, 64]>
  %in_b = resource.argument 1 input "b" : !lir.mem<hbm, 32768> as #resource.operand<i8, chip "1", element "J, K", axes ["J", "K"] sizes [512, 64]>
  %out = resource.argument 2 output "result" : !lir.mem<hbm, 1048576> as #resource.operand<i32, chip "1", element "I, J", axes ["I", "J"] sizes [512, 512]>
  %a = resource.buffer at 0 live [2613, 4744] {name = "a"} : !lir.mem<dm, 2048>
  %b = resource.buffer at 2048 live [1003, 3132] : !lir.mem<dm, 2048>
  %w = resource.buffer at 64 live [2613, 4744] : !lir.mem<trf, 2048, lanes 8>
  %c = resource.buffer at 4096 live [4223, 14740] : !lir.mem<dm, 4096>
  resource.issue dma tag 0 cycles [1003, 2613] {
    lir.dma %in_b to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [4 : 0 : 67108864, 16 : 2048 : 4194304] packet 2048>,
                                 #lir.engine<cluster 0 pe 2 from 64 to 128 loops [16 : 2048 : 4194304] packet 64>] : !lir.mem<hbm, 32768>, !lir.mem<dm, 2048>
  }
  resource.issue dma tag 1 cycles [2613, 4223] {
    lir.dma %in_a to %a engines [#lir.engine<cluster 0 pe 3 from 8192 to 0 loops [4 : 2048 : 67108864, 16 : 0 : 4194304] packet 2048>] : !lir.mem<hbm, 32768>, !lir.mem<dm, 2048>
  }
  resource.wait dma tag 0
  resource.issue sub cycles [2613, 3132] {
    lir.exec sub {
      fetch_sequencer %b loops [8 : 64, 4 : 512, 8 : 8] read 8 packet 64 flits 64 : !lir.mem<dm, 2048>
      collect flits_per_packet 2
      trf_store %w rows_per_lane 8 : !lir.mem<trf, 2048, lanes 8>
    }
  }
  resource.wait sub
  resource.wait dma tag 1
  resource.issue main cycles [4223, 4744] {
    lir.exec main {
      fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
      collect flits_per_packet 2
      feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
      trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
      packet_reducer add depth 6 columns 1 to i32
      time_reducer slots 1 count 1 strides [0, 0]
      lane_folder interleaved live 8
      commit_adapter in 32 keep 32
      commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
    }
  }
  resource.wait main
  resource.issue dma tag 2 cycles [4744, 14740] {
    lir.dma %c to %out engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [4 : 67108864 : 65536, 16 : 4194304 : 128, 32 : 128 : 2048] packet 128>] : !lir.mem<dm, 4096>, !lir.mem<hbm, 1048576>
  }
  resource.wait dma tag 2
}
}

// CHECK: kernel "gemm::gemm_i8"
// CHECK: producer "furiosa-opt-mlir 0.1.0" chip "rngd" release "0.6"

// Only PEs with a descriptor issue and wait.
// CHECK-LABEL: program cluster 0 {
// CHECK-NEXT: set r0 = 0x200000, pe 0
// CHECK-NEXT: set r0 = 0x200100, pe 2
// CHECK-NEXT: set r63 = 0xffffffffff, pe 0,2
// CHECK-NEXT: issue pe 0,2: dmaw r0=0 r1=63 r2=63 r3=63 desc_addr0=0x200000 dma_tag_id=0
// CHECK-NEXT: set r1 = 0x10000200200, pe 3
// CHECK-NEXT: set r63 = 0xffffffffff, pe 3
// CHECK-NEXT: issue pe 3: dmaw {{.*}} desc_addr0=0x200200 dma_tag_id=1
// CHECK-NEXT: issue pe 0,2: wait dma_tag_id=0 type=dma_tag target_context=main
// CHECK-NEXT: set r2 =
// CHECK-NEXT: issue pe 0-3: mtosfr {{.*}} spm_address=0x200300 size=14 sfr_address=0xff0100 (SubFetchUnit, bank 0)
// CHECK-NEXT: set r3 =
// CHECK-NEXT: issue pe 0-3: mtosfr {{.*}} (OperationDataPath, bank 0)
// CHECK-NEXT: set r4 =
// CHECK-NEXT: issue pe 0-3: mtosfr {{.*}} (DotProductEngineRegisterFile, bank 0)
// CHECK-NEXT: issue pe 0-3: exec subunit_bitmap=dm_slice|sub_fetch|trf context_id=0 target_context=sub
// CHECK-NEXT: issue pe 0-3: wait dma_tag_id=0 type=execution target_context=sub
// CHECK-NEXT: issue pe 3: wait dma_tag_id=1 type=dma_tag target_context=main
// CHECK: mtosfr {{.*}} (FetchUnitMainContext, bank 0)
// CHECK: mtosfr {{.*}} (OperationDataPathMainContext, bank 0)
// CHECK: mtosfr {{.*}} (DotProductEngineMainContext, bank 0)
// CHECK: mtosfr {{.*}} (CommitUnitMainContext, bank 0)
// CHECK-NEXT: issue pe 0-3: exec subunit_bitmap=dm_slice|fetch|dot_product_engine|commit context_id=0 target_context=main
// CHECK-NEXT: issue pe 0-3: wait dma_tag_id=0 type=execution target_context=main
// CHECK: issue pe 0: wait dma_tag_id=2 type=dma_tag target_context=main
// CHECK-NEXT: end

// CHECK-LABEL: spm at 0x200000
// CHECK-NEXT: 0x200000: descriptor
// CHECK-NEXT: opcode = tensor_loop
// CHECK-NEXT: source = 0x0 loops [4 : 0, 16 : 2048, 1 : 2048]
// CHECK-NEXT: destination = 0x10000800 loops [4 : 67108864, 16 : 4194304, 1 : 2048]
// CHECK-NEXT: }
// CHECK-NEXT: 0x200100: descriptor
// CHECK: destination = 0x10000880 loops [16 : 4194304, 1 : 64]
// CHECK-LABEL: 0x200300: sfr SubFetchUnit bank 0
// CHECK-NEXT: base = 2048
// CHECK-NEXT: limits[0] = 8
// CHECK-NEXT: limits[1] = 4
// CHECK-NEXT: limits[2] = 8
// CHECK-NEXT: limits[3] = 1
// CHECK: limits[7] = 1
// CHECK-NEXT: strides[0] = 8
// CHECK-NEXT: strides[1] = 512
// CHECK-NEXT: strides[2] = 64
// CHECK-NEXT: flit_count = 64
// CHECK-NEXT: words_per_packet = 8
// CHECK-NEXT: }
// CHECK-NEXT: sfr OperationDataPath bank 0
// CHECK-NEXT: data_path_route_sub_context = 0x10 (trf_write)
// CHECK-NEXT: }
// CHECK-NEXT: sfr DotProductEngineRegisterFile bank 0
// CHECK-NEXT: mac_rows = 8
// CHECK-NEXT: row_base = 2
// CHECK-NEXT: row_count = 8
// CHECK-NEXT: flits_per_period = 1
// CHECK-NEXT: valid_flits_per_period = 1
// CHECK-NEXT: }
// CHECK-NEXT: sfr FetchUnitMainContext bank 0
// CHECK-NEXT: fetch_size = 32
// CHECK-NEXT: limits[0] = 2
// CHECK-NEXT: limits[1] = 4
// CHECK-NEXT: limits[2] = 32
// CHECK-NEXT: limits[3] = 1
// CHECK: limits[7] = 1
// CHECK-NEXT: strides[0] = 32
// CHECK-NEXT: strides[2] = 64
// CHECK-NEXT: flit_count = 256
// CHECK-NEXT: words_per_packet = 8
// CHECK-NEXT: }
// CHECK-NEXT: sfr OperationDataPathMainContext bank 0
// CHECK-NEXT: main_context = 0x9 (dot_product_engine|commit_unit)
// CHECK-NEXT: }
// CHECK-NEXT: sfr DotProductEngineMainContext bank 0
// CHECK-NEXT: reg_indexer_base = 64
// CHECK-NEXT: flits_per_input = 2
// CHECK-NEXT: feed_data_type = 1 (8_bit)
// CHECK-NEXT: iter_seq_limits[0] = 4
// CHECK-NEXT: iter_seq_limits[1] = 32
// CHECK-NEXT: iter_seq_limits[2] = 1
// CHECK: iter_seq_limits[7] = 1
// CHECK-NEXT: reg_indexer_strides[0] = 64
// CHECK-NEXT: acc_limit = 1
// CHECK-NEXT: acc_cols = 1
// CHECK-NEXT: acc_reset = 1
// CHECK-NEXT: output_major = 1 (interleaved)
// CHECK-NEXT: depth = 6
// CHECK-NEXT: mac_type = 1 (int8)
// CHECK-NEXT: mac_rows = 8
// CHECK-NEXT: register_file_read_data_type = 2 (i9)
// CHECK-NEXT: reg_read_log_size = 6
// CHECK-NEXT: }
// CHECK-NEXT: sfr CommitUnitMainContext bank 0
// CHECK-NEXT: base = 4096
// CHECK-NEXT: commit_in_size = 32
// CHECK-NEXT: commit_size = 32
// CHECK-NEXT: limits[0] = 128
// CHECK-NEXT: limits[1] = 1
// CHECK: strides[0] = 32
// CHECK-NEXT: slice_enable_bitmap_mask0 = 0xffffffffffffffff
// CHECK-NEXT: slice_enable_bitmap_mask1 = 0xffffffffffffffff
// CHECK-NEXT: slice_enable_bitmap_mask2 = 0xffffffffffffffff
// CHECK-NEXT: slice_enable_bitmap_mask3 = 0xffffffffffffffff
// CHECK-NEXT: }
// CHECK-NEXT: 0x200500: descriptor

// CHECK-LABEL: arguments {
// CHECK-NEXT: 0: input "a" bytes 32768 i8 axes ["I" = 512, "K" = 64] chip "1" element "I, K"
// CHECK: 2: output "result" bytes 1048576 i32
// CHECK-NEXT: [0x200010] = operand 1 + 0
// CHECK-NEXT: [0x200110] = operand 1 + 64
// CHECK-NEXT: [0x200210] = operand 0 + 8192
// CHECK-NEXT: [0x200518] = operand 2 + 0
// CHECK-LABEL: plan {
// CHECK-NEXT: dm cluster 0 at 0x0 size 2048 live [2613, 4744) name 0 ("a")
// CHECK-NEXT: dm cluster 0 at 0x800 size 2048 live [1003, 3132)
// CHECK-NEXT: trf cluster 0 at 0x40 size 256 lanes 8 live [2613, 4744)
// CHECK-LABEL: schedule makespan 15340 lower_bound 15000 {
// CHECK-NEXT: 0: dma [1003, 2613) "b -> dm 0x800"
// CHECK-NEXT: 2: dma [2613, 4223) "a -> dm 0x0"
// CHECK-NEXT: 3: sub [2613, 3132) "dm 0x800 -> trf 0x40"
// CHECK-NEXT: 6: main [4223, 4744) "dm 0x0 -> dm 0x1000"
// CHECK-NEXT: 10: dma [4744, 14740) "dm 0x1000 -> result"

// BACK: module @gemm {
// BACK-NEXT: resource.program @gemm_i8 pes 4 clusters [0] release "0.6" makespan 15340 lower_bound 15000 {
// BACK-NEXT: %[[IN_A:.*]] = resource.argument 0 input "a" : !lir.mem<hbm, 32768> as #resource.operand<i8, chip "1", element "I, K", axes ["I", "K"] sizes [512, 64]>
// BACK: %[[A:.*]] = resource.buffer at 0 live [2613, 4744] {name = "a"} : !lir.mem<dm, 2048>
// BACK-NEXT: %[[B:.*]] = resource.buffer at 2048 live [1003, 3132] : !lir.mem<dm, 2048>
// BACK-NEXT: %[[W:.*]] = resource.buffer at 64 live [2613, 4744] : !lir.mem<trf, 2048, lanes 8>
// BACK: resource.issue sub cycles [2613, 3132] {
// BACK-NEXT: lir.exec sub {
// BACK-NEXT: fetch_sequencer %[[B]] loops [8 : 64, 4 : 512, 8 : 8] read 8 packet 64 flits 64
// BACK-NEXT: collect flits_per_packet 2
// BACK-NEXT: trf_store %[[W]] rows_per_lane 8
// BACK: resource.wait sub
// BACK-NEXT: resource.wait dma tag 1
// BACK: fetch_sequencer %[[A]] loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256
// BACK-NEXT: collect flits_per_packet 2
// BACK-NEXT: feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
// BACK-NEXT: trf_sequencer %[[W]] loops [32 : 0, 4 : 64] read 64 broadcast 0
// BACK-NEXT: packet_reducer add depth 6 columns 1 to i32
// BACK-NEXT: time_reducer slots 1 count 1 strides [0, 0]
// BACK-NEXT: lane_folder interleaved live 8
// BACK-NEXT: commit_adapter in 32 keep 32
// BACK-NEXT: commit_sequencer %{{.*}} loops [128 : 32] write 32 slices [0, 255]
