// RUN: furiosa-translate --mlir-to-edf --verify-schedule=false %s -o %t.edf
// RUN: furiosa-translate --disassemble %t.edf | FileCheck %s
// RUN: furiosa-translate --edf-to-mlir %t.edf -o %t.mlir
// RUN: FileCheck %s --check-prefix=BACK < %t.mlir
// RUN: furiosa-translate --mlir-to-edf --verify-schedule=false %t.mlir -o %t.again
// RUN: cmp %t.edf %t.again

// Nested loops whose DMAs advance, on both clusters; bf16 sums over time in
// four slots with a broadcast packet, folded one lane after the other.

// CHECK-LABEL: program cluster 0 {
// CHECK: loop 3 {
// CHECK: loop 65536 {
// CHECK: issue pe 1: dmaw {{.*}} desc_addr0=0x200700 dma_tag_id=5
// CHECK-NEXT: issue pe 1: wait dma_tag_id=5 type=dma_tag target_context=main
// CHECK-NOT: dmaw
// CHECK: add [0x200710], 8
// CHECK-NEXT: }
// The other cluster's DMA is not issued here.
// CHECK-NOT: dma_tag_id=6
// CHECK: add [0x200710], 524288
// CHECK-NEXT: }
// CHECK: issue pe 0: wait dma_tag_id=0 type=dma_tag target_context=main
// CHECK-NEXT: end
// CHECK-LABEL: program cluster 1 {
// CHECK: loop 3 {
// CHECK: loop 65536 {
// CHECK: issue pe 0: dmaw {{.*}} desc_addr0=0x200800 dma_tag_id=5
// CHECK: add [0x200810], 8
// CHECK-NEXT: }
// CHECK: issue pe 1: dmaw {{.*}} dma_tag_id=6
// CHECK-NEXT: issue pe 1: wait dma_tag_id=6 type=dma_tag target_context=main
// CHECK: add [0x200810], 524288
// CHECK-NEXT: add [{{.*}}18], 64
// CHECK-NEXT: }
// CHECK: issue pe 1: wait dma_tag_id=0 type=dma_tag target_context=main
// CHECK-NEXT: end

// CHECK-LABEL: sfr DotProductEngineMainContext bank 0
// CHECK-NEXT: reg_indexer_base = 192
// CHECK-NEXT: flits_per_input = 1
// CHECK-NEXT: pop_dim = 1
// CHECK-NEXT: feed_data_type = 2 (16_bit)
// CHECK-NEXT: iter_seq_limits[0] = 4
// CHECK-NEXT: iter_seq_limits[1] = 16
// CHECK-NEXT: iter_seq_limits[2] = 2
// CHECK-NEXT: iter_seq_limits[3] = 1
// CHECK: reg_indexer_strides[0] = 32
// CHECK-NEXT: reg_indexer_strides[1] = 64
// CHECK-NEXT: acc_indexer_strides[0] = 1
// CHECK-NEXT: acc_limit = 16
// CHECK-NEXT: acc_cols = 1
// CHECK-NEXT: acc_reset = 1
// CHECK-NEXT: depth = 4
// CHECK-NEXT: mac_type = 4 (bf16)
// CHECK-NEXT: mac_rows = 2
// CHECK-NEXT: register_file_read_data_type = 3 (bf16)
// CHECK-NEXT: reg_read_log_size = 5
// CHECK-LABEL: plan {
// CHECK: dm cluster 0 at 0x0 size 4096
// CHECK: dm cluster 1 at 0x0 size 4096
// CHECK-LABEL: schedule
// CHECK: loop [0, 900) "loop 3"
// CHECK-NEXT: loop [0, 300) "loop 65536"

