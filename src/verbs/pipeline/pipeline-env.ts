// What the write pipeline gets from outside. It has no store and no clock of its own, so that it also runs offline.

import { type Admission, NO_ADMISSION } from '../../admission/chain.js'
import { SYSTEM_CLOCK } from '../../base/clock.js'
import type { Allocation, Kind } from '../../kinds/kind.js'
import { type IdGenerator, RANDOM_IDS } from '../../meta/object/ids.js'
import { createManagedTypes, type TrackingEnv } from './field-tracking.js'

export interface PipelineEnv extends TrackingEnv {
  readonly admission: Admission
  readonly ids: IdGenerator
  /** For kinds whose objects take something from a shared pool, such as the addresses of Services. */
  allocationOf(kind: Kind): Allocation | undefined
}

/** Admits everything and allocates nothing. */
export const offlineEnv = (env: Partial<PipelineEnv> = {}): PipelineEnv => ({
  admission: NO_ADMISSION,
  now: SYSTEM_CLOCK.now,
  ids: RANDOM_IDS,
  managedTypes: createManagedTypes(),
  allocationOf: () => undefined,
  ...env,
})
