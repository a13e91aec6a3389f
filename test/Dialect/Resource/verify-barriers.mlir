// Hand-edited schedules that waits cannot save: PEs that do not wait for one
// another.
// RUN: furiosa-opt-mlir %s --resource-verify-schedule -split-input-file -verify-diagnostics

// Right as it is.
resource.program @apart_by_barrier pes 2 clusters [0] release "0.6" makespan 2617 lower_bound 2617 {
  %0 = resource.argument 0 inout "a" : !lir.mem<hbm, 4096>
  %1 = resource.buffer at 0 live [1003, 2017] : !lir.mem<dm, 64>
  resource.issue dma tag 0 cycles [1003, 1510] {
    lir.dma %1 to %0 engines [#lir.engine<cluster 0 pe 0 from 0 to 64 loops [] packet 64>] : !lir.mem<dm, 64>, !lir.mem<hbm, 4096>
  }
  resource.wait dma tag 0
  resource.loop 1 barrier cycles 0 {
  }
  resource.issue dma tag 0 cycles [1510, 2017] {
    lir.dma %0 to %1 engines [#lir.engine<cluster 0 pe 1 from 96 to 0 loops [] packet 64>] : !lir.mem<hbm, 4096>, !lir.mem<dm, 64>
  }
  resource.wait dma tag 0
}

// -----

// Without the barrier.
resource.program @no_barrier pes 2 clusters [0] release "0.6" makespan 2617 lower_bound 2617 {
  %0 = resource.argument 0 inout "a" : !lir.mem<hbm, 4096>
  %1 = resource.buffer at 0 live [1003, 2017] : !lir.mem<dm, 64>
  // expected-note@+1 {{the other command is here}}
  resource.issue dma tag 0 cycles [1003, 1510] {
    lir.dma %1 to %0 engines [#lir.engine<cluster 0 pe 0 from 0 to 64 loops [] packet 64>] : !lir.mem<dm, 64>, !lir.mem<hbm, 4096>
  }
  resource.wait dma tag 0
  // expected-error@+1 {{no barrier stands between engines of two PEs that touch the same bytes}}
  resource.issue dma tag 0 cycles [1510, 2017] {
    lir.dma %0 to %1 engines [#lir.engine<cluster 0 pe 1 from 96 to 0 loops [] packet 64>] : !lir.mem<hbm, 4096>, !lir.mem<dm, 64>
  }
  resource.wait dma tag 0
}

// -----

// With the barrier in front of both.
resource.program @barrier_moved pes 2 clusters [0] release "0.6" makespan 2617 lower_bound 2617 {
  %0 = resource.argument 0 inout "a" : !lir.mem<hbm, 4096>
  %1 = resource.buffer at 0 live [1003, 2017] : !lir.mem<dm, 64>
  resource.loop 1 barrier cycles 0 {
  }
  // expected-note@+1 {{the other command is here}}
  resource.issue dma tag 0 cycles [1003, 1510] {
    lir.dma %1 to %0 engines [#lir.engine<cluster 0 pe 0 from 0 to 64 loops [] packet 64>] : !lir.mem<dm, 64>, !lir.mem<hbm, 4096>
  }
  resource.wait dma tag 0
  // expected-error@+1 {{no barrier stands between engines of two PEs that touch the same bytes}}
  resource.issue dma tag 0 cycles [1510, 2017] {
    lir.dma %0 to %1 engines [#lir.engine<cluster 0 pe 1 from 96 to 0 loops [] packet 64>] : !lir.mem<hbm, 4096>, !lir.mem<dm, 64>
  }
  resource.wait dma tag 0
}

// -----

// From one iteration to the next.
resource.program @next_iteration pes 2 clusters [0] release "0.6" makespan 5091 lower_bound 5091 {
  %0 = resource.argument 0 inout "a" : !lir.mem<hbm, 4096>
  %1 = resource.buffer at 0 live [1003, 4491] : !lir.mem<dm, 64>
  resource.loop 4 cycles 872 {
    // expected-error@+2 {{no barrier stands between engines of two PEs that touch the same bytes}}
    // expected-note@+1 {{the other command is here}}
    resource.issue dma tag 0 cycles [0, 872] advance [0, 64] {
      lir.dma %1 to %0 engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>, #lir.engine<cluster 0 pe 1 from 0 to 64 loops [] packet 64>] : !lir.mem<dm, 64>, !lir.mem<hbm, 4096>
    }
    resource.wait dma tag 0
  }
}

// -----

// A barrier inside the loop in front does not stand behind its last transfer.
resource.program @barrier_inside pes 2 clusters [0] release "0.6" makespan 3631 lower_bound 3631 {
  %0 = resource.argument 0 inout "a" : !lir.mem<hbm, 4096>
  %1 = resource.buffer at 0 live [1003, 3031] : !lir.mem<dm, 64>
  resource.loop 3 cycles 507 {
    resource.loop 1 barrier cycles 0 {
    }
    // expected-note@+1 {{the other command is here}}
    resource.issue dma tag 0 cycles [0, 507] {
      lir.dma %1 to %0 engines [#lir.engine<cluster 0 pe 0 from 0 to 64 loops [] packet 64>] : !lir.mem<dm, 64>, !lir.mem<hbm, 4096>
    }
    resource.wait dma tag 0
  }
  // expected-error@+1 {{no barrier stands between engines of two PEs that touch the same bytes}}
  resource.issue dma tag 0 cycles [2524, 3031] {
    lir.dma %0 to %1 engines [#lir.engine<cluster 0 pe 1 from 96 to 0 loops [] packet 64>] : !lir.mem<hbm, 4096>, !lir.mem<dm, 64>
  }
  resource.wait dma tag 0
}

// -----

// Beside a transfer into another PE.
resource.program @remote pes 2 clusters [0] release "0.6" makespan 3121 lower_bound 3121 {
  %0 = resource.argument 0 input "a" : !lir.mem<hbm, 4096>
  %1 = resource.argument 1 inout "b" : !lir.mem<hbm, 4096>
  %2 = resource.buffer at 0 live [1003, 2014] : !lir.mem<dm, 64>
  %3 = resource.buffer at 64 live [1510, 2521] : !lir.mem<dm, 64>
  resource.issue dma tag 0 cycles [1003, 1510] {
    lir.dma %0 to %2 engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<hbm, 4096>, !lir.mem<dm, 64>
  }
  resource.wait dma tag 0
  resource.loop 1 barrier cycles 0 {
  }
  // expected-error@+1 {{goes into the data memory of another PE without a barrier on either side}}
  resource.issue dma tag 0 cycles [1510, 2014] {
    lir.dma %2 to %3 engines [#lir.engine<cluster 0 pe 0 from 0 to 550561120256 loops [] packet 64>] : !lir.mem<dm, 64>, !lir.mem<dm, 64>
  }
  resource.wait dma tag 0
  resource.issue dma tag 0 cycles [2014, 2521] {
    lir.dma %3 to %1 engines [#lir.engine<cluster 0 pe 1 from 0 to 0 loops [] packet 64>] : !lir.mem<dm, 64>, !lir.mem<hbm, 4096>
  }
  resource.wait dma tag 0
}
