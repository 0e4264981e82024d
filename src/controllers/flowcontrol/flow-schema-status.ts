// Keeps the condition `Dangling` of all FlowSchemas. Writers that disagree about it would write without end, so that a
// schema is written at most six times in a minute.
import type { Kind } from '../../kinds/kind.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { startKindInformer } from '../../objects/informer.js'
import type { ApiContext } from '../../verbs/api-context.js'
import { type Controller, type ControllerEnv, createControllerQueue } from '../common/controller.js'
import { danglingStatus, flowConfigConsumer, levelNameOf } from './dangling.js'

export interface FlowKinds {
  readonly schemas: Kind
  readonly levels: Kind
}

const WRITES_PER_MINUTE = 6
const MINUTE_MS = 60_000
const PAUSE_MS = 30_000
const MORE_PAUSE_MS = 45_000

export async function startFlowSchemaStatus(
  context: ApiContext,
  kinds: FlowKinds,
  env: ControllerEnv,
): Promise<Controller> {
  const objects = flowConfigConsumer(context)
  const queue = createControllerQueue('priority_and_fairness_config_queue', env, reconcile)
  const writes = new Map<string, number[]>()
  const pauses = new Set<() => void>()
  /** Before both informers have read everything, nothing is known to be missing. */
  let isReady = false
  const changed = (): void => {
    if (!isReady) return
    for (const schema of schemas.all('')) if (statusOf(schema)) queue.add(metaOf(schema).name ?? '')
  }
  const [schemas, levels] = await Promise.all([
    startKindInformer(context, kinds.schemas, object => object, changed, env.log),
    startKindInformer(context, kinds.levels, () => true, changed, env.log),
  ])
  isReady = true
  changed()

  function statusOf(schema: ApiObject) {
    return danglingStatus(schema, levels.get('', levelNameOf(schema)) !== undefined, env.clock.now())
  }

  async function reconcile(name: string): Promise<void> {
    const schema = schemas.get('', name)
    const status = schema && statusOf(schema)
    if (!status) return
    const now = env.clock.now()
    const recent = (writes.get(name) ?? []).filter(at => now - at < MINUTE_MS)
    if (recent.length >= WRITES_PER_MINUTE) return tryLater(name)
    writes.set(name, [...recent, now])
    if (await objects.get(kinds.schemas, '', name)) await objects.apply(kinds.schemas, status, 'status')
  }

  function tryLater(name: string): void {
    const cancel = env.clock.after(PAUSE_MS + env.random() * MORE_PAUSE_MS, () => {
      pauses.delete(cancel)
      queue.add(name)
    })
    pauses.add(cancel)
  }

  return {
    idle: () => queue.idle(),
    stop() {
      schemas.stop()
      levels.stop()
      queue.stop()
      for (const cancel of pauses) cancel()
    },
  }
}
