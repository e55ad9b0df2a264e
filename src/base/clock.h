// Clock and ManualClock are public, since options of the patterns take them.
#pragma once

#include "braid/clock.h"
