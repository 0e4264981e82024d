// A YAML text as the server will read it: its value, and where each part of the value stands.
import { decodeYaml, encodeYaml, locateYaml, type YamlNode } from '../../../src/codec/yaml.js'
import { isObject, type Value, type ValueObject } from '../../../src/meta/values/value.js'

export type { Value, ValueObject, YamlNode }
export { encodeYaml }

/** A name of a member, or an index of an item. */
export type PathPart = string | number
export type Path = readonly PathPart[]

export interface YamlDocument {
  readonly text: string
  readonly value: Value | undefined
  readonly positions: YamlNode | undefined
  /** Why it cannot be read. Lines are counted from 0. */
  readonly error?: { readonly line: number; readonly message: string }
  /** Fields that are written more than once. */
  readonly duplicates: readonly string[]
}

export function readYaml(text: string): YamlDocument {
  const bytes = new TextEncoder().encode(text)
  try {
    const { value, duplicates } = decodeYaml(bytes)
    return { text, value, positions: locateYaml(bytes), duplicates: duplicates.map(String) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const line = Number(/line (\d+)/.exec(message)?.[1] ?? 1) - 1
    return { text, value: undefined, positions: undefined, error: { line, message }, duplicates: [] }
  }
}

/** The line of a path, from 0: where its key stands. Of a path that is not there, the nearest part that is. */
export function lineOf(document: YamlDocument, path: Path): number {
  let node = document.positions
  let line = node?.line ?? 0
  for (const part of path) {
    node = typeof part === 'number' ? node?.items?.[part] : node?.members?.get(part)
    if (node === undefined) return line
    line = node.key?.line ?? node.line
  }
  return line
}

export function nodeAt(document: YamlDocument, path: Path): YamlNode | undefined {
  let node = document.positions
  for (const part of path) node = typeof part === 'number' ? node?.items?.[part] : node?.members?.get(part)
  return node
}

/** The last line of a value. */
export function lastLineOf(node: YamlNode): number {
  let line = node.line
  for (const child of [...(node.members?.values() ?? []), ...(node.items ?? [])])
    line = Math.max(line, lastLineOf(child))
  return line
}

export function valueAt(value: Value | undefined, path: Path): Value | undefined {
  let found = value
  for (const part of path) {
    if (typeof part === 'number') found = Array.isArray(found) ? found[part] : undefined
    else found = isObject(found) && Object.hasOwn(found, part) ? found[part] : undefined
    if (found === undefined) return undefined
  }
  return found
}

/** A copy with the value at the path set, or removed if it is undefined. Parents that are missing are made. */
export function withValue(root: Value | undefined, path: Path, value: Value | undefined): Value {
  const [part, ...rest] = path
  if (part === undefined) return value ?? null
  if (typeof part === 'number') {
    const list = Array.isArray(root) ? [...root] : []
    if (rest.length === 0 && value === undefined) list.splice(part, 1)
    else list[part] = withValue(list[part], rest, value)
    return list
  }
  const members = new Map(Object.entries(isObject(root) ? root : {}))
  if (rest.length === 0 && value === undefined) members.delete(part)
  else members.set(part, withValue(members.get(part), rest, value))
  return Object.fromEntries(members)
}

/** The object's YAML without its managedFields, which the editor shows as margins. A write without them keeps them. */
export function withoutManagedFields(text: string): string {
  const { value } = readYaml(text)
  return isObject(value) ? encodeYaml(withValue(value, ['metadata', 'managedFields'], undefined)) : text
}

export const printPath = (path: Path): string =>
  path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('')
