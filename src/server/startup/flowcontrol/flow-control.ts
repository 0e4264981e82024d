// Priority and fairness with the objects of the store: levels and schemas are used as soon as an informer has read them.
import type { Logger } from '../../../base/logger.js'
import type { MetricsRegistry } from '../../../base/metrics.js'
import { mandatoryFlowObjects } from '../../../builtin/flow-control.js'
import type { FlowKinds } from '../../../controllers/start-controllers.js'
import {
  ADJUSTMENT_MS,
  compileLevel,
  compileSchema,
  createFlowControl,
  type FlowControl,
} from '../../../flowcontrol/flow-control.js'
import { DEFAULT_LIMITS, type LimitOptions } from '../../../http/limits.js'
import type { Registry } from '../../../kinds/registry.js'
import type { ApiObject } from '../../../meta/object/api-object.js'
import { startKindInformer } from '../../../objects/informer.js'
import type { ObjectStores } from '../../../objects/object-stores.js'
import type { Store } from '../../../storage/store.js'
import { requireKind } from '../kinds.js'
import { createResourceStats } from './resource-stats.js'

export interface StartedFlowControl {
  /** Undefined where only the in-flight limits hold. */
  readonly control: FlowControl | undefined
  stop(): void
}

export interface FlowControlParts {
  readonly objects: ObjectStores
  readonly store: Store
  readonly registry: Registry
  readonly metrics: MetricsRegistry
  readonly log: Logger
  readonly limits: Partial<LimitOptions> | undefined
  readonly watchList: boolean
}

const GROUP = 'flowcontrol.apiserver.k8s.io'

export const flowKindsOf = (registry: Registry): FlowKinds => ({
  schemas: requireKind(registry, GROUP, 'FlowSchema'),
  levels: requireKind(registry, GROUP, 'PriorityLevelConfiguration'),
})

export const NO_FLOW_CONTROL: StartedFlowControl = { control: undefined, stop() {} }

/** Resolves when all schemas and levels are known. */
export async function startFlowControl(parts: FlowControlParts): Promise<StartedFlowControl> {
  const { objects, registry, metrics, log, watchList } = parts
  const { maxReading, maxMutating, requestTimeoutMs } = { ...DEFAULT_LIMITS, ...parts.limits }
  const control = createFlowControl(
    {
      serverSeats: maxReading + maxMutating,
      metrics,
      statsOf: createResourceStats(parts.store, registry),
      watchList,
      defaultWaitMs: requestTimeoutMs / 4,
    },
    mandatory(),
  )
  const kinds = flowKindsOf(registry)
  let isReady = false
  const changed = (): void => {
    if (isReady) control.configure([...levels.all('')], [...schemas.all('')])
  }
  const [schemas, levels] = await Promise.all([
    startKindInformer(objects, kinds.schemas, compileSchema, changed, log),
    startKindInformer(objects, kinds.levels, compileLevel, changed, log),
  ])
  isReady = true
  changed()
  const timer = setInterval(() => control.adjust(), ADJUSTMENT_MS).unref()
  return {
    control,
    stop() {
      clearInterval(timer)
      schemas.stop()
      levels.stop()
    },
  }
}

function mandatory() {
  const objects: readonly ApiObject[] = mandatoryFlowObjects()
  const ofKind = (kind: string): ApiObject[] => objects.filter(object => object.kind === kind)
  return {
    levels: ofKind('PriorityLevelConfiguration').map(compileLevel),
    schemas: ofKind('FlowSchema').map(compileSchema),
  }
}
