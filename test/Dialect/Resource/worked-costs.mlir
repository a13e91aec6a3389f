// RUN: furiosa-opt-mlir %s -resource-print-costs -verify-diagnostics -o /dev/null

// Worked costs of transfers, rows D1 to D12 of the public tables, one engine. Where ours
// is another number, the comment says why; the constants that are fitted to whole
// published schedules come first (docs/resource.md).

// D1: 628, which adds reads and writes; D8 of the same tables takes the slower side,
// and so do we.
// expected-remark @below {{no order is shorter}}
resource.program @d1 pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 1048576>
  %b = resource.argument 1 output "b" : !lir.mem<hbm, 1048576>
  // expected-remark @below {{dma 564 cycles = engine 64 + start 500}}
  resource.issue dma {
    lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [8 : 2048 : 256, 8 : 256 : 2048] packet 256>] : !lir.mem<hbm, 1048576>, !lir.mem<hbm, 1048576>
  }
}

// D2: 66,036. The same requests; half of the faster side is not hidden.
// expected-remark @below {{no order is shorter}}
resource.program @d2 pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 67108864>
  %b = resource.buffer : !lir.mem<dm, 262144>
  // expected-remark @below {{dma 71498 cycles = read hbm 10923 + write dm 65536 - overlap 5461 + start 500}}
  resource.issue dma {
    lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [256 : 65536 : 256, 4 : 256 : 65536, 32 : 1024 : 4194304, 2 : 32768 : 134217728] packet 256>] : !lir.mem<hbm, 67108864>, !lir.mem<dm, 262144>
  }
}

// D3: within one cluster reads and writes take turns.
// expected-remark @below {{no order is shorter}}
resource.program @d3 pes 4 clusters [0] release "0.6" {
  %a = resource.buffer : !lir.mem<dm, 262144>
  %b = resource.buffer : !lir.mem<dm, 262144>
  // expected-remark @below {{dma 131572 cycles = read dm 65536 + write dm 65536 + start 500}}
  resource.issue dma {
    lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [256 : 256 : 1024, 4 : 65536 : 256, 32 : 4194304 : 4194304, 2 : 134217728 : 134217728] packet 256>] : !lir.mem<dm, 262144>, !lir.mem<dm, 262144>
  }
}

// D8.
// expected-remark @below {{no order is shorter}}
resource.program @d8 pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 16777216>
  %b = resource.argument 1 output "b" : !lir.mem<hbm, 16777216>
  // expected-remark @below {{dma 66036 cycles = engine 65536 + start 500}}
  resource.issue dma {
    lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [256 : 65536 : 256, 256 : 256 : 65536] packet 256>] : !lir.mem<hbm, 16777216>, !lir.mem<hbm, 16777216>
  }
}

// D10: at least 948, at one request a cycle; with one network at a time 2.
// expected-remark @below {{no order is shorter}}
resource.program @d10 pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 1048576>
  %b = resource.buffer : !lir.mem<dm, 1600>
  // expected-remark @below {{dma 1484 cycles = read hbm 176 + write dm 896 - overlap 88 + start 500}}
  resource.issue dma {
    lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 1600 : 4194304] packet 1600>] : !lir.mem<hbm, 1048576>, !lir.mem<dm, 1600>
  }
}

// D5: a stride that never toggles bit 8 of the address uses half of the channels: of 2,048
// accesses each of 16 serves 128, 16/3 cycles each.
// expected-remark @below {{no order is shorter}}
resource.program @d5 pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 4194304>
  %b = resource.buffer : !lir.mem<dm, 524288>
  // expected-remark @below {{read hbm 683 +}}
  resource.issue dma {
    lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [2048 : 512 : 256] packet 256>] : !lir.mem<hbm, 4194304>, !lir.mem<dm, 524288>
  }
}

// All 32 channels.
// expected-remark @below {{no order is shorter}}
resource.program @toggling pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 4194304>
  %b = resource.buffer : !lir.mem<dm, 524288>
  // expected-remark @below {{read hbm 342 +}}
  resource.issue dma {
    lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [2048 : 256 : 256] packet 256>] : !lir.mem<hbm, 4194304>, !lir.mem<dm, 524288>
  }
}

// D7: 4,095 bytes are 16 requests, here of two cycles a packet (D12: so are 4,096).
// expected-remark @below {{no order is shorter}}
resource.program @d7_whole pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 4194304>
  %b = resource.buffer : !lir.mem<dm, 4096>
  // expected-remark @below {{write dm 2048 -}}
  resource.issue dma {
    lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 8192 : 4194304] packet 4088>] : !lir.mem<hbm, 4194304>, !lir.mem<dm, 4096>
  }
}

// 2,800 bytes are 11, the last one of 240 bytes.
// expected-remark @below {{no order is shorter}}
resource.program @d7_partial pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 4194304>
  %b = resource.buffer : !lir.mem<dm, 4096>
  // expected-remark @below {{write dm 1408 -}}
  resource.issue dma {
    lir.dma %a to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 8192 : 4194304] packet 2800>] : !lir.mem<hbm, 4194304>, !lir.mem<dm, 4096>
  }
}
