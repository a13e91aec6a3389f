//===- VISADoc.td - All of visa, for its reference ---------*- tablegen -*-===//

include "furiosa/Dialect/VISA/IR/MovementOps.td"
include "furiosa/Dialect/VISA/IR/FetchOps.td"
include "furiosa/Dialect/VISA/IR/SwitchOps.td"
include "furiosa/Dialect/VISA/IR/RegisterFileOps.td"
include "furiosa/Dialect/VISA/IR/ContractionOps.td"
include "furiosa/Dialect/VISA/IR/VectorOps.td"
include "furiosa/Dialect/VISA/IR/TransposeOps.td"
include "furiosa/Dialect/VISA/IR/CommitOps.td"
