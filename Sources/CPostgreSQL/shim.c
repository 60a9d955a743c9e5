// SPDX-License-Identifier: Apache-2.0

#include "CPostgreSQL.h"
