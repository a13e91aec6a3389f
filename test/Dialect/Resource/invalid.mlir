// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

// RES-1

// expected-error@+1 {{RES-1: 1 axes, but 0 sizes}}
func.func private @f() attributes {o = #resource.operand<i8, chip "1", element "A", axes ["A"] sizes []>}

// -----

// RES-1

// expected-error@+1 {{RES-1: the size of axis "A" must be positive, found 0}}
func.func private @f() attributes {o = #resource.operand<i8, chip "1", element "A", axes ["A"] sizes [0]>}

// -----

// RES-1

// expected-error@+1 {{RES-1: two axes are named "A"}}
func.func private @f() attributes {o = #resource.operand<i8, chip "1", element "A", axes ["A", "A"] sizes [1, 1]>}

// -----

// RES-1

// expected-error@+1 {{RES-1: the name of an axis is empty}}
func.func private @f() attributes {o = #resource.operand<i8, chip "1", element "A", axes [""] sizes [1]>}

// -----

// RES-2

// expected-error@+1 {{RES-2: the chip keeps no elements of 'i7' in memory; it keeps i4, i8,}}
func.func private @f() attributes {o = #resource.operand<i7, chip "1", element "A", axes ["A"] sizes [1]>}

// -----

// RES-2

// expected-error@+1 {{RES-2: the chip keeps no elements of 'index' in memory}}
func.func private @f() attributes {o = #resource.operand<index, chip "1", element "A", axes ["A"] sizes [1]>}

// -----

// RES-3

// expected-error@+1 {{RES-3: pes must be 1, 2 or 4, found 3}}
resource.program @p pes 3 clusters [0] release "0.6" {
}

// -----

// RES-3

// expected-error@+1 {{RES-3: clusters must ascend within 0 to 1, found 0}}
resource.program @p pes 4 clusters [1, 0] release "0.6" {
}

// -----

// RES-3

// expected-error@+1 {{RES-3: clusters must ascend within 0 to 1, found 2}}
resource.program @p pes 4 clusters [0, 2] release "0.6" {
}

// -----

// RES-3

// expected-error@+1 {{RES-3: at least one cluster runs the program}}
resource.program @p pes 4 clusters [] release "0.6" {
}

// -----

// RES-4

// expected-error@+1 {{RES-4: lower_bound must be 0 to makespan 600, found 601}}
resource.program @p pes 4 clusters [0] release "0.6" makespan 600 lower_bound 601 {
}

// -----

// RES-8

// expected-error@+1 {{RES-8: unknown release "7"}}
resource.program @p pes 4 clusters [0] release "7" {
}

// -----

// RES-5

resource.program @p pes 4 clusters [0] release "0.6" {
  %d = resource.buffer : !lir.mem<dm, 32>
  // expected-error@+1 {{RES-5: arguments come first}}
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
}

// -----

// RES-5

resource.program @p pes 4 clusters [0] release "0.6" {
  // expected-error@+1 {{RES-5: index must be 0, found 1}}
  %a = resource.argument 1 input "a" : !lir.mem<hbm, 8192>
}

// -----

// RES-5

resource.program @p pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 output "a" : !lir.mem<hbm, 8192>
  // expected-error@+1 {{RES-5: inputs come before results and scratch}}
  %b = resource.argument 1 input "a" : !lir.mem<hbm, 8192>
}

// -----

// RES-5

resource.program @p pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  // expected-error@+1 {{RES-5: two arguments are named "a"}}
  %b = resource.argument 1 input "a" : !lir.mem<hbm, 8192>
}

// -----

// RES-6

resource.program @p pes 4 clusters [0] release "0.6" {
  // expected-error@+1 {{RES-6: has no place in resource.program}}
  %z = arith.constant 1 : i32
}

// -----

// RES-7

resource.program @p pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %d = resource.buffer : !lir.mem<dm, 32>
  resource.issue dma {
    // expected-error@+1 {{RES-7: cluster 1 pe 0 does not run the program}}
    lir.dma %a to %d engines [#lir.engine<cluster 1 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
  }
}

// -----

// RES-7

resource.program @p pes 2 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %d = resource.buffer : !lir.mem<dm, 32>
  resource.issue dma {
    // expected-error@+1 {{RES-7: cluster 0 pe 2 does not run the program}}
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 2 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
  }
}

// -----

// RES-7

resource.program @p pes 2 clusters [0] release "0.6" {
  %d = resource.buffer : !lir.mem<dm, 32>
  resource.issue main {
    lir.exec main {
      fetch_sequencer %d loops [1 : 0] read 32 packet 32 flits 1 : !lir.mem<dm, 32>
      collect flits_per_packet 1
      commit_adapter in 32 keep 32
      // expected-error@+1 {{RES-7: slice 255 is none of the 128 that run the program}}
      commit_sequencer %d loops [1 : 0] write 32 slices [0, 255] : !lir.mem<dm, 32>
    }
  }
}

// -----

// RES-9

resource.program @p pes 4 clusters [0] release "0.6" makespan 600 lower_bound 600 {
  // expected-error@+1 {{RES-9: a scheduled program has buffers with address and live}}
  %d = resource.buffer : !lir.mem<dm, 32>
}

// -----

// RES-9

resource.program @p pes 4 clusters [0] release "0.6" makespan 600 lower_bound 600 {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %d = resource.buffer at 0 live [0, 1] : !lir.mem<dm, 32>
  // expected-error@+1 {{RES-9: a scheduled program has commands with cycles}}
  resource.issue dma {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
  }
}

// -----

// RES-9

resource.program @p pes 4 clusters [0] release "0.6" makespan 600 lower_bound 600 {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %d = resource.buffer at 0 live [0, 1] : !lir.mem<dm, 32>
  // expected-error@+1 {{RES-9: a scheduled program has dma commands with tags}}
  resource.issue dma cycles [0, 1] {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
  }
}

// -----

// RES-9

resource.program @p pes 4 clusters [0] release "0.6" makespan 600 lower_bound 600 {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %d = resource.buffer at 0 live [0, 1] : !lir.mem<dm, 32>
  // expected-error@+1 {{RES-9: a scheduled program has waits instead of tokens}}
  %t = resource.issue dma tag 0 cycles [0, 1] {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
  } : !resource.token
}

// -----

// RES-9

resource.program @p pes 4 clusters [0] release "0.6" makespan 600 lower_bound 600 {
  // expected-error@+1 {{RES-9: a scheduled program has loops with cycles}}
  resource.loop 2 {
  }
}

// -----

// RES-9

resource.program @p pes 4 clusters [0] release "0.6" makespan 600 lower_bound 600 {
  // expected-error@+1 {{RES-9: a scheduled program has waits instead of tokens}}
  %t = resource.loop 2 cycles 0 {
  } : !resource.token
}

// -----

// RES-10

resource.program @p pes 4 clusters [0] release "0.6" {
  // expected-error@+1 {{RES-10: arguments are in hbm, found dm}}
  %a = resource.argument 0 input "a" : !lir.mem<dm, 32>
}

// -----

// RES-10

resource.program @p pes 4 clusters [0] release "0.6" {
  // expected-error@+1 {{RES-10: the name is empty}}
  %a = resource.argument 0 input "" : !lir.mem<hbm, 32>
}

// -----

// RES-11

resource.program @p pes 4 clusters [0] release "0.6" {
  // expected-error@+1 {{RES-11: the operand has 64 bytes, its buffer 32}}
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 32> as #resource.operand<i32, chip "1", element "A", axes ["A"] sizes [16]>
}

// -----

// RES-2: i9 lives between fetch and contraction only.

// expected-error@+1 {{RES-2: the chip keeps no elements of 'i9' in memory}}
func.func private @f() attributes {o = #resource.operand<i9, chip "1", element "A", axes ["A"] sizes [8]>}

// -----

// RES-23

// expected-error@+1 {{RES-23: chip "1", element "A, B": MM-5: the tensor's size does not fit in 64 bits}}
func.func private @f() attributes {o = #resource.operand<i32, chip "1", element "A, B", axes ["A", "B"] sizes [2147483648, 2147483648]>}

// -----

// RES-23

// expected-error@+1 {{RES-23: chip "1", element "A, B": MA-}}
func.func private @f() attributes {o = #resource.operand<i32, chip "1", element "A, B", axes ["A"] sizes [8]>}

// -----

// RES-23

// expected-error@+1 {{RES-23: chip "1", element "A": MM-5: a tensor of 12 bits}}
func.func private @f() attributes {o = #resource.operand<i4, chip "1", element "A", axes ["A"] sizes [3]>}

// -----

// RES-12

resource.program @p pes 4 clusters [0] release "0.6" {
  // expected-error@+1 {{RES-12: buffers in hbm are arguments}}
  %d = resource.buffer : !lir.mem<hbm, 32>
}

// -----

// RES-12

resource.program @p pes 4 clusters [0] release "0.6" {
  // expected-error@+1 {{RES-12: address must be a multiple of 8, found 4}}
  %d = resource.buffer at 4 : !lir.mem<dm, 32>
}

// -----

// RES-12

resource.program @p pes 4 clusters [0] release "0.6" {
  // expected-error@+1 {{RES-12: address must be a multiple of 8, found -8}}
  %d = resource.buffer at -8 : !lir.mem<dm, 32>
}

// -----

// RES-12

resource.program @p pes 4 clusters [0] release "0.6" {
  // expected-error@+1 {{RES-12: address must be a multiple of 32, found 8}}
  %d = resource.buffer at 8 : !lir.mem<vrf, 32>
}

// -----

// RES-12

resource.program @p pes 4 clusters [0] release "0.6" {
  // expected-error@+1 {{RES-12: address must be a multiple of 64, found 32}}
  %d = resource.buffer at 32 : !lir.mem<trf, 512, lanes 8>
}

// -----

// RES-12

resource.program @p pes 4 clusters [0] release "0.6" {
  // expected-error@+1 {{RES-12: 64 bytes at 8192 do not fit in 8192 of trf}}
  %d = resource.buffer at 8192 : !lir.mem<trf, 512, lanes 8>
}

// -----

// RES-12

resource.program @p pes 4 clusters [0] release "0.6" {
  // expected-error@+1 {{RES-12: 524288 bytes at 8 do not fit in 524288 of dm}}
  %d = resource.buffer at 8 : !lir.mem<dm, 524288>
}

// -----

// RES-13

resource.program @p pes 4 clusters [0] release "0.6" {
  // expected-error@+1 {{RES-13: live must hold two cycles, found 1}}
  %d = resource.buffer live [1] : !lir.mem<dm, 32>
}

// -----

// RES-13

resource.program @p pes 4 clusters [0] release "0.6" {
  // expected-error@+1 {{RES-13: live must ascend from 0 on, found 2 to 1}}
  %d = resource.buffer live [2, 1] : !lir.mem<dm, 32>
}

// -----

// RES-14

resource.program @p pes 4 clusters [0] release "0.6" {
  // expected-error@+1 {{RES-14: the region holds one command, found 0}}
  resource.issue dma {
  }
}

// -----

// RES-14

resource.program @p pes 4 clusters [0] release "0.6" {
  %d = resource.buffer : !lir.mem<dm, 32>
  // expected-error@+2 {{RES-14: dma cannot run this command}}
  // expected-note@+2 {{the command is here}}
  resource.issue dma {
    lir.exec main {
      fetch_sequencer %d loops [1 : 0] read 32 packet 32 flits 1 : !lir.mem<dm, 32>
      collect flits_per_packet 1
      commit_adapter in 32 keep 32
      commit_sequencer %d loops [1 : 0] write 32 slices [0, 63] : !lir.mem<dm, 32>
    }
  }
}

// -----

// RES-14

resource.program @p pes 4 clusters [0] release "0.6" {
  %d = resource.buffer : !lir.mem<dm, 32>
  // expected-error@+2 {{RES-14: main cannot run this command}}
  // expected-note@+2 {{the command is here}}
  resource.issue main {
    lir.exec sub {
      fetch_sequencer %d loops [4 : 8] read 8 packet 32 flits 1 : !lir.mem<dm, 32>
      collect flits_per_packet 1
      commit_adapter in 32 keep 32
      commit_sequencer %d loops [4 : 8] write 8 slices [0, 63] : !lir.mem<dm, 32>
    }
  }
}

// -----

// RES-15

resource.program @p pes 4 clusters [0] release "0.6" {
  %d = resource.buffer : !lir.mem<dm, 32>
  // expected-error@+1 {{RES-15: only a dma has a tag, found one on main}}
  resource.issue main tag 0 {
    lir.exec main {
      fetch_sequencer %d loops [1 : 0] read 32 packet 32 flits 1 : !lir.mem<dm, 32>
      collect flits_per_packet 1
      commit_adapter in 32 keep 32
      commit_sequencer %d loops [1 : 0] write 32 slices [0, 63] : !lir.mem<dm, 32>
    }
  }
}

// -----

// RES-15

resource.program @p pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %d = resource.buffer : !lir.mem<dm, 32>
  // expected-error@+1 {{RES-15: tag must be 0 to 63, found 64}}
  resource.issue dma tag 64 {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
  }
}

// -----

// RES-15

resource.program @p pes 4 clusters [0] release "0.6" {
  %d = resource.buffer : !lir.mem<dm, 32>
  // expected-error@+1 {{RES-15: only a dma has an advance}}
  resource.issue main advance [] {
    lir.exec main {
      fetch_sequencer %d loops [1 : 0] read 32 packet 32 flits 1 : !lir.mem<dm, 32>
      collect flits_per_packet 1
      commit_adapter in 32 keep 32
      commit_sequencer %d loops [1 : 0] write 32 slices [0, 63] : !lir.mem<dm, 32>
    }
  }
}

// -----

// RES-16

resource.program @p pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %d = resource.buffer : !lir.mem<dm, 32>
  // expected-error@+1 {{RES-16: cycles must ascend from 0 on, found 5 to 4}}
  resource.issue dma cycles [5, 4] {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
  }
}

// -----

// RES-16

resource.program @p pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %d = resource.buffer : !lir.mem<dm, 32>
  // expected-error@+1 {{RES-16: cycles must hold two cycles, found 0}}
  resource.issue dma cycles [] {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
  }
}

// -----

// RES-17

resource.program @p pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %d = resource.buffer : !lir.mem<dm, 32>
  resource.loop 4 {
    // expected-error@+1 {{RES-17: advance has two numbers for each of the 1 loops around, found 1}}
    resource.issue dma advance [8] {
      lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
    }
  }
}

// -----

// RES-17

resource.program @p pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %d = resource.buffer : !lir.mem<dm, 32>
  resource.loop 4 {
    // expected-error@+1 {{RES-17: source of the engine of cluster 0 pe 0 begins in front of its buffer}}
    resource.issue dma advance [-8, 0] {
      lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
    }
  }
}

// -----

// RES-17

resource.program @p pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %d = resource.buffer : !lir.mem<dm, 32>
  resource.loop 4 {
    // expected-error@+1 {{RES-17: advance must be a multiple of 8 bytes, found 4}}
    resource.issue dma advance [4, 0] {
      lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
    }
  }
}

// -----

// RES-17

resource.program @p pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %d = resource.buffer : !lir.mem<dm, 32>
  resource.loop 4 {
    // expected-error@+1 {{RES-17: source of the engine of cluster 0 pe 0 leaves its buffer of 8192 bytes in the last iteration}}
    resource.issue dma advance [2056, 0] {
      lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
    }
  }
}

