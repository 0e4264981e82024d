// Admission policies and their bindings, kept in memory, because every write reads them.

import type { PolicyObjects } from '../admission/plugins.js'
import type { Registry } from '../kinds/registry.js'
import type { ApiObject } from '../meta/object/api-object.js'
import { type KindInformer, startKindInformer } from '../objects/informer.js'
import type { ObjectStores } from '../objects/object-stores.js'

export interface StartedPolicies {
  readonly validating: PolicyObjects
  readonly mutating: PolicyObjects
  stop(): void
}

const GROUP = 'admissionregistration.k8s.io'

export async function startPolicyObjects(objects: ObjectStores, registry: Registry): Promise<StartedPolicies> {
  const informers: KindInformer<ApiObject>[] = []

  async function start(type: string): Promise<PolicyObjects> {
    let generation = 0
    const keep = async (name: string): Promise<() => Iterable<ApiObject>> => {
      const kind = registry.findKind(GROUP, name)
      if (!kind) return () => []
      const informer = await startKindInformer(
        objects,
        kind,
        object => object,
        () => void generation++,
      )
      informers.push(informer)
      return () => informer.all('')
    }
    const [policies, bindings] = await Promise.all([keep(type), keep(`${type}Binding`)])
    return {
      get generation() {
        return generation
      },
      policies,
      bindings,
    }
  }

  const stop = (): void => {
    for (const informer of informers) informer.stop()
  }
  try {
    const [validating, mutating] = await Promise.all([
      start('ValidatingAdmissionPolicy'),
      start('MutatingAdmissionPolicy'),
    ])
    return { validating, mutating, stop }
  } catch (error) {
    stop()
    throw error
  }
}
