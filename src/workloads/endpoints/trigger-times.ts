// When a Service or one of its pods changed for which EndpointSlices and Endpoints are written: an annotation has the time, by
// which it is measured how long such a change takes to arrive. kube-controller-manager keeps these times in memory, too.
import type { Value } from '../../meta/values/value.js'
import { equalValues } from '../../meta/values/value.js'
import type { Pod, Service, WorkloadObject } from '../api/objects.js'
import { copyOf } from '../common/writes.js'

const TRIGGER_TIME = 'endpoints.kubernetes.io/last-change-trigger-time'

export interface TriggerTimes {
  /** The earliest time of the changes since the last call, if there are any. */
  take(service: Service, pods: Iterable<Pod>): string | undefined
  forget(namespace: string, name: string): void
}

/** In place of the name of a pod. */
const OF_SERVICE = ''

export function createTriggerTimes(): TriggerTimes {
  /** By Service, and there by pod. */
  const known = new Map<string, ReadonlyMap<string, string>>()
  return {
    take(service, pods) {
      const { namespace = '', name, creationTimestamp } = service.metadata
      const key = `${namespace}/${name}`
      const before = known.get(key)
      const times = new Map<string, string>()
      if (creationTimestamp !== undefined) times.set(OF_SERVICE, creationTimestamp)
      for (const pod of pods) {
        const time = readyTime(pod)
        if (time !== undefined) times.set(pod.metadata.name, time)
      }
      known.set(key, times)
      if (!before) return creationTimestamp
      // Times of the API are texts of one form, which are in the order of the times.
      const changed = [...times].filter(([of, time]) => time > (before.get(of) ?? ''))
      return changed.map(([, time]) => time).toSorted()[0]
    },
    forget: (namespace, name) => void known.delete(`${namespace}/${name}`),
  }
}

const readyTime = ({ status }: Pod): string | undefined =>
  status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime

/** The object as it is to be written with the time; undefined if nothing else changes, since the time alone is not written. */
export function withTriggerTime<T extends WorkloadObject>(old: T, next: T, time: string | undefined): T | undefined {
  if (equalValues(copyOf(next), old as unknown as Value)) return undefined
  return { ...next, metadata: { ...next.metadata, annotations: triggerAnnotations(time, next.metadata.annotations) } }
}

export function triggerAnnotations(
  time: string | undefined,
  others: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> | undefined {
  const { [TRIGGER_TIME]: _, ...kept } = others
  const annotations = time === undefined ? kept : { ...kept, [TRIGGER_TIME]: time }
  return Object.keys(annotations).length === 0 ? undefined : annotations
}
