// RUN: furiosa-translate --mlir-to-edf %s -o %t.edf
// RUN: furiosa-translate --disassemble %t.edf | FileCheck %s
// RUN: furiosa-run --check %s bits:1 bits:2 | FileCheck %s --check-prefix=VALUES

// A batched matmul of 64 x 64 x 64 in int8, a batch in each slice, as published
// for an older compiler: A rows of the operand in the register file, B summed, C
// columns. The register images have the published values, apart from those that
// a comment gives the reason for. Loops that run once are left out everywhere.

#axes = #tmap.axes<A = 64, B = 64, C = 64, S = 256>
!x_hbm = !visa.hbm<i8, element "S, A, B", #axes>
!y_hbm = !visa.hbm<i8, element "S, B / 2, C, B % 2", #axes>
!z_hbm = !visa.hbm<i8, element "S, A, C", #axes>
!x = !visa.dm<i8, slice "S", element "A, B", #axes>
!pairs = !visa.dm<i8, slice "S", element "B / 2, C, B % 2", #axes>
!z = !visa.dm<i8, slice "S", element "A, C", #axes>
!w = !visa.trf<i8, slice "S", lane "A / 2 % 8", element "A % 2, B / 32, A / 16, B % 32", #axes>
func.func @matmul(%x: !x_hbm, %y: !y_hbm) -> !z_hbm attributes {visa.kernel} {
  %xd = visa.to_dm %x : !x_hbm -> !x
  %yd = visa.to_dm %y : !y_hbm -> !pairs
  %w = visa.chain sub -> !w {
    fetch %xd time "A / 2 % 8, A % 2, B / 32, A / 16" packet "B % 32" : !x
    collect time "A / 2 % 8, A % 2, B / 32, A / 16" packet "B % 32"
    to_trf lane "A / 2 % 8" element "A % 2, B / 32, A / 16, B % 32"
  }
  %z = visa.chain main -> !z {
    fetch %yd time "C / 32, A % 2, B / 2" packet "C % 32, B % 2" : !pairs
    collect time "C / 32, A % 2, B / 2, C / 16 % 2" packet "C % 16, B % 2"
    contract_outer %w time "C / 32, A % 2, B / 2, A / 16" packet "C % 32, B % 2" : !w
    contract_packet packet "C % 32"
    contract_time time "C / 32, A % 2, A / 16"
    contract_lane sequential time "C / 32, A % 2, A / 16, A / 2 % 8, C / 8 % 4" packet "C % 8"
    cast to i8 packet "C % 8 # 32"
    commit_trim packet "C % 8"
    commit element "A, C"
  }
  %o = visa.to_hbm %z : !z -> !z_hbm
  return %o : !z_hbm
}

// VALUES: result0: i8

// CHECK: exec subunit_bitmap=dm_slice|sub_fetch|trf context_id=0 target_context=sub
// CHECK: wait dma_tag_id=0 type=execution target_context=sub
// CHECK: exec subunit_bitmap=dm_slice|fetch|dot_product_engine|vector_engine|commit context_id=0 target_context=main
// CHECK: wait dma_tag_id=0 type=execution target_context=main

// Published: 4,4,2,2,1,1,8,1 of 8,1024,32,64,4096,4096,128,0; the loops of 32,
// 64 and 128 are one of 32 steps.
// CHECK-LABEL: sfr SubFetchUnit bank 0
// CHECK: limits[0] = 4
// CHECK-NEXT: limits[1] = 4
// CHECK-NEXT: limits[2] = 32
// CHECK-NEXT: limits[3] = 1
// CHECK-NEXT: limits[4] = 1
// CHECK-NEXT: limits[5] = 1
// CHECK-NEXT: limits[6] = 1
// CHECK-NEXT: limits[7] = 1
// CHECK-NEXT: strides[0] = 8
// CHECK-NEXT: strides[1] = 1024
// CHECK-NEXT: strides[2] = 32
// CHECK-NEXT: flit_count = 128
// CHECK-NEXT: words_per_packet = 4
// CHECK-NEXT: }
// CHECK-LABEL: sfr OperationDataPath bank 0
// CHECK-NEXT: data_path_route_sub_context = 0x10 (trf_write)
// CHECK-LABEL: sfr DotProductEngineRegisterFile bank 0
// CHECK-NEXT: mac_rows = 8
// CHECK-NEXT: row_count = 16
// CHECK-NEXT: flits_per_period = 1
// CHECK-NEXT: valid_flits_per_period = 1
// CHECK-NEXT: }

