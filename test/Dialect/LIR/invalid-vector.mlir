// What units of the vector engine refuse, alone and in a pass.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    // expected-error @below {{LIR-17: fxp_add runs once in a pass}}
    vector_alu fxp_add sub [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error @below {{LIR-17: fp_mul0 has no operation add}}
    vector_alu fp_mul0 add [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error @below {{LIR-17: exp takes no operand}}
    vector_alu fp_exp exp [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error @below {{LIR-17: an ALU has 3 immediates, found 4}}
    vector_alu fxp_add add [imm 1 if "1---", imm 1 if "-1--", imm 1 if "--1-", imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error @below {{LIR-17: each slot has a guard, and for three arguments a second operand}}
    vector_alu fp_fma fma [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error @below {{LIR-17: "12--" is no guard that some execution id passes}}
    vector_alu fxp_add add [imm 1 if "12--"]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error @below {{LIR-17: "!----" is no guard that some execution id passes}}
    vector_stash if "!----"
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error @below {{LIR-17: "012" is no mode of 2 arguments}}
    vector_alu fxp_add add [imm 1] mode "012"
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error @below {{LIR-17: a shift amount is 0 to 31, found 32}}
    vector_alu fxp_left_shift shl [imm 32]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error @below {{LIR-17: takes 4 elements at a time, the stream has 8}}
    vector_alu fp_exp exp
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_narrow split
    // expected-error @below {{LIR-17: takes 8 elements at a time, the stream has 4}}
    vector_alu clip_max max [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error @below {{LIR-17: the stash is empty}}
    vector_alu clip_max max [stash]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_stash
    vector_narrow split
    // expected-error @below {{LIR-17: the stash has other ways than the stream}}
    vector_alu fp_mul0 mul [stash]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_stash
    // expected-error @below {{LIR-17: the stash is written once in a pass}}
    vector_stash
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    // expected-error @below {{LIR-17: stands too late; stages run in the order of the hardware}}
    vector_alu logic_and and [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error @below {{LIR-17: elements are i32 or f32, found 'bf16'}}
    vector_tag bf16 [less 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error @below {{LIR-17: unknown comparison "above"}}
    vector_tag i32 [above]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error @below {{LIR-17: 1 to 4 comparisons with a boundary each, found 5}}
    vector_tag i32 [true, true, true, true, true]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error @below {{LIR-17: a turn takes 1 to 255 flits, found 256}}
    vector_unzip flits 256
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error @below {{LIR-17: 2 flits do not make whole turns}}
    vector_unzip flits 2
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error @below {{LIR-17: there are no groups to choose from}}
    vector_compact if "---1"
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error @below {{LIR-17: width must be 0 to 31, found 32}}
    vector_fxp_to_fp width 32
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error @below {{LIR-17: packets of four elements leave the engine; vector_widen is missing}}
    vector_narrow split
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_narrow split
    // expected-error @below {{LIR-22: there is no reduction sum}}
    vector_reduce sum loops [4 : 0] count 4
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_narrow split
    // expected-error @below {{LIR-22: there are 8 accumulator slots; the loops go beyond}}
    vector_reduce max_i32 loops [4 : 4] count 1
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_narrow split
    // expected-error @below {{LIR-22: count must be 1 to 65536, found 0}}
    vector_reduce max_i32 loops [4 : 0] count 0
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_narrow split
    // expected-error @below {{LIR-22: steps of the loops must be 4, found 3}}
    vector_reduce max_i32 loops [3 : 0] count 3
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_narrow split
    // expected-error @below {{LIR-22: count 3 must divide the 4 packets}}
    vector_reduce max_i32 loops [4 : 0] count 3
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error @below {{LIR-22: span must be 1 to 8, found 9}}
    vector_valid_clip count 10 span 9 loops [2 : 8]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error @below {{LIR-22: count must fit in 16 bits, found 65536}}
    vector_valid_clip count 65536 span 8 loops [2 : 8]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error @below {{LIR-22: steps of the loops must be 2, found 3}}
    vector_valid_clip count 10 span 8 loops [3 : 8]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error @below {{LIR-22: mask and match are bits of a slice number, found 256 and 0}}
    vector_valid_filter mask 256 match 0 count 1 loops [2 : 1]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error @below {{LIR-22: there is no reduction mul mul}}
    vector_slice_reduce mul mul slices 2 mask 0 loops [2 : 0]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error @below {{LIR-22: a group has 2 to 256 slices, a power of two, found 3}}
    vector_slice_reduce add add slices 3 mask 0 loops [2 : 0]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error @below {{LIR-22: mask must lie in the group, found 2}}
    vector_slice_reduce add add slices 2 mask 2 loops [2 : 0]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    // expected-error @below {{LIR-22: the loops go beyond the slices of the mask}}
    vector_slice_reduce add add slices 4 mask 1 loops [2 : 2]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}

// -----

func.func @f(%a: !lir.mem<dm, 2048>, %c: !lir.mem<dm, 4096>) {
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 2048>
    collect flits_per_packet 1
    vector_slice_reduce add add slices 2 mask 0 loops [2 : 0]
    // expected-error @below {{LIR-22: slices are reduced once in a pass}}
    vector_slice_reduce add add slices 2 mask 0 loops [2 : 0]
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  return
}
