// RUN: furiosa-translate --mlir-to-edf --verify-schedule=false %s -o %t.edf
// RUN: furiosa-translate --disassemble %t.edf | FileCheck %s
// RUN: furiosa-translate --edf-to-mlir %t.edf -o %t.mlir
// RUN: FileCheck %s --check-prefix=BACK < %t.mlir
// RUN: furiosa-translate --mlir-to-edf --verify-schedule=false %t.mlir -o %t.again
// RUN: cmp %t.edf %t.again

// A loop that steps from one buffer to another, forth and back; a transpose in
// the sub context.

resource.program @interleave pes 4 clusters [0] release "0.6" makespan 3000 lower_bound 0 {
  %a = resource.buffer at 512 live [0, 3000] : !lir.mem<dm, 128>
  %b = resource.buffer at 1024 live [0, 3000] : !lir.mem<dm, 128>
  %c = resource.buffer at 2048 live [0, 3000] : !lir.mem<dm, 256>
  // CHECK: exec subunit_bitmap=dm_slice|transpose|sub_fetch|sub_commit context_id=0 target_context=sub
  // CHECK-LABEL: sfr FetchUnitMainContext bank 0
  // CHECK: base = 512
  // CHECK: limits[0] = 4
  // CHECK-NEXT: limits[1] = 2
  // CHECK: strides[0] = 32
  // CHECK-NEXT: strides[1] = 512
  // BACK: fetch_sequencer %[[A:.*]] interleave %[[B:.*]] from 0 along 0 loops [2 : 0, 4 : 32] read 32 packet 32 flits 8 : !lir.mem<dm, 128>, !lir.mem<dm, 128>
  resource.issue main cycles [0, 100] {
    lir.exec main {
      fetch_sequencer %a interleave %b from 0 along 0 loops [2 : 0, 4 : 32] read 32 packet 32 flits 8 : !lir.mem<dm, 128>, !lir.mem<dm, 128>
      collect flits_per_packet 1
      commit_adapter in 32 keep 32
      commit_sequencer %c loops [8 : 32] write 32 slices [0, 255] : !lir.mem<dm, 256>
    }
  }
  resource.wait main
  // From byte 1056 to 512, 544 bytes back.
  // CHECK-LABEL: sfr FetchUnitMainContext bank 0
  // CHECK: base = 1056
  // CHECK: limits[0] = 2
  // CHECK-NEXT: limits[1] = 3
  // CHECK: strides[0] = 4193760
  // CHECK-NEXT: strides[1] = 32
  // BACK: fetch_sequencer %[[B]] base 32 interleave %[[A]] from 0 along 1 loops [3 : 32, 2 : 0] read 32 packet 32 flits 6
  resource.issue main cycles [100, 200] {
    lir.exec main {
      fetch_sequencer %b base 32 interleave %a from 0 along 1 loops [3 : 32, 2 : 0] read 32 packet 32 flits 6 : !lir.mem<dm, 128>, !lir.mem<dm, 128>
      collect flits_per_packet 1
      commit_adapter in 32 keep 32
      commit_sequencer %c loops [6 : 32] write 32 slices [0, 255] : !lir.mem<dm, 256>
    }
  }
  resource.wait main
  // CHECK-LABEL: sfr OperationDataPath bank 0
  // CHECK-NEXT: data_path_route_sub_context = 0xc (transpose_engine|commit_unit)
  // CHECK-LABEL: sfr TransposeEngineMainContext bank 0
  // BACK: lir.exec sub
  // BACK: transpose rows 2 columns 8 out_rows 8 bits 32
  resource.issue sub cycles [200, 300] {
    lir.exec sub {
      fetch_sequencer %a loops [8 : 8] read 8 packet 32 flits 2 : !lir.mem<dm, 128>
      collect flits_per_packet 1
      transpose rows 2 columns 8 out_rows 8 bits 32
      commit_adapter in 32 keep 8
      commit_sequencer %c loops [8 : 8] write 8 slices [0, 255] : !lir.mem<dm, 256>
    }
  }
  resource.wait sub
}
