// Decodes YAML as the API server does: only the first document, as YAML 1.1, then converted to JSON. The conversion
// makes every key a string, sorts the keys, and leaves no difference between 1 and 1.0. Values are built bottom-up from
// the parser's events, so that depth does not use the call stack.
import { compareTexts, MAX_INT64, printFloat, quote } from '../../meta/go/go-text.js'
import { MAX_VALUES, tooManyValues } from '../../meta/object/value-limit.js'
import { setOwn, type Value, type ValueObject, WholeFloat } from '../../meta/values/value.js'
import { CodecError } from '../codec-error.js'
import type { Decoded } from '../decoded.js'
import { parseNumber } from '../json/decode.js'
import { decodeUtf8 } from '../utf8.js'
import { yamlError } from './cursor.js'
import { keyIdentity, keyText, typeOf } from './keys.js'
import { type YamlEvent, YamlParser, type YamlScalar } from './parser.js'
import { readYamlText, type YamlText } from './reader.js'
import { resolveScalar, type Scalar, Timestamp } from './resolve.js'
import { readYamlAsJson } from './to-json.js'

/** Decodes the first document of a YAML stream; an empty one is null. Throws a CodecError. */
export function decodeYaml(bytes: Uint8Array): Decoded {
  const source = readYamlText(bytes)
  if (source.error === undefined) {
    const value = readYamlAsJson(bytes, source.text)
    if (value !== undefined) return { value, duplicates: [] }
  }
  return decodeText(source)
}

/** Decodes as YAML, without the shortcut for JSON. */
export function decodeText(source: YamlText): Decoded {
  const parser = new YamlParser(source)
  if (!parser.startDocument()) return { value: null, duplicates: [] }
  const builder = new Builder()
  let root: Built | undefined
  while (root === undefined) root = builder.add(parser.next())
  parser.endDocument()
  builder.throwFirstError()
  return { value: root.value, duplicates: builder.duplicates }
}

/** A complete node. */
interface Built {
  kind: 'scalar' | 'sequence' | 'mapping'
  line: number
  value: Value
  /** With its type, which makes `1` and `"1"` different keys. */
  scalar: Scalar
  merges: boolean
  /** The children in order: items, or alternating keys and values. */
  children: Built[]
  /** The members of a mapping after merges, by type and text of the key. */
  members: Map<string, Member>
  /** The number of nodes in it with all aliases expanded. */
  size: number
  /** About how many bytes it has as JSON, with all aliases expanded. */
  bytes: number
}

interface Member {
  key: Built
  value: Built
}

interface Open {
  kind: 'sequence' | 'mapping'
  line: number
  anchor: string
  children: Built[]
  /** The members of a mapping that are complete. */
  members: Map<string, Member>
}

const TAG_PREFIX = 'tag:yaml.org,2002:'

class Builder {
  readonly duplicates: string[] = []
  private readonly open: Open[] = []
  private readonly anchors = new Map<string, Built | 'unfinished'>()
  // The first error of each of the three steps that Kubernetes takes after parsing: decode, convert, print as JSON.
  private decodeError: CodecError | undefined
  private convertError: CodecError | undefined
  private printError: CodecError | undefined
  private nodes = 0
  private decoded = 0
  private decodedByAlias = 0
  private merged = 0
  private copiedBytes = 0

  /** Takes an event; returns the root when it is complete. */
  add(event: YamlEvent): Built | undefined {
    if (event.type !== 'end' && ++this.nodes > MAX_NODES) throw tooManyValues()
    if (event.type === 'start') {
      this.decoded++
      this.open.push({ kind: event.kind, line: event.line, anchor: event.anchor, children: [], members: new Map() })
      if (event.anchor !== '') this.anchors.set(event.anchor, 'unfinished')
      return undefined
    }
    let node: Built
    let anchor = ''
    if (event.type === 'end') {
      const closed = this.open.pop()!
      node = closed.kind === 'sequence' ? buildSequence(closed) : this.buildMapping(closed)
      anchor = closed.anchor
    } else if (event.type === 'alias') node = this.buildAlias(event.name, event.line)
    else {
      this.decoded++
      node = this.buildScalar(event)
      anchor = event.anchor
    }
    if (anchor !== '') this.anchors.set(anchor, node)
    const parent = this.open.at(-1)
    if (parent === undefined) return node
    parent.children.push(node)
    if (parent.kind === 'mapping' && parent.children.length % 2 === 0) this.addMember(parent)
    return undefined
  }

  throwFirstError(): void {
    const error = this.decodeError ?? this.convertError ?? this.printError
    if (error !== undefined) throw error
  }