// BACK-LABEL: resource.program @loops pes 2 clusters [0, 1]
// BACK: resource.loop 3 cycles 900 {
// BACK-NEXT: resource.loop 65536 cycles 300 {
// BACK-NEXT: resource.issue dma tag 5 cycles [0, 100] advance [524288, 0, 8, 0] {
// BACK-NEXT: cluster 0 pe 1 from 0
// BACK-SAME: cluster 1 pe 0 from 8
// BACK: resource.issue dma tag 6 cycles [0, 100] advance [0, 64] {
// BACK-NEXT: cluster 1 pe 1

resource.program @loops pes 2 clusters [0, 1] release "0.6" makespan 200000000 lower_bound 100 {
  %in = resource.argument 0 inout "in" : !lir.mem<hbm, 2097152>
  %s = resource.argument 1 scratch "s" : !lir.mem<hbm, 4096>
  %out = resource.argument 2 output "out" : !lir.mem<hbm, 4096> as #resource.operand<bf16, chip "1", element "N", axes ["N"] sizes [2048]>
  %a = resource.buffer at 0 live [0, 4000] {name = "first"} : !lir.mem<dm, 4096>
  // The same place at another time.
  %x = resource.buffer at 0 live [5000, 200000000] {name = "second"} : !lir.mem<dm, 4096>
  %w = resource.buffer at 64 live [0, 4000] : !lir.mem<trf, 4096, lanes 2>
  %c = resource.buffer at 8192 live [0, 5000] : !lir.mem<dm, 1024>
  resource.issue dma tag 0 cycles [0, 10] {
    lir.dma %s to %a engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 8>] : !lir.mem<hbm, 4096>, !lir.mem<dm, 4096>
  }
  resource.issue main cycles [0, 1000] {
    lir.exec main {
      fetch_sequencer %a base 64 loops [32 : 32] read 32 packet 32 flits 32 : !lir.mem<dm, 4096>
      collect flits_per_packet 1
      feed_buffer RawBF16 Flit1 stream [time 128, packet 16] weight RawBF16 [lane 2, element 1024] promoted RawBF16 lane_broadcast 2 time_broadcast 4
      trf_sequencer %w base 128 loops [2 : 0, 16 : 64, 1 : 32, 4 : 32] read 32 broadcast 2 : !lir.mem<trf, 4096, lanes 2>
      packet_reducer add depth 4 columns 1 to f32
      time_reducer slots 4 count 16 strides [0, 0, 7, 1]
      lane_folder sequential live 2
      cast f32 to bf16
      commit_adapter in 32 keep 16
      commit_sequencer %c base 8 loops [16 : 64] write 16 slices [0, 63] : !lir.mem<dm, 1024>
    }
  }
  resource.wait main
  resource.wait dma tag 0
  resource.loop 3 cycles 900 {
    resource.loop 65536 cycles 300 {
      resource.issue dma tag 5 cycles [0, 100] advance [524288, 0, 8, 0] {
        lir.dma %in to %x engines [#lir.engine<cluster 0 pe 1 from 0 to 0 loops [2 : 0 : 4194304] packet 8>,
                                   #lir.engine<cluster 1 pe 0 from 8 to 16 loops [] packet 8>] : !lir.mem<hbm, 2097152>, !lir.mem<dm, 4096>
      }
      resource.wait dma tag 5
    }
    resource.issue dma tag 6 cycles [0, 100] advance [0, 64] {
      lir.dma %c to %out engines [#lir.engine<cluster 1 pe 1 from 8 to 0 loops [] packet 16>] : !lir.mem<dm, 1024>, !lir.mem<hbm, 4096>
    }
    resource.wait dma tag 6
  }
  // One tag on either cluster at once: still two commands.
  resource.issue dma tag 0 cycles [199000000, 199000010] {
    lir.dma %x to %s engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 8>] : !lir.mem<dm, 4096>, !lir.mem<hbm, 4096>
  }
  resource.issue dma tag 0 cycles [199000000, 199000020] {
    lir.dma %x to %s engines [#lir.engine<cluster 1 pe 1 from 8 to 8 loops [] packet 8>] : !lir.mem<dm, 4096>, !lir.mem<hbm, 4096>
  }
  resource.wait dma tag 0
}
