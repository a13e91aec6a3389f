module {
func.func @helper(%a: index) -> i32 {
  return %a : index
}
func.func @one(%a: index) attributes {visa.kernel} {
  %b = func.call @helper(%a) : (index) -> i32
  return
}
func.func @two(%a: index) attributes {visa.kernel} {
  %b = func.call @helper(%a) : (index) -> i32
  return
}
}
