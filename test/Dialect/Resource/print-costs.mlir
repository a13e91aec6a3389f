// RUN: furiosa-opt-mlir %s --resource-print-costs -verify-diagnostics -o /dev/null
// RUN: furiosa-opt-mlir %s --resource-schedule --resource-print-costs 2>&1 | FileCheck %s

// One line a command, before and behind scheduling.

// CHECK-NOT: see current operation
// CHECK: remark: dma 668 cycles = read hbm 80 + write dm 128 - overlap 40 + start 500
// CHECK: remark: main 282 cycles = max(reads 1, flits 1, writes 1) + vector pass 281
// CHECK: remark: start 1003, dma 668, main 4512, end 600; no order is shorter than 6783

// expected-remark@+1 {{start 1003, dma 668, main 4512, end 600; no order is shorter than 6783}}
resource.program @costs pes 1 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 2048>
  %d = resource.buffer : !lir.mem<dm, 32>
  %r = resource.buffer : !lir.mem<dm, 32>
  // expected-remark@+1 {{dma 668 cycles = read hbm 80 + write dm 128 - overlap 40 + start 500}}
  resource.issue dma {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 2048>, !lir.mem<dm, 32>
  }
  // expected-remark@+1 {{loop of 16 trips}}
  resource.loop 16 {
    // expected-remark@+1 {{main 282 cycles = max(reads 1, flits 1, writes 1) + vector pass 281}}
    resource.issue main {
      lir.exec main {
        fetch_sequencer %d loops [1 : 0] read 32 packet 32 flits 1 : !lir.mem<dm, 32>
        collect flits_per_packet 1
        vector_alu fxp_add add [imm 1]
        commit_adapter in 32 keep 32
        commit_sequencer %r loops [1 : 0] write 32 slices [0, 63] : !lir.mem<dm, 32>
      }
    }
  }
}
