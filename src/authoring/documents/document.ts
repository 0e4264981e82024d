// One object of the input: its bytes, its value, and where each of its fields stands in the file.
import { locateYaml, type YamlNode } from '../../codec/yaml.js'
import { getOwn, isObject, type Value, type ValueObject } from '../../meta/values/value.js'

export interface Document {
  /** As it is shown: a path, or `<stdin>`. */
  readonly file: string
  /** The user has named the file; it was not only found in a folder. */
  readonly isNamed: boolean
  /** The line of the file on which its bytes begin, counted from 0. */
  readonly firstLine: number
  readonly bytes: Buffer
  readonly mediaType: 'application/json' | 'application/yaml'
  readonly value: ValueObject
  /** The template that Helm has made it from. */
  readonly template?: string | undefined
  /** Where an item of a List stands in the bytes: the whole document, and the index of the item. */
  readonly item?: { readonly of: Buffer; readonly index: number } | undefined
}

/** Lines and columns are counted from 1, as editors do. */
export interface Location {
  readonly file: string
  readonly line: number
  readonly column: number
  /** The line of the file. */
  readonly text: string
}

export const apiVersionIn = ({ value }: Document): string => textOf(getOwn(value, 'apiVersion'))
export const kindIn = ({ value }: Document): string => textOf(getOwn(value, 'kind'))

export function metaIn({ value }: Document): { readonly name: string; readonly namespace: string } {
  const meta = getOwn(value, 'metadata')
  if (!isObject(meta)) return { name: '', namespace: '' }
  return { name: textOf(getOwn(meta, 'name')), namespace: textOf(getOwn(meta, 'namespace')) }
}

export const isDefinition = (document: Document): boolean =>
  kindIn(document) === 'CustomResourceDefinition' && apiVersionIn(document).startsWith('apiextensions.k8s.io/')

const textOf = (value: Value | undefined): string => (typeof value === 'string' ? value : '')

// ---- positions

/** Where a field stands, or the nearest field around it; `field` is a path as messages of the API have it. */
export function locateField(document: Document, field: string): Location {
  const root = positionsOf(document)
  const found = root === undefined ? undefined : follow(root, fieldsOfFile(document, field))
  const { line, column } = found?.key ?? found ?? { line: 0, column: 0 }
  return { ...locateLine(document, line + 1), column: column + 1 }
}

/** A line of the document's bytes, counted from 1. */
export function locateLine({ file, firstLine, bytes, item }: Document, line: number): Location {
  const text = lineOf(item?.of ?? bytes, line)
  return { file, line: firstLine + line, column: Math.max(0, text.search(/\S/)) + 1, text }
}

const NEWLINE = 0x0a
/** Longer lines are cut where they are shown. */
const MAX_LINE = 2000

/** The text of a line, counted from 1; empty if there is no such line. */
export function lineOf(bytes: Buffer, line: number): string {
  const starts = known.starts.get(bytes) ?? remember(known.starts, bytes, lineStarts(bytes))
  const at = starts[line - 1]
  if (at === undefined) return ''
  const end = Math.min((starts[line] ?? bytes.length + 1) - 1, at + MAX_LINE)
  return bytes.toString('utf8', at, end).replace(/\r$/, '')
}

function lineStarts(bytes: Buffer): readonly number[] {
  const starts = [0]
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) starts.push(at + 1)
  return starts
}

interface Known {
  readonly starts: WeakMap<Buffer, readonly number[]>
  readonly positions: WeakMap<Buffer, YamlNode | undefined>
}

/** What was found out about the bytes of documents; large files may have thousands of findings. */
const known: Known = {
  starts: new WeakMap(),
  positions: new WeakMap(),
}

function remember<T>(map: WeakMap<Buffer, T>, bytes: Buffer, found: T): T {
  if (found !== undefined) map.set(bytes, found)
  return found
}

function positionsOf({ bytes, item }: Document): YamlNode | undefined {
  const whole = item?.of ?? bytes
  const root = known.positions.get(whole) ?? remember(known.positions, whole, locateYaml(whole))
  return item === undefined ? root : root?.members?.get('items')?.items?.[item.index]
}

const OLD_SCHEMA = 'spec.validation.'

/** kube-apiserver checks a schema that all versions share as `spec.validation`, where v1beta1 had it. */
function fieldsOfFile(document: Document, field: string): string {
  const { spec } = document.value
  if (!field.startsWith(OLD_SCHEMA) || !isObject(spec) || Object.hasOwn(spec, 'validation')) return field
  return `spec.versions[0].schema.${field.slice(OLD_SCHEMA.length)}`
}

/** Keys may contain dots and brackets, so that the longest key that the path goes on with is taken. */
function follow(node: YamlNode, path: string): YamlNode {
  if (path === '') return node
  const index = /^\[(\d+)\]\.?/.exec(path)
  const item = index && node.items?.[Number(index[1])]
  if (item) return follow(item, path.slice(index[0].length))
  let best: { readonly child: YamlNode; readonly rest: string; readonly length: number } | undefined
  for (const [key, child] of node.members ?? []) {
    const rest = afterKey(path, key)
    if (rest !== undefined && (best === undefined || key.length > best.length)) {
      best = { child, rest, length: key.length }
    }
  }
  return best === undefined ? node : follow(best.child, best.rest)
}

/** What follows a key at the beginning of a path: `a.b`, `a[0]`, `[a].b` and `["a"]`. */
function afterKey(path: string, key: string): string | undefined {
  for (const written of [key, `[${key}]`, `[${JSON.stringify(key)}]`]) {
    if (!path.startsWith(written)) continue
    const rest = path.slice(written.length)
    if (rest === '' || rest.startsWith('[')) return rest
    if (rest.startsWith('.')) return rest.slice(1)
  }
  return undefined
}
