// How the controllers of workloads write: through the verbs, as their users, and into the shared objects at once.
import { hasReason } from '../../meta/errors/status.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import type { DeleteOptions } from '../../meta/options/write-options.js'
import { equalValues, setOwn, type Value, type ValueObject } from '../../meta/values/value.js'
import type { SystemObjects } from '../../verbs/system-writes.js'
import type { WorkloadObject } from '../api/objects.js'
import type { SharedObjects } from './shared-objects.js'

export interface Writes {
  /** Rejects with the Status of the refusal. */
  create<T extends WorkloadObject>(objects: SharedObjects<T>, object: NewObject): Promise<T>
  /**
   * Changes the object if it is still the one with this uid; `change` returns undefined to leave it. Returns the object
   * as it is then, undefined if it is gone.
   */
  update<T extends WorkloadObject>(
    objects: SharedObjects<T>,
    object: T,
    change: (old: T) => T | undefined,
    subresource?: string,
  ): Promise<T | undefined>
  /** Replaces the status, unless it is the same. */
  setStatus<T extends WorkloadObject>(objects: SharedObjects<T>, object: T, status: object): Promise<T | undefined>
  delete<T extends WorkloadObject>(
    objects: SharedObjects<T>,
    object: T,
    options?: Partial<DeleteOptions>,
  ): Promise<void>
}

export interface NewObject {
  readonly metadata: object
  readonly [member: string]: unknown
}

export function createWrites(system: SystemObjects): Writes {
  const writes: Writes = {
    async create(objects, object) {
      // The pipeline may change what it is given, and templates are shared.
      const fresh = copyOf(object) as ValueObject & { metadata: ValueObject }
      const made = await system.createNew(objects.kind, fresh)
      objects.put(made)
      return made as never
    },
    async update(objects, object, change, subresource) {
      const { namespace = '', name, uid } = object.metadata
      const written = await system.update(
        objects.kind,
        namespace,
        name,
        old => {
          const before = old as unknown as typeof object
          if (before.metadata.uid !== uid) return undefined
          const changed = change(before)
          if (changed === undefined) return undefined
          const next = copyOf(changed) as ApiObject
          return equalValues(next, old) ? undefined : next
        },
        subresource,
      )
      if (!written) {
        objects.remove({ namespace, name })
        return undefined
      }
      objects.put(written)
      return (written as unknown as typeof object).metadata.uid === uid ? (written as never) : undefined
    },
    setStatus: (objects, object, status) => writes.update(objects, object, old => ({ ...old, status }), 'status'),
    async delete(objects, object, options = {}) {
      const { namespace = '', name, uid } = object.metadata
      try {
        const left = await system.delete(objects.kind, namespace, name, {
          propagationPolicy: 'Background',
          ...options,
          preconditions: { uid, ...options.preconditions },
        })
        if (left) objects.put(left)
        else objects.remove({ namespace, name })
      } catch (error) {
        if (!hasReason(error, 'NotFound') && !hasReason(error, 'Conflict')) throw error
      }
    },
  }
  return writes
}

/** A deep copy without the members that are undefined, since objects of the API have none. */
export function copyOf(value: unknown): Value {
  if (Array.isArray(value)) return value.map(copyOf)
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) {
    return value as Value
  }
  const kept: ValueObject = {}
  for (const [name, member] of Object.entries(value)) if (member !== undefined) setOwn(kept, name, copyOf(member))
  return kept
}
