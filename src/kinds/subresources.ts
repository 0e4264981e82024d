// The subresources of an object that are read and written like the object itself.
import type { KindVersion, SubresourceStrategy } from './kind.js'

/** The verbs of a subresource, in discovery's order. */
export const SUBRESOURCE_VERBS: readonly string[] = ['get', 'patch', 'update']

/** The strategy of a subresource; undefined if there is none with that name. */
export function subresourceStrategy({ subresources }: KindVersion, name: string): SubresourceStrategy | undefined {
  if (name === 'status') return subresources.status
  // The name comes from the URL, so it may be the name of a built-in property.
  return subresources.parts && Object.hasOwn(subresources.parts, name) ? subresources.parts[name] : undefined
}

/** The verbs of a subresource or of scale; none if there is no such subresource. */
export function verbsOfSubresource(version: KindVersion, name: string): readonly string[] {
  if (name === 'scale') return version.subresources.scale ? SUBRESOURCE_VERBS : []
  const rules = subresourceStrategy(version, name)
  return rules ? (rules.verbs ?? SUBRESOURCE_VERBS) : []
}
