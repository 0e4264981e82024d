// A server's insides with definitions in force and without the network, any number of them on one store.
import type { Admission } from '../../admission/chain.js'
import { kindsOfGroup } from '../../builtin/builtin-kinds.js'
import { definitionKind } from '../../crd/definition-kind.js'
import { createRegistry, type Registry } from '../../kinds/registry.js'
import type { Value } from '../../meta/values/value.js'
import { systemRequest } from '../../request/request.js'
import { type Target } from '../../request/target.js'
import type { Store } from '../../storage/store.js'
import { builtinTypes } from '../../types/type-table.js'
import { type ApiContext, createApiContext } from '../../verbs/api-context.js'
import { createVerbs, type Verbs } from '../../verbs/verbs.js'
import { createWebhooks } from '../../webhook/client.js'
import { quietEnv } from '../common/controller.js'
import { type Definitions, startDefinitions } from './controller.js'
import { verbsByCurrentDefinition } from './current-definition.js'
import type { NamesLock } from './names-lock.js'
import { waitingVerbs } from './wait-established.js'

export const DEFINITIONS = definitionKind(kindsOfGroup(builtinTypes(), 'apiextensions.k8s.io')[0]!)
export const REQUEST = systemRequest({ user: { name: 'me', uid: '', groups: [], extra: {} }, userAgent: 'test' })
export const NO_QUERY = new URLSearchParams()

export interface Process {
  readonly registry: Registry
  readonly context: ApiContext
  readonly definitions: Definitions
  readonly verbs: Verbs
}

const started: Process[] = []

/** `namesLock` where several processes write definitions at the same time. */
export async function startProcess(
  store: Store,
  admission?: Partial<Admission>,
  namesLock?: NamesLock,
): Promise<Process> {
  const registry = createRegistry()
  registry.put(DEFINITIONS)
  const context = createApiContext({ store, admission })
  const parts = { webhooks: createWebhooks(), namesLock }
  const definitions = await startDefinitions(context, registry, DEFINITIONS, parts, quietEnv())
  definitions.startCleanup()
  const current = verbsByCurrentDefinition(createVerbs(context), definitions, registry)
  const one = { registry, context, definitions, verbs: waitingVerbs(current, definitions) }
  started.push(one)
  return one
}

/** To be called after each test. */
export async function stopProcesses(): Promise<void> {
  for (const { definitions, context } of started.splice(0)) {
    definitions.stop()
    await context.close()
  }
}

export const definitionAt = (name: string): Target => ({
  kind: DEFINITIONS,
  version: DEFINITIONS.versions[0]!,
  namespace: '',
  name,
  subresource: '',
})

export const body = (value: Value) => ({ bytes: Buffer.from(JSON.stringify(value)), mediaType: 'application/json' })
export const NO_BODY = { bytes: Buffer.alloc(0), mediaType: '' }