  private buildScalar({ text, plain, tag, line }: YamlScalar): Built {
    let scalar: Scalar = text
    if (tag !== '') scalar = this.resolveTagged(tag, text)
    else if (plain) scalar = resolveScalar(text)
    const merges = text === '<<' && (plain || tag === `${TAG_PREFIX}merge`)
    const value = this.toValue(scalar)
    return {
      kind: 'scalar',
      line,
      value,
      scalar,
      merges,
      children: NONE,
      members: NO_MEMBERS,
      size: 1,
      bytes: text.length + 2,
    }
  }

  /** Resolves a scalar with a tag; with a tag other than YAML's own it stays a string. */
  private resolveTagged(tag: string, text: string): Scalar {
    if (!tag.startsWith(TAG_PREFIX)) return text
    const type = tag.slice(TAG_PREFIX.length)
    if (type === 'binary') {
      const base64 = text.replaceAll(/[\r\n]/g, '')
      if (BASE64.test(base64)) return decodeUtf8(Buffer.from(base64, 'base64'))
      this.decodeError ??= yamlError('!!binary value contains invalid base64 data')
      return null
    }
    const accepts = TYPE_CHECKS.get(type)
    if (accepts === undefined) return text // including `!!str`
    const scalar = resolveScalar(text)
    if (accepts(scalar)) return type === 'float' ? Number(scalar) : scalar
    this.decodeError ??= yamlError(`cannot decode !!${typeOf(scalar)} \`${text}\` as a !!${type}`)
    return null
  }

  private buildAlias(name: string, line: number): Built {
    const target = this.anchors.get(name)
    if (target === undefined) throw yamlError(`unknown anchor '${name}' referenced`)
    if (target === 'unfinished') {
      this.decodeError ??= yamlError(`anchor '${name}' value contains itself`)
      return { ...NOTHING, line }
    }
    this.decoded++
    this.countAliased(target.size)
    this.countCopied(target.bytes)
    if (this.decodeError !== undefined) return { ...NOTHING, line }
    return { ...target, line, merges: false, value: copyDeep(target.value), size: target.size + 1 }
  }

  /** Sets the last member of a mapping. Called when its value is complete, so that duplicates are in the order of lines. */
  private addMember({ children, members }: Open): void {
    const [key, value] = children.slice(-2) as [Built, Built]
    if (key.merges) this.mergeInto(members, value)
    else this.setMember(members, key, value)
  }

  private buildMapping({ line, children, members }: Open): Built {
    let size = 1
    for (const child of children) size += child.size
    const value: ValueObject = {}
    const sorted = [...members.values()].map(member => ({ name: keyText(member.key.scalar) ?? '', member }))
    sorted.sort((a, b) => compareTexts(a.name, b.name))
    let bytes = 2
    for (const { name, member } of sorted) {
      setOwn(value, name, member.value.value)
      bytes += member.key.bytes + member.value.bytes + 2
    }
    return { ...NOTHING, kind: 'mapping', line, value, children, members, size, bytes }
  }

  private setMember(members: Map<string, Member>, key: Built, value: Built): void {
    if (key.kind !== 'scalar') {
      this.decodeError ??= yamlError(`invalid map key: ${goSyntax(key)}`)
      return
    }
    const identity = keyIdentity(key.scalar)
    if (members.has(identity)) {
      this.duplicates.push(`line ${value.line + 1}: key ${goSyntax(key)} already set in map`)
    }
    this.checkKey(key, value)
    members.set(identity, { key, value })
  }

  /** Merges a `<<` value; merged members count as set at that point. */
  private mergeInto(members: Map<string, Member>, value: Built): void {
    // The first of several maps takes precedence, so it is merged last.
    const mappings = value.kind === 'sequence' ? value.children.toReversed() : [value]
    for (const mapping of mappings) {
      if (mapping.kind !== 'mapping') {
        this.decodeError ??= yamlError('map merge requires map or sequence of maps as the value')
        return
      }
      this.merged += mapping.members.size
      if (this.merged > MAX_MERGED) this.decodeError ??= yamlError(BOMB)
      this.countCopied(mapping.bytes)
      if (this.decodeError !== undefined) return
      for (const { key, value: merged } of mapping.members.values()) {
        this.setMember(members, key, { ...merged, value: copyDeep(merged.value) })
      }
    }
  }

  /** Counts nodes that exist through aliases, and throws if there are excessively many. */
  private countAliased(nodes: number): void {
    this.decoded += nodes
    this.decodedByAlias += nodes
    if (this.decodedByAlias <= 100 || this.decoded <= 1000) return
    if (this.decodedByAlias / this.decoded > allowedAliasRatio(this.decoded)) {
      this.decodeError ??= yamlError(BOMB)
    }
  }

  /** Nodes alone are no measure of memory, because one node may be a long text. */
  private countCopied(bytes: number): void {
    this.copiedBytes += bytes
    if (this.copiedBytes > MAX_COPIED_BYTES) this.decodeError ??= yamlError(BOMB)
  }

