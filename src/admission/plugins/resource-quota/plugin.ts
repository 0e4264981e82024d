// ResourceQuota: a request must fit into all quotas of its namespace, and what it uses is added to their status before it
// is stored. A controller makes the first measurement and releases usage (controllers/quota).

import { conflict } from '../../../meta/errors/status.js'
import { type ApiObject } from '../../../meta/object/api-object.js'
import { metaOf } from '../../../meta/object/object-meta.js'
import { objectAt } from '../../../meta/values/access.js'
import { printQuantity } from '../../../meta/values/quantity.js'
import type { Lister } from '../../../objects/lister.js'
import type { Attributes } from '../../attributes.js'
import type { AdmissionPlugin } from '../../chain.js'
import type { Amounts } from '../pod-resources.js'
import { checkQuotas } from './check.js'
import { evaluatorFor, loadEvaluator } from './evaluators.js'
import type { LimitedResource } from './limited-resources.js'

const QUOTA = { group: '', kind: 'ResourceQuota' }
const MAX_ATTEMPTS = 4

/** Writes the status of a quota; `change` gets the stored quota, and returns undefined to write nothing. */
export type ChangeQuotaStatus = (
  namespace: string,
  name: string,
  change: (quota: ApiObject) => ApiObject | undefined,
) => Promise<void>

export interface ResourceQuotaEnv {
  readonly objects: Lister
  readonly changeQuotaStatus: ChangeQuotaStatus
  readonly hasQuotas: (namespace: string) => boolean
  readonly now: () => number
}

export function resourceQuota(
  { objects, changeQuotaStatus, hasQuotas, now }: ResourceQuotaEnv,
  limited: readonly LimitedResource[],
): AdmissionPlugin {
  /** The last check of each namespace: checks of one namespace run one after the other, so that none misses usage. */
  const checks = new Map<string, Promise<void>>()

  async function check(attributes: Attributes): Promise<void> {
    const { namespace, resource, request } = attributes
    const evaluator = await loadEvaluator(resource, namespace, objects)
    for (let attempt = 1; ; attempt++) {
      const quotas = await objects.all(QUOTA, namespace)
      if (quotas.length === 0 && limited.length === 0) return
      const updates = checkQuotas(quotas, attributes, evaluator, limited, now())
      if (updates.size === 0 || request.dryRun) return
      if (await writeAll(namespace, quotas, updates)) return
      if (attempt === MAX_ATTEMPTS) {
        const why = 'the object has been modified; please apply your changes to the latest version and try again'
        throw conflict({ group: '', resource: 'resourcequotas' }, [...updates.keys()].join(','), why)
      }
    }
  }

  /** Returns false if another process has changed a quota since it was read. */
  async function writeAll(
    namespace: string,
    quotas: readonly ApiObject[],
    updates: ReadonlyMap<string, Amounts>,
  ): Promise<boolean> {
    let isCurrent = true
    for (const quota of quotas) {
      const { name = '', resourceVersion } = metaOf(quota)
      const used = updates.get(name)
      if (!used) continue
      await changeQuotaStatus(namespace, name, stored => {
        isCurrent = isCurrent && metaOf(stored).resourceVersion === resourceVersion
        return isCurrent ? withUsed(stored, used) : undefined
      })
    }
    return isCurrent
  }

  return {
    name: 'ResourceQuota',
    operations: new Set(['CREATE', 'UPDATE']),
    validate(attributes) {
      const { namespace, object, storedKind } = attributes
      // Objects that are not stored, and namespaces, use nothing.
      if (namespace === '' || !object || !storedKind?.namespaced) return undefined
      if (limited.length === 0 && !hasQuotas(namespace)) return undefined
      const isOfResource = attributes.kind.kind === storedKind.names.kind
      if (!isOfResource || !evaluatorFor(attributes.resource).handles(attributes)) return undefined
      const before = checks.get(namespace)
      const current = before ? before.then(() => check(attributes)) : check(attributes)
      const ended = current
        .catch(() => {})
        .then(() => {
          if (checks.get(namespace) === ended) checks.delete(namespace)
        })
      checks.set(namespace, ended)
      return current
    },
  }
}

const withUsed = (quota: ApiObject, used: Amounts): ApiObject => ({
  ...quota,
  status: {
    ...objectAt(quota, 'status'),
    used: Object.fromEntries([...used].map(([name, amount]) => [name, printQuantity(amount)])),
  },
})
