// Keeps the priority levels and flow schemas that every cluster has, once a minute: missing ones are created, and their
// specs are brought back. Suggested ones keep what a user changed if their annotation says so. Objects of earlier versions
// with the annotation are deleted.
import { isDeepStrictEqual } from 'node:util'
import { flowControlObjects, isMandatoryFlowObject } from '../../builtin/flow-control.js'
import type { Kind } from '../../kinds/kind.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf, withMeta } from '../../meta/object/object-meta.js'
import { objectAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { startKindInformer } from '../../objects/informer.js'
import type { ApiContext } from '../../verbs/api-context.js'
import type { Controller, ControllerEnv } from '../common/controller.js'
import { startIntervalController } from '../common/interval-controller.js'
import { flowConfigProducer } from './dangling.js'
import type { FlowKinds } from './flow-schema-status.js'

const INTERVAL_MS = 60_000
const ANNOTATION = 'apf.kubernetes.io/autoupdate-spec'

export async function startFlowBootstrap(
  context: ApiContext,
  kinds: FlowKinds,
  env: ControllerEnv,
): Promise<Controller> {
  const objects = flowConfigProducer(context)
  const wanted = flowControlObjects()
  const [schemas, levels] = await Promise.all([
    startKindInformer(context, kinds.schemas, object => object, undefined, env.log),
    startKindInformer(context, kinds.levels, object => object, undefined, env.log),
  ])
  const known = { [kinds.schemas.names.kind]: schemas, [kinds.levels.names.kind]: levels }
  const kindOf = (object: ApiObject): Kind => (object.kind === kinds.schemas.names.kind ? kinds.schemas : kinds.levels)

  async function ensureAll(): Promise<void> {
    for (const object of wanted) await ensure(object)
    for (const kind of [kinds.levels, kinds.schemas]) await removeUnwanted(kind)
  }

  async function ensure(expected: ApiObject): Promise<void> {
    const kind = kindOf(expected)
    const { name = '' } = metaOf(expected)
    const current = known[kind.names.kind]!.get('', name)
    if (!current) return objects.create(kind, structuredClone(expected))
    if (revised(current, expected)) await objects.change(kind, '', name, old => revised(old, expected))
  }

  async function removeUnwanted(kind: Kind): Promise<void> {
    const names = new Set(wanted.filter(object => kindOf(object) === kind).map(object => metaOf(object).name))
    for (const object of known[kind.names.kind]!.all('')) {
      const { name = '', annotations } = metaOf(object)
      if (!names.has(name) && parseBool(annotations?.[ANNOTATION]) === true) await objects.delete(kind, '', name)
    }
  }

  const controller = startIntervalController('flow_bootstrap', env, INTERVAL_MS, ensureAll)
  return {
    idle: () => controller.idle(),
    stop() {
      controller.stop()
      schemas.stop()
      levels.stop()
    },
  }
}

/** The object as it is to be; undefined if it is so already. */
export function revised(current: ApiObject, expected: ApiObject): ApiObject | undefined {
  const meta = metaOf(current)
  const given = parseBool(meta.annotations?.[ANNOTATION])
  const updates = isMandatoryFlowObject(expected) || (given ?? meta.generation === 1)
  const isSpecChanged = updates && !isDeepStrictEqual(specOf(current), expectedSpec(current, expected))
  if (!isSpecChanged && given === updates) return undefined
  const annotations = { ...meta.annotations, [ANNOTATION]: String(updates) }
  const spec = isSpecChanged ? expectedSpec(current, expected) : specOf(current)
  return { ...(withMeta(current, { ...meta, annotations }) as ApiObject), spec }
}

/** The shares of the exempt level are the user's. */
function expectedSpec(current: ApiObject, expected: ApiObject): ValueObject {
  const spec = structuredClone(objectAt(expected, 'spec'))
  const exempt = objectAt(specOf(current), 'exempt')
  return 'exempt' in spec && Object.keys(exempt).length > 0 ? { ...spec, exempt } : spec
}

const specOf = (object: ApiObject): ValueObject => objectAt(object, 'spec')

/** As Go's strconv.ParseBool; undefined if it is none. */
function parseBool(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined
  if (/^(1|t|T|true|TRUE|True)$/.test(text)) return true
  return /^(0|f|F|false|FALSE|False)$/.test(text) ? false : undefined
}
