//===- SimulatorTest.cpp - Programs, DMA, fetch, vector, commit -----------===//

#include "SimulatorContractions.h"

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::rngd::test;