  private checkKey(key: Built, value: Built): void {
    if (this.convertError !== undefined || keyText(key.scalar) !== undefined) return
    const [type, text] =
      typeof key.scalar === 'bigint' ? ['uint64', `0x${key.scalar.toString(16)}`] : ['%!s(<nil>)', '<nil>']
    const message = `unsupported map key of type: ${type}, key: ${text}, value: ${goSyntax(value)}`
    this.convertError = new CodecError('malformed', message)
  }

  /** The value of a scalar after it was printed as JSON and decoded again. */
  private toValue(scalar: Scalar): Value {
    if (scalar instanceof Timestamp) return scalar.text
    if (typeof scalar === 'bigint') {
      if (Number.isSafeInteger(Number(scalar))) return Number(scalar)
      return scalar <= MAX_INT64 ? scalar : new WholeFloat(Number(scalar), String(scalar))
    }
    if (typeof scalar !== 'number') return scalar
    if (Number.isFinite(scalar)) return parseNumber(String(scalar))!
    this.printError ??= new CodecError('malformed', `json: unsupported value: ${printFloat(scalar)}`)
    return null
  }
}

/**
 * The nodes of the largest object: a member has two, its key and its value. A document with more is not read to its end,
 * even if keys that are repeated would make it small.
 */
const MAX_NODES = 2 * MAX_VALUES + 1
/** Nested merges grow quadratically: this bounds them. */
const MAX_MERGED = 100_000
/** What aliases and merges may add to a document: as much as the body of a request may have without them. */
const MAX_COPIED_BYTES = 3 * 1024 * 1024
const BOMB = 'document contains excessive aliasing'
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

const NONE: Built[] = []
const NO_MEMBERS = new Map<string, Member>()
const NOTHING: Built = {
  kind: 'scalar',
  line: 0,
  value: null,
  scalar: null,
  merges: false,
  children: NONE,
  members: NO_MEMBERS,
  size: 1,
  bytes: 4,
}

/** Which resolved scalars each of YAML's own tags accepts. */
const TYPE_CHECKS = new Map<string, (scalar: Scalar) => boolean>([
  ['bool', scalar => typeof scalar === 'boolean'],
  ['int', scalar => typeof scalar === 'bigint'],
  ['float', scalar => typeof scalar === 'number' || (typeof scalar === 'bigint' && scalar <= MAX_INT64)],
  ['null', scalar => scalar === null],
  ['timestamp', scalar => scalar instanceof Timestamp],
])

function buildSequence({ line, children }: Open): Built {
  let size = 1
  let bytes = 2
  for (const child of children) {
    size += child.size
    bytes += child.bytes + 1
  }
  return { ...NOTHING, kind: 'sequence', line, value: children.map(child => child.value), children, size, bytes }
}

/** A value in Go's %#v notation; only dots beyond a certain depth. */
function goSyntax(node: Built, depth = 0): string {
  if (node.kind !== 'scalar' && depth > 100) return '...'
  if (node.kind === 'sequence') {
    return `[]interface {}{${node.children.map(item => goSyntax(item, depth + 1)).join(', ')}}`
  }
  if (node.kind === 'mapping') {
    const members = [...node.members.values()].map(
      ({ key, value }) => `${goSyntax(key, depth + 1)}:${goSyntax(value, depth + 1)}`,
    )
    return `map[interface {}]interface {}{${members.join(', ')}}`
  }
  const { scalar } = node
  if (scalar === null) return depth === 0 ? '<nil>' : 'interface {}(nil)'
  if (scalar instanceof Timestamp) return quote(scalar.text)
  if (typeof scalar === 'string') return quote(scalar)
  return typeof scalar === 'number' ? printFloat(scalar) : String(scalar)
}

/** The allowed proportion of aliased nodes: nearly all of a small document, a tenth of a huge one. */
function allowedAliasRatio(decoded: number): number {
  const [low, high] = [400_000, 4_000_000]
  if (decoded <= low) return 0.99
  if (decoded >= high) return 0.1
  return 0.99 - 0.89 * ((decoded - low) / (high - low))
}

/** Copies without recursion, because aliased values may be nested deeply. */
function copyDeep(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  const holder: Value[] = [value]
  const todo: (Value[] | ValueObject)[] = [holder]
  for (let container = todo.pop(); container !== undefined; container = todo.pop()) {
    for (const [key, member] of Object.entries(container)) {
      if (typeof member !== 'object' || member === null || member instanceof WholeFloat) continue
      const copy = Array.isArray(member) ? [...member] : copyMembers(member)
      if (Array.isArray(container)) container[Number(key)] = copy
      else setOwn(container, key, copy)
      todo.push(copy)
    }
  }
  return holder[0]!
}

function copyMembers(object: ValueObject): ValueObject {
  const copy: ValueObject = {}
  for (const key of Object.keys(object)) setOwn(copy, key, object[key]!)
  return copy
}
