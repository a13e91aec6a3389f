// y = M x with M streamed from HBM in 64 tiles of 2048 rows; the loop is kept
// to the end, so the kernel binary does not grow with the number of tiles.
// Without `resource.pipeline_loops = false` tiles overlap: fewer cycles in more
// code, with rounds around the loop in which not all of its stages run.
#axes = #tmap.axes<R = 131072, K = 64>
!m = !visa.hbm<bf16, element "R, K", #axes>
!x = !visa.hbm<bf16, element "K", #axes>
!y = !visa.hbm<f32, element "R", #axes>
!mt = !visa.hbm<bf16, element "1 # 64, R % 2048, K", #axes>
!yt = !visa.hbm<f32, element "1 #{!} 64, R % 2048", #axes>
!md = !visa.dm<bf16, slice "R / 8 % 256", element "R % 8, K", #axes>
!xd = !visa.dm<bf16, slice "R / 8 % 256", element "K", #axes>
!yd = !visa.dm<f32, slice "R / 8 % 256", element "R % 8", #axes>
!w = !visa.trf<bf16, slice "R / 8 % 256", lane "R % 8", element "K", #axes>
module attributes {visa.target = #visa.target<rngd, release = "0.6", chips = 1, pes = 8>} {
  func.func @gemv_tiled(%m: !m, %x: !x) -> !y attributes {visa.kernel,
      resource.pipeline_loops = false} {
    %y = visa.alloc : !y
    %xd = visa.to_dm %x : !x -> !xd
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    scf.for %i = %c0 to %c64 step %c1 {
      %mt = visa.tile %m[%i] along "R / 2048" take 1 : !m -> !mt
      %md = visa.to_dm %mt : !mt -> !md
      %w = visa.chain sub -> !w {
        fetch %md time "R % 8" packet "K" : !md
        collect time "R % 8, K / 16" packet "K % 16"
        to_trf lane "R % 8" element "K"
      }
      %r = visa.chain main -> !yd {
        fetch %xd time "1" packet "K" : !xd
        collect time "K / 16" packet "K % 16"
        contract_outer %w time "K / 32" packet "K % 32" : !w
        contract_packet packet "1"
        contract_time time "1"
        contract_lane interleaved time "1" packet "R % 8"
        commit_trim packet "R % 8"
        commit element "R % 8"
      }
      %yt = visa.tile %y[%i] along "R / 2048" take 1 : !y -> !yt
      visa.copy %r into %yt : !yd, !yt
    }
    return %y : !y
  }
}
