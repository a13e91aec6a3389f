// HBM scratch: apart where it fits, else by life in the bytes of one operand.
// RUN: furiosa-opt-mlir %s --convert-lir-to-resource=hbm-bytes=32768 | FileCheck %s --check-prefix=APART
// RUN: furiosa-opt-mlir %s --convert-lir-to-resource=hbm-bytes=32512 --resource-schedule --resource-verify-schedule | FileCheck %s
// RUN: furiosa-opt-mlir %s --convert-lir-to-resource=hbm-bytes=28672 --resource-schedule --resource-verify-schedule | FileCheck %s
// RUN: not furiosa-opt-mlir %s --convert-lir-to-resource=hbm-bytes=24576 2>&1 | FileCheck %s --check-prefix=FULL
// RUN: not furiosa-opt-mlir %s --convert-lir-to-resource=hbm-bytes=16384 2>&1 | FileCheck %s --check-prefix=ARGUMENTS
// RUN: not furiosa-opt-mlir %s --convert-lir-to-resource=hbm-bytes=100 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not furiosa-opt-mlir %s --convert-lir-to-resource=hbm-bytes=-256 2>&1 | FileCheck %s --check-prefix=OPTION

// The arguments take 8,192 bytes, the list of rows and the table 12,288, which
// are nobody else's since only the run knows which rows are met. Of the scratch
// two buffers live at a time; 4,096 bytes in the first loop, which both that it
// touches live through.

// APART-LABEL: resource.program @scratch
// APART-COUNT-5: scratch "scratch
// APART-NOT:     scratch "scratch

// CHECK-LABEL: resource.program @scratch
// CHECK:         %[[A:.*]] = resource.argument 0 input "arg0"
// CHECK-NEXT:    %[[O:.*]] = resource.argument 1 inout "arg1"
// CHECK-NEXT:    %[[S:.*]] = resource.argument 2 scratch "scratch1" : !lir.mem<hbm, 8192>
// CHECK-NEXT:    resource.argument 3 scratch "scratch4" : !lir.mem<hbm, 4096>
// CHECK-NEXT:    resource.argument 4 scratch "scratch5" : !lir.mem<hbm, 8192>
// CHECK:         lir.dma %[[A]] to %[[S]] {{.*}} from 0 to [[X:[0-9]+]] loops
// CHECK:         lir.dma %[[S]] to %[[S]] {{.*}} from [[X]] to [[Y:[0-9]+]] loops
// CHECK:         lir.dma %[[S]] to %[[S]] {{.*}} from [[Y]] to [[X]] loops
// CHECK:         lir.dma %[[S]] to %[[O]] {{.*}} from [[X]] to 0 loops

// FULL: [[@LINE+23]]:9: error: MM-5: out of memory: hbm holds 24576 bytes, no room for 4096 bytes of scratch beside what lives at the same time; at the peak 28672 live
// FULL: note: arguments, results and tables take 20480 bytes, in all of the kernel
// FULL: [[@LINE+20]]:9: note: 4096 bytes of scratch at 20480
// FULL: note: beside them nothing is free

// ARGUMENTS: error: MM-5: arguments, results and tables need 20480 bytes together, HBM has 16384
// ARGUMENTS: note: input "arg0" needs 4096 bytes
// ARGUMENTS: note: inout "arg1" needs 4096 bytes
// ARGUMENTS: note: scratch "scratch4" needs 4096 bytes
// ARGUMENTS: note: scratch "scratch5" needs 8192 bytes

// OPTION: error: hbm-bytes must be a multiple of 256 from 0 to 51535413248, found {{100|-256}}

func.func @scratch(%a: !lir.mem<hbm, 4096>, %o: !lir.mem<hbm, 4096>) attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // Of a loop of no trips nothing is left.
  %unused = lir.alloc : !lir.mem<hbm, 51535413248>
  scf.for %i = %c0 to %c0 step %c1 {
    lir.dma %a to %unused engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 4096>] : !lir.mem<hbm, 4096>, !lir.mem<hbm, 51535413248>
  }
  %s0 = lir.alloc : !lir.mem<hbm, 4096>
  %s1 = lir.alloc : !lir.mem<hbm, 4096>
  %s2 = lir.alloc : !lir.mem<hbm, 4096>
  scf.for %i = %c0 to %c2 step %c1 {
    lir.dma %a to %s0 engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 4096>] : !lir.mem<hbm, 4096>, !lir.mem<hbm, 4096>
    lir.dma %s0 to %s1 engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 4096>] : !lir.mem<hbm, 4096>, !lir.mem<hbm, 4096>
  }
  lir.dma %s1 to %s2 engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 4096>] : !lir.mem<hbm, 4096>, !lir.mem<hbm, 4096>
  lir.dma %s2 to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 4096>] : !lir.mem<hbm, 4096>, !lir.mem<hbm, 4096>
  %list = lir.alloc : !lir.mem<hbm, 4096>
  %table = lir.alloc : !lir.mem<hbm, 8192>
  %d = lir.alloc : !lir.mem<dm, 64>
  lir.dma %a to %list engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 4096>] : !lir.mem<hbm, 4096>, !lir.mem<hbm, 4096>
  lir.dma %a to %table engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 4096>] : !lir.mem<hbm, 4096>, !lir.mem<hbm, 8192>
  lir.dma %table to %d by %list scale 64 engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [8 : 0 : 8] packet 8 list 0 keys 1>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 64>, !lir.mem<hbm, 4096>
  return
}
