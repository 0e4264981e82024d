// JSON Patch (RFC 6902) as Kubernetes applies it. Where that differs from the RFC: `replace` of a missing member adds
// it, `copy` of one gives null and `test` finds null there; indexes may be negative, signed or have leading zeros;
// only `replace` and `test` reach the root; whatever stands before a pointer's first `/` is skipped.
import { getOwn, isObject, type Value } from '../meta/values/value.js'
import { type FieldValidation, undecodable } from './field-validation.js'
import { copyForServer, encodedSize, equalSpelling, readSpelled, spellAsClient } from './json/spelling.js'
import {
  copyTree,
  getMember,
  isDeeperThan,
  isTreeObject,
  MAX_DEPTH,
  materialize,
  Spelled,
  setMember,
  type Tree,
  type TreeObject,
} from './json/tree.js'
import { doesNotApply, jsonTypeName, malformed, tooLarge } from './patch-error.js'

export const MAX_OPERATIONS = 10_000

/** The limit of all copies of one patch together, in bytes of JSON: that of a request. */
export const MAX_COPIED_BYTES = 3 * 1024 * 1024

/** One operation as it was sent. Whether it is valid shows only when it is applied. */
export interface Operation {
  readonly op?: string
  readonly path?: string
  readonly from?: string
  readonly value?: Tree
}

export interface JsonPatch {
  readonly operations: readonly Operation[]
  /** Members that are repeated or that no operation has: `json patch unknown field "[0].extra"`. */
  readonly strictErrors: readonly string[]
}

export interface JsonPatchOptions {
  /** The body itself. With it `test` compares exact spellings; without it, those that most clients would use. */
  readonly text?: string
  readonly fieldValidation?: FieldValidation
  /** Paths that the body has more than once, like `[0].path`. */
  readonly duplicates?: readonly string[]
}

/** Parses a decoded body. */
export function parseJsonPatch(
  body: Value,
  { text, fieldValidation = 'Warn', duplicates = [] }: JsonPatchOptions = {},
): JsonPatch {
  const items = fieldValidation === 'Ignore' ? checkLoosely(body) : checkStrictly(body)
  if (items.length > MAX_OPERATIONS) {
    throw tooLarge(`The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${items.length}`)
  }
  return {
    operations: withSpellings(items, text).map(toOperation),
    strictErrors: fieldValidation === 'Ignore' ? [] : strictErrors(items, duplicates),
  }
}

/** The patched value. Neither the value nor the patch is changed; the patch may be applied again. */
export function applyJsonPatch(value: Value, patch: JsonPatch): Value {
  const state: State = { root: copyTree(value), copiedBytes: 0 }
  patch.operations.forEach((operation, index) => {
    const fail = (problem: string): never => {
      throw doesNotApply(`operation ${index} (${operation.op ?? 'unknown'}): ${problem}`)
    }
    const run = getOperator(operation.op)
    if (run === undefined) fail('there is no such operation')
    else run(state, operation, fail)
  })
  // Copies of copies reach the limit of depth before that of bytes.
  if (isDeeperThan(state.root, MAX_DEPTH)) {
    throw doesNotApply(`the result is nested more than ${MAX_DEPTH} levels deep`)
  }
  return materialize(state.root)
}

// ---- parsing

/** Accepts what kube-apiserver's typed decoder accepts. The first error in the order of the document is reported. */
function checkStrictly(body: Value): Value[] {
  if (body === null) return []
  if (!Array.isArray(body)) throw undecodable(`${cannotUnmarshal(body)} Go value of type []handlers.jsonPatchOp`)
  for (const item of body) {
    if (item === null) continue
    if (!isObject(item)) throw undecodable(`${cannotUnmarshal(item)} Go value of type handlers.jsonPatchOp`)
    for (const key of Object.keys(item)) {
      const member = item[key]!
      if (TEXT_MEMBERS.includes(key) && member !== null && typeof member !== 'string') {
        throw undecodable(`${cannotUnmarshal(member)} Go struct field jsonPatchOp.${key} of type string`)
      }
    }
  }
  return body
}

function checkLoosely(body: Value): Value[] {
  if (body === null) return []
  if (!Array.isArray(body)) throw malformed(`${cannotUnmarshal(body)} Go value of type jsonpatch.Patch`)
  for (const item of body) {
    if (item !== null && !isObject(item)) {
      throw malformed(`${cannotUnmarshal(item)} Go value of type jsonpatch.Operation`)
    }
  }
  return body
}

const TEXT_MEMBERS = ['op', 'path', 'from']

const cannotUnmarshal = (value: Value): string => `json: cannot unmarshal ${jsonTypeName(value)} into`

/** Operation by operation. An unknown member is reported once, even if it is written twice; its value is not decoded. */
const strictErrors = (items: Value[], duplicates: readonly string[]): string[] =>
  items.flatMap((item, index) => {
    const at = `[${index}].`
    const unknown = (isObject(item) ? Object.keys(item) : [])
      .filter(key => key !== 'value' && !TEXT_MEMBERS.includes(key))
      .map(key => at + key)
    const isWithin = (path: string, outer: string): boolean =>
      path === outer || path.startsWith(`${outer}.`) || path.startsWith(`${outer}[`)
    const repeated = duplicates.filter(path => path.startsWith(at) && !unknown.some(outer => isWithin(path, outer)))
    return [
      ...repeated.map(path => `json patch duplicate field "${path}"`),
      ...unknown.map(path => `json patch unknown field "${path}"`),
    ]
  })

