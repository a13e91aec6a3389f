// RUN: furiosa-opt-mlir %s -resource-print-costs -verify-diagnostics -o /dev/null

// Rows D4, D9 and D12 of the worked costs (D6: worked-costs.mlir of VISAToLIR; the others: that of this folder). D11, a host
// that writes to HBM, is in no schedule: MachineTest.cpp has it.

// D4: 655,860 with rows of HBM that change with each access of a channel. Rows are
// not modelled: the accesses cost what they do in one row, which the data memory hides.
// expected-remark @below {{no order is shorter}}
resource.program @d4 pes 4 clusters [0, 1] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 536870912>
  %b = resource.buffer : !lir.mem<dm, 262144>
  // expected-remark @below {{dma 137034 cycles = read hbm 10923 + write dm 131072 - overlap 5461 + start 500}}
  resource.issue dma {
    lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [8 : 67108864 : 33554432, 8 : 2097152 : 4194304, 1024 : 256 : 256] packet 256>] : !lir.mem<hbm, 536870912>, !lir.mem<dm, 262144>
  }
}

// D9: 2,800 bytes are 11 requests. Of those to HBM the last one writes a part of a
// block, which costs more: of 64, on 32 channels, each channel's second.
// expected-remark @below {{no order is shorter}}
resource.program @d9_partial pes 4 clusters [0] release "0.6" {
  %b = resource.argument 0 output "b" : !lir.mem<hbm, 4194304>
  %a = resource.buffer : !lir.mem<dm, 4096>
  // expected-remark @below {{dma 2364 cycles = read dm 1408 + write hbm 912 - overlap 456 + start 500}}
  resource.issue dma {
    lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 4194304 : 4096] packet 2800>] : !lir.mem<dm, 4096>, !lir.mem<hbm, 4194304>
  }
}

// The same with whole blocks.
// expected-remark @below {{no order is shorter}}
resource.program @d9_whole pes 4 clusters [0] release "0.6" {
  %b = resource.argument 0 output "b" : !lir.mem<hbm, 4194304>
  %a = resource.buffer : !lir.mem<dm, 4096>
  // expected-remark @below {{dma 1972 cycles = read dm 1408 + write hbm 128 - overlap 64 + start 500}}
  resource.issue dma {
    lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 4194304 : 4096] packet 2816>] : !lir.mem<dm, 4096>, !lir.mem<hbm, 4194304>
  }
}

// D12: of 512 and 520 bytes in a row, the latter take 3 requests instead of 2, though
// the volume barely grows.
// expected-remark @below {{no order is shorter}}
resource.program @d12_whole pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 4194304>
  %b = resource.buffer : !lir.mem<dm, 4096>
  // expected-remark @below {{write dm 256 -}}
  resource.issue dma {
    lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 8192 : 4194304] packet 512>] : !lir.mem<hbm, 4194304>, !lir.mem<dm, 4096>
  }
}
// expected-remark @below {{no order is shorter}}
resource.program @d12_more pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 4194304>
  %b = resource.buffer : !lir.mem<dm, 4096>
  // expected-remark @below {{write dm 384 -}}
  resource.issue dma {
    lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 8192 : 4194304] packet 520>] : !lir.mem<hbm, 4194304>, !lir.mem<dm, 4096>
  }
}
