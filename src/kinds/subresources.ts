// The parts of an object that have paths of their own, below that of the object.
import type { KindVersion, SubresourceStrategy } from './kind.js'

/** What can be done to a part of an object, in discovery's order. */
export const SUBRESOURCE_VERBS: readonly string[] = ['get', 'patch', 'update']

/** The rules for a part that is written as the object itself is; undefined if there is no such part. */
export function subresourceStrategy({ subresources }: KindVersion, name: string): SubresourceStrategy | undefined {
  if (name === 'status') return subresources.status
  // The name may be anything that a client thinks of.
  return subresources.parts && Object.hasOwn(subresources.parts, name) ? subresources.parts[name] : undefined
}

/** The verbs of a part or of the scale; none if there is no such part. */
export function verbsOfSubresource(version: KindVersion, name: string): readonly string[] {
  if (name === 'scale') return version.subresources.scale ? SUBRESOURCE_VERBS : []
  const rules = subresourceStrategy(version, name)
  return rules ? (rules.verbs ?? SUBRESOURCE_VERBS) : []
}
