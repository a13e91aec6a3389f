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
    earlier schedule are not. A program or loop with the unit attribute
    `resource.keep_order` keeps the order of its commands.

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

def ResourcePipelineLoops : Pass<"resource-pipeline-loops", "::furiosa::resource::ProgramOp"> {
  let summary = "Let iterations of loops overlap";
  let description = [{
    Input: a program that is not scheduled. In each innermost loop, commands get
    stages: one that waits for a command of another engine is one stage behind
    it. A round of the loop that comes out runs stage `s` of iteration `i - s`,
    the oldest first, so that the load of the next iteration stands under the
    work on this one. Buffers that an iteration fills before it reads them get
    copies that iterations use in turn, as many as overlap; the loop is unrolled
    by their number, its first and last rounds stand around it. Dependences are
    found anew.

    A loop is changed only if the schedule becomes shorter, buffers still fit and
    no more than 1,024 commands come out. Programs and loops with
    `resource.keep_order` stay, and loops with a barrier. `furiosa-pipeline` and
    `compile` run this pass, but for programs and kernels with
    `resource.pipeline_loops = false`.

    ```mlir
    resource.loop 16 { load i; compute i }                        // before
    load 0; resource.loop 7 { compute 2i; load 2i + 1; … } …      // after
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

def ResourcePrintCosts : Pass<"resource-print-costs", "::furiosa::resource::ProgramOp"> {
  let summary = "Say what each command costs, and how that comes about";
  let description = [{
    Input: a program, scheduled or not. It is left as it is. Remarks, one a
    command in the order of the text, give its cycles with the formula and its
    numbers; one at the program sums them up by engine. The constants are those
    of the machine description, which names the source of each.

    ```mlir
    // remark: main 777 cycles = max(reads 512, flits 512, macs 256) + main 265
    resource.issue main { … }
    ```
  }];
}

#endif // FURIOSA_DIALECT_RESOURCE_TRANSFORMS_PASSES