// -----

// RES-17

resource.program @p pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %d = resource.buffer : !lir.mem<dm, 32>
  resource.loop 4 {
    // expected-error@+1 {{RES-17: advance reaches an address that does not fit in 64 bits}}
    resource.issue dma advance [9223372036854775800, 0] {
      lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
    }
  }
}

// -----

// An advance in a data memory.

resource.program @p pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %d = resource.buffer : !lir.mem<dm, 32>
  resource.loop 4 {
    // expected-error@+1 {{not yet supported: an advance in dm}}
    resource.issue dma advance [0, 8] {
      lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
    }
  }
}

// -----

// RES-18

resource.program @p pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %d = resource.buffer : !lir.mem<dm, 32>
  %i = arith.constant 0 : index
  // expected-error@+1 {{RES-18: offsets must be bases, advance and starts, found an SSA offset}}
  resource.issue dma {
    lir.dma %a[%i] to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
  }
}

// -----

// RES-19

resource.program @p pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %d = resource.buffer : !lir.mem<dm, 32>
  %t = resource.issue dma {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
  } : !resource.token
  resource.loop 4 {
    // expected-error@+1 {{RES-19: token 0 must come from the same block}}
    resource.issue dma after [%t] {
      lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
    }
  }
}

// -----

// RES-20

