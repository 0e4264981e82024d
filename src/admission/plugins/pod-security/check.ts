// What a check of the Pod Security Standards is, and the words in which all of them tell what is wrong.

import { quote } from '../../../meta/go/go-text.js'
import { has, objectAt, objectsAt, stringAt } from '../../../meta/values/access.js'
import type { ValueObject } from '../../../meta/values/value.js'

/** A pod, or what pods are made after. */
export interface PodLike {
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: ValueObject
}

export interface Violation {
  /** Few words, the same for all pods. */
  readonly reason: string
  readonly detail: string
}

export interface Check {
  readonly id: string
  /** The forms it has had, each from a minor version of the standards on, the oldest first. */
  readonly since: readonly (readonly [minor: number, check: (pod: PodLike) => Violation | undefined])[]
  /** The checks of the level below that need not be asked where this one is. */
  readonly covers?: readonly string[]
}

export const containersOf = ({ spec }: PodLike): ValueObject[] =>
  ['initContainers', 'containers', 'ephemeralContainers'].flatMap(field => objectsAt(spec, field))

export const securityOf = (holder: ValueObject): ValueObject => objectAt(holder, 'securityContext')

export const isWindows = ({ spec }: PodLike): boolean => stringAt(objectAt(spec, 'os'), 'name') === 'windows'

/** Its users are not those of the node, so that being root means little. */
export const hasOwnUsers = ({ spec }: PodLike): boolean => spec['hostUsers'] === false

export const plural = (one: string, more: string, count: number): string => (count === 1 ? one : more)

export const quoted = (texts: Iterable<string>): string => [...texts].map(quote).join(', ')

/** In their order, each once. */
export const sorted = (texts: Iterable<string>): string[] => [...new Set(texts)].toSorted()

/** `container "a"`, `containers "a", "b"`. */
export const named = (containers: readonly ValueObject[]): string =>
  `${plural('container', 'containers', containers.length)} ${quoted(containers.map(each => stringAt(each, 'name')))}`

/** Who sets something in its security context that is not allowed: `pod and container "a"`; nothing if nobody does. */
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

/** The type of a profile that is set at all. */
export const profileOf = (security: ValueObject, field: string): string | undefined =>
  has(security, field) ? stringAt(objectAt(security, field), 'type') : undefined
