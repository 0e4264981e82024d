// Admission policies and their bindings, kept in memory, because every write reads them.

import type { PolicyObjects } from '../admission/plugins.js'
import type { Registry } from '../kinds/registry.js'
import type { ApiObject } from '../meta/object/api-object.js'
import { type KindInformer, startKindInformer } from '../objects/informer.js'
import type { ObjectStores } from '../objects/object-stores.js'

export interface StartedPolicies {
  readonly validating: PolicyObjects
  readonly mutating: PolicyObjects
  /** False while there are policies or bindings that cannot be read. */
  readonly isComplete: boolean
  stop(): void
}

const GROUP = 'admissionregistration.k8s.io'

export async function startPolicyObjects(objects: ObjectStores, registry: Registry): Promise<StartedPolicies> {
  const informers: KindInformer<ApiObject>[] = []

  async function start(type: string): Promise<PolicyObjects> {
    let generation = 0
    const keep = async (name: string): Promise<Pick<KindInformer<ApiObject>, 'all' | 'isComplete'>> => {
      const kind = registry.findKind(GROUP, name)
      if (!kind) return { all: () => [], isComplete: true }
      const informer = await startKindInformer(
        objects,
        kind,
        object => object,
        () => void generation++,
      )
      informers.push(informer)
      return informer
    }
    const [policies, bindings] = await Promise.all([keep(type), keep(`${type}Binding`)])
    return {
      get generation() {
        return generation
      },
      get isComplete() {
        return policies.isComplete && bindings.isComplete
      },
      policies: () => policies.all(''),
      bindings: () => bindings.all(''),
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
    return {
      validating,
      mutating,
      get isComplete() {
        return validating.isComplete && mutating.isComplete
      },
      stop,
    }
  } catch (error) {
    stop()
    throw error
  }
}
