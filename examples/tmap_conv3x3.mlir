// A 3 x 3 convolution with a row of zeros around the image: windows of it, then a contraction over taps and channels.
#axes = #tmap.axes<N = 2, H = 14, W = 14, Y = 14, X = 14, R = 3, S = 3, C = 32, F = 64>
!x = !tmap.tensor<i8, "N, H, W, C", #axes>
!v = !tmap.tensor<i8, "R, S, N, Y, X, C", #axes>
!w = !tmap.tensor<i8, "F, R, S, C", #axes>
!s = !tmap.tensor<i32, "N, Y, X, F", #axes>
!y = !tmap.tensor<i8, "N, Y, X, F", #axes>
func.func @conv3x3(%x: !x, %w: !w) -> !y attributes {visa.kernel} {
  %v = tmap.window %x [H = Y + R - 1, W = X + S - 1] : !x -> !v
  %s = tmap.contract %v, %w over [R, S, C] : !v, !w -> !s
  %y = tmap.cast %s : !s -> !y
  return %y : !y
}
