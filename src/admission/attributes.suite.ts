// Attributes for tests of plugins.
import { printFieldErrors } from '../meta/errors/field-errors.js'
import { parseGroupResource } from '../meta/group-version.js'
import { type ApiObject } from '../meta/object/api-object.js'
import { systemRequest, withOptions } from '../request/request.js'
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
  readonly dryRun?: boolean
}

/** `resource` as plugins declare it: `pods/resize`, `deployments.apps`. */
export function attributesFor(resource: string, tested: TestRequest): Attributes {
  const [name = '', subresource = ''] = resource.split('/')
  const { object, oldObject, operation = oldObject ? 'UPDATE' : 'CREATE', user = ALICE, dryRun = false } = tested
  const request = systemRequest({ user, userAgent: 'test' })
  const { apiVersion = '', kind = '' } = object ?? oldObject ?? {}
  const [version = '', group = ''] = apiVersion.split('/').toReversed()
  return createAttributes({
    request: withOptions(request, { dryRun, fieldManager: '', fieldValidation: '' }),
    operation,
    target: {
      resource: parseGroupResource(name),
      version,
      subresource,
      namespace: tested.namespace ?? 'x',
      name: tested.name ?? '',
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
    const seen = object ? attributes.withObject(object) : attributes
    const errors = (await plugin.check?.(seen)) ?? []
    if (errors.length > 0) return printFieldErrors(errors)
    await plugin.validate?.(seen)
    return ''
  } catch (error) {
    return (error as Error).message
  }
}
