// Reads the discovery documents of other servers. Members that are not known here are dropped, since what is listed is
// encoded again in several formats.
import { objectAt, objectOrNone, objectsAt, stringAt, stringsAt } from '../meta/values/access.js'
import type { Value, ValueObject } from '../meta/values/value.js'

/** The resources of an APIGroupDiscoveryList by group and version: `example.com/v1`. */
export function resourcesByVersion(document: ValueObject): Map<string, ValueObject[]> {
  const versions = new Map<string, ValueObject[]>()
  for (const group of objectsAt(document, 'items')) {
    const name = stringAt(objectAt(group, 'metadata'), 'name')
    for (const version of objectsAt(group, 'versions')) {
      versions.set(`${name}/${stringAt(version, 'version')}`, objectsAt(version, 'resources').map(readResource))
    }
  }
  return versions
}

const readResource = (resource: ValueObject): ValueObject => ({
  resource: stringAt(resource, 'resource'),
  responseKind: kindOf(objectOrNone(resource, 'responseKind')),
  scope: stringAt(resource, 'scope'),
  singularResource: stringAt(resource, 'singularResource'),
  verbs: stringsAt(resource, 'verbs') as Value,
  ...listOf(resource, 'shortNames'),
  ...listOf(resource, 'categories'),
  ...subresourcesOf(objectsAt(resource, 'subresources').map(readSubresource)),
})

const readSubresource = (part: ValueObject): ValueObject => {
  const accepted = objectsAt(part, 'acceptedTypes')
  return {
    subresource: stringAt(part, 'subresource'),
    responseKind: kindOf(objectOrNone(part, 'responseKind')),
    ...(accepted.length > 0 && { acceptedTypes: accepted.map(kindOf) }),
    verbs: stringsAt(part, 'verbs') as Value,
  }
}

/** The resources of an APIResourceList. */
export function discoveryOfList(list: ValueObject): ValueObject[] {
  const parents = new Map<string, { readonly head: ValueObject; readonly parts: ValueObject[] }>()
  const all = objectsAt(list, 'resources')
  for (const each of all) {
    const name = stringAt(each, 'name')
    if (!name.includes('/')) parents.set(name, { head: headOf(name, each), parts: [] })
  }
  for (const each of all) {
    const [name, part] = splitOnce(stringAt(each, 'name'))
    if (part === undefined) continue
    let parent = parents.get(name)
    // A subresource may be served without its resource.
    if (!parent) parents.set(name, (parent = { head: headOf(name, { namespaced: each['namespaced']! }), parts: [] }))
    parent.parts.push({ subresource: part, responseKind: kindOf(each), verbs: stringsAt(each, 'verbs') as Value })
  }
  return [...parents.values()].map(({ head, parts }) => Object.assign(head, subresourcesOf(parts)))
}

const headOf = (name: string, resource: ValueObject): ValueObject => ({
  resource: name,
  responseKind: kindOf(resource),
  scope: resource['namespaced'] === true ? 'Namespaced' : 'Cluster',
  singularResource: stringAt(resource, 'singularName'),
  verbs: stringsAt(resource, 'verbs') as Value,
  ...listOf(resource, 'shortNames'),
  ...listOf(resource, 'categories'),
})

const kindOf = (kind: ValueObject = {}): ValueObject => ({
  group: stringAt(kind, 'group'),
  version: stringAt(kind, 'version'),
  kind: stringAt(kind, 'kind'),
})

const listOf = (resource: ValueObject, member: string): ValueObject => {
  const list = stringsAt(resource, member)
  return list.length > 0 ? { [member]: list as Value } : {}
}

const subresourcesOf = (parts: readonly ValueObject[]): ValueObject =>
  parts.length > 0 ? { subresources: parts as Value } : {}

function splitOnce(text: string): [string, string?] {
  const at = text.indexOf('/')
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}