// Published: reads of 16 bytes, 2,2,32,2,1,2 of 64,16,128,0,0,32: two rows of B
// by 16 columns, which the feed buffer turns (input_transpose). Nothing in the
// ISA asks the feed buffer to turn a packet. So the pairs of B lie together in
// data memory, a packet of 64 bytes is one run of two reads, and as it goes into
// the engine whole it is 8 words, not twice 4. The loops outside are the same.
// CHECK-LABEL: sfr FetchUnitMainContext bank 0
// CHECK: fetch_size = 32
// CHECK-NEXT: limits[0] = 2
// CHECK-NEXT: limits[1] = 32
// CHECK-NEXT: limits[2] = 2
// CHECK-NEXT: limits[3] = 2
// CHECK-NEXT: limits[4] = 1
// CHECK: strides[0] = 32
// CHECK-NEXT: strides[1] = 128
// CHECK-NEXT: strides[3] = 64
// CHECK-NEXT: flit_count = 256
// CHECK-NEXT: words_per_packet = 8
// CHECK-NEXT: }
// CHECK-LABEL: sfr OperationDataPathMainContext bank 0
// CHECK-NEXT: main_context = 0xb (dot_product_engine|vector_engine|commit_unit)

// Published: 4,16,4,1,2 of 32,2,128,512,0, and input_transpose 1.
// acc_reset 1 is ours: sums begin at the start value.
// CHECK-LABEL: sfr DotProductEngineMainContext bank 0
// CHECK-NEXT: flits_per_input = 2
// CHECK-NEXT: pop_dim = 1
// CHECK-NEXT: feed_data_type = 1 (8_bit)
// CHECK-NEXT: iter_seq_limits[0] = 4
// CHECK-NEXT: iter_seq_limits[1] = 16
// CHECK-NEXT: iter_seq_limits[2] = 4
// CHECK-NEXT: iter_seq_limits[3] = 2
// CHECK-NEXT: iter_seq_limits[4] = 1
// CHECK: reg_indexer_strides[0] = 32
// CHECK-NEXT: reg_indexer_strides[1] = 2
// CHECK-NEXT: reg_indexer_strides[2] = 128
// CHECK-NEXT: acc_indexer_strides[0] = 1
// CHECK-NEXT: acc_limit = 32
// CHECK-NEXT: acc_cols = 32
// CHECK-NEXT: acc_reset = 1
// CHECK-NEXT: depth = 1
// CHECK-NEXT: mac_type = 1 (int8)
// CHECK-NEXT: mac_rows = 8
// CHECK-NEXT: register_file_read_data_type = 2 (i9)
// CHECK-NEXT: reg_read_log_size = 1
// CHECK-NEXT: }

// Published: 8,4,2,1,2 of 128,1024,64,4096,32, 32 bytes of 32: the cast packs
// four flits into one (cast_compaction_count 4). In the ISA a flit stays one, so
// the count is 1, and the four runs of 8 bytes are the innermost loop; those of
// 128 and 1024 are one.
// CHECK-LABEL: sfr CommitUnitMainContext bank 0
// CHECK: commit_in_size = 32
// CHECK-NEXT: commit_size = 8
// CHECK-NEXT: limits[0] = 4
// CHECK-NEXT: limits[1] = 32
// CHECK-NEXT: limits[2] = 2
// CHECK-NEXT: limits[3] = 2
// CHECK-NEXT: limits[4] = 1
// CHECK: strides[0] = 8
// CHECK-NEXT: strides[1] = 128
// CHECK-NEXT: strides[2] = 64
// CHECK-NEXT: strides[3] = 32
// CHECK-NEXT: slice_enable_bitmap_mask0 = 0xffffffffffffffff
// CHECK-NEXT: slice_enable_bitmap_mask1 = 0xffffffffffffffff
// CHECK-NEXT: slice_enable_bitmap_mask2 = 0xffffffffffffffff
// CHECK-NEXT: slice_enable_bitmap_mask3 = 0xffffffffffffffff
// CHECK-NEXT: }
// CHECK-LABEL: sfr VectorRouteUnitMainContext bank 0
// CHECK-NEXT: data_out_source = 1
// CHECK: cast_compaction_mode = 2
// CHECK-NEXT: cast_compaction_count = 1
