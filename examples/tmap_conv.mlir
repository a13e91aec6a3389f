// A 1 x 1 convolution with 48 channels as a contraction: rows and columns of the image are free axes, channels are summed.
#axes = #tmap.axes<N = 2, Y = 14, X = 14, C = 48, F = 32>
!x = !tmap.tensor<i8, "N, Y, X, C", #axes>
!w = !tmap.tensor<i8, "F, C", #axes>
!s = !tmap.tensor<i32, "N, Y, X, F", #axes>
!y = !tmap.tensor<i8, "N, Y, X, F", #axes>
func.func @conv(%x: !x, %w: !w) -> !y attributes {visa.kernel} {
  %s = tmap.contract %x, %w over [C] : !x, !w -> !s
  %y = tmap.cast %s : !s -> !y
  return %y : !y
}
