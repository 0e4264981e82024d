// How controllers read and change objects: through the verbs, like everybody else, in the name of the system.
import type { ApiObject, Kind } from '../kinds/kind.js'
import { resourceOf } from '../kinds/kind-names.js'
import { hasReason, notFound } from '../meta/status.js'
import type { DeleteOptions } from '../meta/write-options.js'
import { remove } from '../resources/delete.js'
import { getObject } from '../resources/get.js'
import type { Caller, ResourceContext, Target } from '../resources/resource-context.js'
import { replace } from '../resources/update.js'

export interface SystemObjects {
  get(kind: Kind, namespace: string, name: string): Promise<ApiObject | undefined>
  /** Changes the object if it is there; `change` answers nothing when there is nothing to change. */
  change(
    kind: Kind,
    namespace: string,
    name: string,
    change: (old: ApiObject) => ApiObject | undefined,
    subresource?: 'status' | 'finalize',
  ): Promise<void>
  /** Deletes the object if it is there. */
  delete(kind: Kind, namespace: string, name: string, options?: Partial<DeleteOptions>): Promise<void>
}

export function systemObjects(context: ResourceContext, controller: string): SystemObjects {
  const caller: Caller = {
    name: `system:serviceaccount:kube-system:${controller}`,
    uid: '',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
    extra: {},
    userAgent: controller,
  }
  return {
    async get(kind, namespace, name) {
      return unlessGone(async () =>
        (await getObject(context, targetOf(kind, namespace, name), { resourceVersion: '' })).object.value(),
      )
    },
    async change(kind, namespace, name, change, subresource) {
      const target = targetOf(kind, namespace, name, subresource)
      const options = { dryRun: false, fieldManager: controller, fieldValidation: 'Ignore' } as const
      await unlessGone(() =>
        replace(context, target, options, caller, async old => {
          if (!old) throw notFound(resourceOf(kind), name)
          const object = change(old)
          return object && { object, warnings: [], isWhatClientSaw: false }
        }),
      )
    },
    async delete(kind, namespace, name, options = {}) {
      const all = { dryRun: false, ignoreStoreReadError: false, ...options }
      await unlessGone(() => remove(context, targetOf(kind, namespace, name), all, caller, []))
    },
  }
}

/** The object in the version in which it is stored. */
const targetOf = (kind: Kind, namespace: string, name: string, subresource: Target['subresource'] = ''): Target => ({
  kind,
  version: kind.versions.find(version => version.name === kind.storageVersion)!,
  namespace,
  name,
  subresource,
})

async function unlessGone<T>(action: () => Promise<T>): Promise<T | undefined> {
  try {
    return await action()
  } catch (error) {
    // Gone, or gone and made anew under the same name: not the object that was meant.
    if (hasReason(error, 'NotFound') || hasReason(error, 'Conflict')) return undefined
    throw error
  }
}
