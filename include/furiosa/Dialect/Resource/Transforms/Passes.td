//===- Passes.td - Passes on resource programs -------------*- tablegen -*-===//

#ifndef FURIOSA_DIALECT_RESOURCE_TRANSFORMS_PASSES
#define FURIOSA_DIALECT_RESOURCE_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def ResourceSchedule : Pass<"resource-schedule", "::furiosa::resource::ProgramOp"> {
  let summary = "Fix order, cycles, addresses and waits of a program";
  let description = [{
    Input: a program, scheduled or not; dependences are its tokens and what its
    commands read and write. Output: block order is issue order, waits stand
    where a command needs them, commands have cycles and transfers tags, buffers
    have addresses and lives, the program has its makespan and a lower bound.
    Addresses in a program that is not scheduled yet are kept; those of an
    earlier schedule are not.

    Fails when the buffers do not fit even in program order, one command at a
    time; notes give the memory map at the peak.

    ```mlir
    %t = resource.issue dma { … } : !resource.token               // before
    %s = resource.issue main after [%t] { … } : !resource.token
    resource.issue dma tag 0 cycles [1003, 1795] { … }             // after
    resource.wait dma tag 0
    resource.issue main cycles [1795, 2078] { … }
    resource.wait main
    ```
  }];
}

def ResourceVerifySchedule : Pass<"resource-verify-schedule", "::furiosa::resource::ProgramOp"> {
  let summary = "Check a schedule by code that did not make it";
  let description = [{
    Input: a scheduled program. It is left as it is. The dependences are built
    anew from what the commands read and write, pair by pair, and the queue is
    replayed. Fails at the first command of each fault: a dependence that no
    wait implies, a command issued to a busy context, two live buffers on one
    address, cycles or a makespan that the queue does not give.
  }];
}

#endif // FURIOSA_DIALECT_RESOURCE_TRANSFORMS_PASSES