resource.program @p pes 4 clusters [0] release "0.6" {
  // expected-error@+1 {{RES-20: a wait for a dma needs a tag}}
  resource.wait dma
}

// -----

// RES-20

resource.program @p pes 4 clusters [0] release "0.6" {
  // expected-error@+1 {{RES-20: only a dma has a tag, found one on sub}}
  resource.wait sub tag 1
}

// -----

// RES-20

resource.program @p pes 4 clusters [0] release "0.6" {
  // expected-error@+1 {{RES-20: tag must be 0 to 63, found -1}}
  resource.wait dma tag -1
}

// -----

// RES-21

resource.program @p pes 4 clusters [0] release "0.6" {
  // expected-error@+1 {{RES-21: trips must be positive, found 0}}
  resource.loop 0 {
  }
}

// -----

// RES-21

resource.program @p pes 4 clusters [0] release "0.6" {
  // expected-error@+1 {{RES-21: cycles must not be negative, found -1}}
  resource.loop 1 cycles -1 {
  }
}

// -----

// RES-22

resource.program @p pes 4 clusters [0] release "0.6" {
  resource.loop 4 {
    // expected-error@+1 {{RES-22: has no place in resource.loop}}
    %z = arith.constant 1 : i32
  }
}

// -----

// RES-22

resource.program @p pes 4 clusters [0] release "0.6" {
  resource.loop 2 {
    resource.loop 2 {
      resource.loop 2 {
        resource.loop 2 {
          resource.loop 2 {
            resource.loop 2 {
              resource.loop 2 {
                resource.loop 2 {
                  // expected-error@+1 {{RES-22: loops nest at most 8 deep}}
                  resource.loop 2 {
                  }
                }
              }
            }
          }
        }
      }
    }
  }
}

// -----

// A command outside a program.

// expected-error@+1 {{expects parent op to be one of}}
resource.wait main

// -----

// RES-27: each argument fits into HBM, but not both; together all but the 4 MiB
// that are reserved is fine.
resource.program @full pes 1 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 51535412992>
  %b = resource.argument 1 scratch "b" : !lir.mem<hbm, 256>
}

// -----

// expected-error@+1 {{RES-27: arguments need 51535413249 bytes together, hbm holds 51535413248}}
resource.program @beyond pes 1 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 51535412992>
  %b = resource.argument 1 scratch "b" : !lir.mem<hbm, 257>
}
