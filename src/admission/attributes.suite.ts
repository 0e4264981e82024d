// Attributes for tests of plugins.
import { parseGroupResource } from '../meta/group-version.js'
import { type ApiObject } from '../meta/object/api-object.js'
import type { UserInfo } from '../request/user-info.js'
import { type Attributes, createAttributes, type Operation } from './attributes.js'
import type { AdmissionPlugin } from './chain.js'

export const ALICE: UserInfo = { name: 'alice', uid: '', groups: ['devs'], extra: {} }

export interface TestRequest {
  readonly operation?: Operation
  readonly object?: ApiObject | undefined
  readonly oldObject?: ApiObject | undefined
  readonly namespace?: string
  /** The name in the path. */
  readonly name?: string
  readonly user?: UserInfo
  readonly warnings?: string[]
}

/** `resource` as plugins declare it: `pods/resize`, `deployments.apps`. */
export function attributesFor(resource: string, request: TestRequest): Attributes {
  const [name = '', subresource = ''] = resource.split('/')
  const { object, oldObject, operation = oldObject ? 'UPDATE' : 'CREATE', user = ALICE, warnings = [] } = request
  const { apiVersion = '', kind = '' } = object ?? oldObject ?? {}
  const [version = '', group = ''] = apiVersion.split('/').toReversed()
  return createAttributes({
    request: {
      user,
      options: { dryRun: false, fieldManager: '', fieldValidation: '' },
      warn: text => void warnings.push(text),
    },
    operation,
    target: {
      resource: parseGroupResource(name),
      subresource,
      namespace: request.namespace ?? 'x',
      name: request.name ?? '',
    },
    kind: { group, version, kind },
    object,
    oldObject,
  })
}

/** The object as the plugin leaves it. */
export const mutated = async (plugin: AdmissionPlugin, attributes: Attributes): Promise<ApiObject | undefined> =>
  (await plugin.mutate!(attributes)) ?? attributes.object

/** Why the plugin refuses; empty if it does not. */
export async function refusalOf(plugin: AdmissionPlugin, attributes: Attributes): Promise<string> {
  try {
    const object = (await plugin.mutate?.(attributes)) ?? undefined
    await plugin.validate?.(object ? attributes.withObject(object) : attributes)
    return ''
  } catch (error) {
    return (error as Error).message
  }
}