/** Only `test` depends on spelling. */
function withSpellings(items: Value[], text: string | undefined): Tree[] {
  if (!items.some(item => isObject(item) && getOwn(item, 'op') === 'test')) return items
  return (text === undefined ? spellAsClient(items) : readSpelled(text)) as Tree[]
}

function toOperation(item: Tree): Operation {
  if (!isTreeObject(item)) return {}
  const [op, path, from] = TEXT_MEMBERS.map(key => asText(getMember(item, key)))
  const value = getMember(item, 'value')
  return {
    ...(op === undefined ? {} : { op }),
    ...(path === undefined ? {} : { path }),
    ...(from === undefined ? {} : { from }),
    ...(value === undefined ? {} : { value }),
  }
}

function asText(member: Tree | undefined): string | undefined {
  const value = member instanceof Spelled ? member.value : member
  return typeof value === 'string' ? value : undefined
}

// ---- applying

interface State {
  root: Tree
  copiedBytes: number
}

type Fail = (problem: string) => never
type Operator = (state: State, operation: Operation, fail: Fail) => void

const getOperator = (op: string | undefined): Operator | undefined => OPERATORS.get(op ?? '')

const OPERATORS = new Map<string, Operator>([
  ['add', (state, { path, value }, fail) => addAt(find(state, path, fail), copyTree(value ?? null), fail)],
  ['remove', (state, { path }, fail) => removeAt(find(state, path, fail), fail)],
  ['replace', replace],
  ['move', move],
  ['copy', copy],
  ['test', test],
])

function replace(state: State, { path, value }: Operation, fail: Fail): void {
  if (path === '') {
    if (!Array.isArray(value) && !isTreeObject(value)) fail('the root can only be replaced by an object or a list')
    state.root = copyTree(value ?? null)
    return
  }
  const place = find(state, path, fail)
  if (Array.isArray(place.holder)) place.holder[indexIn(place.holder, place.key, fail)] = copyTree(value ?? null)
  else setMember(place.holder, place.key, copyTree(value ?? null))
}

function move(state: State, { from, path }: Operation, fail: Fail): void {
  const moved = removeAt(find(state, from, fail), fail)
  addAt(find(state, path, fail), moved, fail)
}

function copy(state: State, { from, path }: Operation, fail: Fail): void {
  const copied = getAt(find(state, from, fail), fail) ?? null
  const place = find(state, path, fail)
  if (copied !== null) state.copiedBytes += encodedSize(copied, MAX_COPIED_BYTES)
  if (state.copiedBytes > MAX_COPIED_BYTES) fail(`the copies of this patch take more than ${MAX_COPIED_BYTES} bytes`)
  addAt(place, copyForServer(copied), fail)
}

function test(state: State, { path, value }: Operation, fail: Fail): void {
  const found = path === '' ? state.root : (getAt(find(state, path, fail), fail) ?? null)
  // A missing value counts as null, both in the object and in the operation.
  const passes = found === null ? (value ?? null) === null : value !== undefined && equalSpelling(found, value)
  if (!passes) fail(`the value at ${JSON.stringify(path)} is another`)
}

/** The target of an operation: a member of an object or an index of a list, which need not exist. */
interface Place {
  holder: Tree[] | TreeObject
  key: string
}

function find(state: State, pointer: string | undefined, fail: Fail): Place {
  if (pointer === undefined) return fail('its path or from is missing')
  const tokens = pointer.split('/').slice(1).map(unescape)
  const key = tokens.pop()
  if (key === undefined) return fail(`${JSON.stringify(pointer)} does not point into the object`)
  let holder = state.root
  for (const token of tokens) {
    if (!Array.isArray(holder) && !isTreeObject(holder)) break
    holder = getAt({ holder, key: token }, fail) ?? null
  }
  if (!Array.isArray(holder) && !isTreeObject(holder))
    return fail(`there is nothing to hold ${JSON.stringify(pointer)}`)
  return { holder, key }
}

// In one pass: `~01` is `~1`.
const unescape = (token: string): string => token.replace(/~[01]/g, escaped => (escaped === '~1' ? '/' : '~'))

function getAt({ holder, key }: Place, fail: Fail): Tree | undefined {
  return Array.isArray(holder) ? holder[indexIn(holder, key, fail)] : getMember(holder, key)
}

function addAt({ holder, key }: Place, value: Tree, fail: Fail): void {
  if (!Array.isArray(holder)) setMember(holder, key, value)
  else if (key === '-') holder.push(value)
  else holder.splice(resolveIndex(key, holder.length + 1, fail), 0, value)
}

function removeAt({ holder, key }: Place, fail: Fail): Tree {
  if (Array.isArray(holder)) return holder.splice(indexIn(holder, key, fail), 1)[0]!
  const removed = getMember(holder, key)
  if (removed === undefined) return fail(`there is no member ${JSON.stringify(key)}`)
  delete holder[key]
  return removed
}

const indexIn = (list: Tree[], key: string, fail: Fail): number => resolveIndex(key, list.length, fail)

/** -1 is the last of `length` items. */
function resolveIndex(key: string, length: number, fail: Fail): number {
  if (!/^[+-]?\d+$/.test(key)) return fail(`${JSON.stringify(key)} is not an index`)
  const index = Number(key)
  if (index >= length || index < -length) return fail(`there is no index ${key} in a list of this length`)
  return index < 0 ? index + length : index + 0
}
