// The type of a check of the Pod Security Standards, and the parts of the messages that checks share.

import { quote } from '../../../meta/go/go-text.js'
import { has, objectAt, objectsAt, stringAt } from '../../../meta/values/access.js'
import type { ValueObject } from '../../../meta/values/value.js'

/** A pod, or a pod template. */
export interface PodLike {
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: ValueObject
}

export interface Violation {
  /** Short, and the same for all pods. */
  readonly reason: string
  readonly detail: string
}

export interface Check {
  readonly id: string
  /** The check by the minor version of the standards that introduced it, the oldest first. */
  readonly since: readonly (readonly [minor: number, check: (pod: PodLike) => Violation | undefined])[]
  /** The baseline checks that this restricted check includes. */
  readonly covers?: readonly string[]
}

export const containersOf = ({ spec }: PodLike): ValueObject[] =>
  ['initContainers', 'containers', 'ephemeralContainers'].flatMap(field => objectsAt(spec, field))

export const securityOf = (holder: ValueObject): ValueObject => objectAt(holder, 'securityContext')

export const isWindows = ({ spec }: PodLike): boolean => stringAt(objectAt(spec, 'os'), 'name') === 'windows'

/** It runs in a user namespace, where root is not root of the node. */
export const hasOwnUsers = ({ spec }: PodLike): boolean => spec['hostUsers'] === false

export const plural = (one: string, more: string, count: number): string => (count === 1 ? one : more)

export const quoted = (texts: Iterable<string>): string => [...texts].map(quote).join(', ')

/** Sorted, without duplicates. */
export const sorted = (texts: Iterable<string>): string[] => [...new Set(texts)].toSorted()

/** `container "a"`, `containers "a", "b"`. */
export const named = (containers: readonly ValueObject[]): string =>
  `${plural('container', 'containers', containers.length)} ${quoted(containers.map(each => stringAt(each, 'name')))}`

/** The pod and the containers whose security context is not allowed: `pod and container "a"`; undefined if there are none. */
export function settersOf(pod: PodLike, isBad: (security: ValueObject) => boolean): Setters | undefined {
  const isPodBad = isBad(securityOf(pod.spec))
  const containers = containersOf(pod).filter(container => isBad(securityOf(container)))
  const who = [...(isPodBad ? ['pod'] : []), ...(containers.length > 0 ? [named(containers)] : [])]
  if (who.length === 0) return undefined
  return { who, contexts: [...(isPodBad ? [pod.spec] : []), ...containers].map(securityOf) }
}

export interface Setters {
  readonly who: readonly string[]
  readonly contexts: readonly ValueObject[]
}

/** The type of a profile; undefined if no profile is set. */
export const profileOf = (security: ValueObject, field: string): string | undefined =>
  has(security, field) ? stringAt(objectAt(security, field), 'type') : undefined
