// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

// LIR-26: two engines write the same bytes of HBM.
func.func @both_write(%d: !lir.mem<dm, 32>, %h: !lir.mem<hbm, 8192>) {
  // expected-error@+1 {{LIR-26: engines run in no order: found bytes that cluster 0 pe 0 and cluster 0 pe 1 both write, expected bytes of their own; move a base, or write two transfers}}
  lir.dma %d to %h engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 4194304 : 32] packet 32>, #lir.engine<cluster 0 pe 1 from 0 to 2040 loops [64 : 4194304 : 32] packet 32>] : !lir.mem<dm, 32>, !lir.mem<hbm, 8192>
  return
}

// -----

// One engine's rows lie between those of the other: no fault. Eight bytes on,
// they meet in the last byte of a row.
func.func @interleaved(%d: !lir.mem<dm, 32>, %h: !lir.mem<hbm, 8192>) {
  lir.dma %d to %h engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 4194304 : 64] packet 32>, #lir.engine<cluster 0 pe 1 from 0 to 32 loops [64 : 4194304 : 64] packet 32>] : !lir.mem<dm, 32>, !lir.mem<hbm, 8192>
  // expected-error@+1 {{LIR-26: engines run in no order: found bytes that cluster 0 pe 0 and cluster 1 pe 3 both write}}
  lir.dma %d to %h engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 4194304 : 64] packet 32>, #lir.engine<cluster 1 pe 3 from 0 to 24 loops [64 : 4194304 : 64] packet 32>] : !lir.mem<dm, 32>, !lir.mem<hbm, 8192>
  return
}

// -----

// One reads what the other one writes, in one buffer.
func.func @read_and_written(%h: !lir.mem<hbm, 8192>) {
  lir.dma %h to %h engines [#lir.engine<cluster 0 pe 0 from 0 to 1024 loops [] packet 1024>, #lir.engine<cluster 0 pe 1 from 2048 to 3072 loops [] packet 1024>] : !lir.mem<hbm, 8192>, !lir.mem<hbm, 8192>
  // expected-error@+1 {{LIR-26: engines run in no order: found bytes that cluster 0 pe 0 and cluster 0 pe 1 read and write}}
  lir.dma %h to %h engines [#lir.engine<cluster 0 pe 0 from 0 to 1024 loops [] packet 1024>, #lir.engine<cluster 0 pe 1 from 2040 to 3072 loops [] packet 1024>] : !lir.mem<hbm, 8192>, !lir.mem<hbm, 8192>
  return
}

// -----

// Data memory is that of each engine's own PE, so the same address is no
// fault; window 1 of 2^29 bytes from 2^39 on is PE 1.
func.func @data_memory(%h: !lir.mem<hbm, 8192>, %d: !lir.mem<dm, 32>) {
  lir.dma %h to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>, #lir.engine<cluster 0 pe 1 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
  // expected-error@+1 {{LIR-26: engines run in no order: found bytes that cluster 0 pe 0 and cluster 0 pe 1 both write}}
  lir.dma %h to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 550561120256 loops [64 : 32 : 4194304] packet 32>, #lir.engine<cluster 0 pe 1 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
  return
}

// -----

// Slices fetch packets from one another: what they commit is no place to fetch.
func.func @exchange(%a: !lir.mem<dm, 32>) {
  lir.exec main {
    fetch_sequencer %a loops [] read 32 packet 32 flits 1 : !lir.mem<dm, 32>
    switch transpose slices [1, 4, 64] time0 1
    collect flits_per_packet 1
    commit_adapter in 32 keep 32
    // expected-error@+1 {{LIR-26: slices fetch from one another in no order: found a commit of bytes that others fetch, expected bytes of its own; commit into another buffer}}
    commit_sequencer %a loops [] write 32 slices [0, 255] : !lir.mem<dm, 32>
  }
  return
}
