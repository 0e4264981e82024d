// JSON Patch (RFC 6902) as Kubernetes applies it. Where that differs from the RFC: `replace` of a missing member adds
// it, `copy` of one gives null and `test` finds null there; indexes may be negative, signed or have leading zeros;
// only `replace` and `test` reach the root; whatever stands before a pointer's first `/` is skipped.
import { atOnce } from '../base/turns.js'
import { checkValueCount } from '../meta/object/value-limit.js'
import { getOwn, isObject, type Value } from '../meta/values/value.js'
import { type FieldValidation, undecodable } from './field-validation.js'
import { copyForServer, encodedSize, equalSpelling, readSpelled, spellAsClient } from './json/spelling.js'
import {
  addObjects,
  copySharing,
  copyTree,
  getMember,
  inItsOrder,
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
  /** Scalars of its values may have the spelling of the client. */
  readonly isSpelled: boolean
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
  const isSpelled = items.some(item => isObject(item) && getOwn(item, 'op') === 'test')
  return {
    operations: (isSpelled ? withSpellings(items, text) : items).map(toOperation),
    isSpelled,
    strictErrors: fieldValidation === 'Ignore' ? [] : strictErrors(items, duplicates),
  }
}

/** The patched value. Neither the value nor the patch is changed; the patch may be applied again. */
export const applyJsonPatch = (value: Value, patch: JsonPatch): Value => atOnce(run(value, patch, undefined))

/** The same in steps. The result shares the member `shared` with the value, if the patch does not concern it. */
export const applyJsonPatchInSteps = (value: Value, patch: JsonPatch, shared?: string): Iterator<unknown, Value> =>
  run(value, patch, undefined, shared)

/** The same with its members in the order of kube-apiserver. */
export const jsonPatchInItsOrder = (value: Value, patch: JsonPatch): Value => atOnce(run(value, patch, new Set()))

function* run(
  value: Value,
  patch: JsonPatch,
  opened: Set<unknown> | undefined,
  shared?: string,
): Generator<undefined, Value> {
  const mayShare = isObject(value) && shared !== undefined && !patch.operations.some(concerns(shared))
  const state: State = { root: mayShare ? copySharing(value, shared) : copyTree(value), copiedBytes: 0, opened }
  for (const operation of patch.operations) {
    yield
    const operator = getOperator(operation.op)
    if (operator === undefined) fail(`Unexpected kind: ${operation.op ?? 'unknown'}`)
    operator(state, operation)
  }
  yield
  // Copies of copies reach the limit of depth before that of bytes.
  if (patch.operations.some(mayDeepen) && isDeeperThan(state.root, MAX_DEPTH)) {
    throw doesNotApply(`the result is nested more than ${MAX_DEPTH} levels deep`)
  }
  if (opened === undefined && !patch.isSpelled) return state.root as Value
  opened?.add(state.root)
  yield
  return materialize(inItsOrder(state.root, opened))
}

/** Whether an operation reads or changes the member, or may do so. */
const concerns =
  (member: string) =>
  ({ path = '', from = path }: Operation): boolean =>
    [path, from].some(pointer => (tokensOf(pointer)[0] ?? member) === member)

const mayDeepen = ({ from, value }: Operation): boolean =>
  from !== undefined || Array.isArray(value) || isTreeObject(value)

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
const withSpellings = (items: Value[], text: string | undefined): Tree[] =>
  (text === undefined ? spellAsClient(items) : readSpelled(text)) as Tree[]

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
  /** The objects that kube-apiserver decodes: those that a pointer leads into, and those that are compared. */
  readonly opened: Set<unknown> | undefined
}

type Operator = (state: State, operation: Operation) => void

/** `why`: in the words of kube-apiserver's library, which the errors of admission webhooks show. */
function fail(why: string): never {
  throw doesNotApply(why)
}

const getOperator = (op: string | undefined): Operator | undefined => OPERATORS.get(op ?? '')

const OPERATORS = new Map<string, Operator>([
  ['add', add],
  ['remove', remove],
  ['replace', replace],
  ['move', move],
  ['copy', copy],
  ['test', test],
])

function add(state: State, { path, value }: Operation): void {
  const pointer = path ?? fail('add operation failed to decode path: missing value')
  const place = find(state, pointer) ?? missing('add', 'path: "', pointer, '"')
  addAt(place, copyTree(value ?? null), `error in add for path: '${pointer}'`)
}

function remove(state: State, { path }: Operation): void {
  const pointer = path ?? fail('remove operation failed to decode path: operation missing path field: missing value')
  const place = find(state, pointer) ?? missing('remove', 'path: "', pointer, '"')
  removeAt(place, `error in remove for path: '${pointer}'`)
}

function replace(state: State, { path, value }: Operation): void {
  if (path === '') {
    if (!Array.isArray(value) && !isTreeObject(value))
      fail('replace operation value must be object or array: %!w(<nil>)')
    state.root = copyTree(value ?? null)
    return
  }
  const pointer = path ?? fail('replace operation failed to decode path: operation missing path field: missing value')
  const { holder, key } = find(state, pointer) ?? missing('replace', 'path: ', pointer)
  if (Array.isArray(holder)) {
    const index = indexOf(key, holder.length)
    if (typeof index === 'string') missing('replace', 'key: ', pointer)
    else holder[index] = copyTree(value ?? null)
  } else setMember(holder, key, copyTree(value ?? null))
}

function move(state: State, { from, path }: Operation): void {
  const source = from ?? fail('move operation failed to decode from: operation, missing from field: missing value')
  const origin = find(state, source) ?? missing('move', 'from path: ', source)
  const moved = removeAt(origin, `error in move for path: '${origin.key}'`)
  const pointer = path ?? fail('move operation failed to decode path: operation missing path field: missing value')
  const place = find(state, pointer) ?? missing('move', 'destination path: ', pointer)
  addAt(place, moved, `error in move for path: '${pointer}'`)
}

function copy(state: State, { from, path }: Operation): void {
  const source = from ?? fail('copy operation failed to decode from: operation, missing from field: missing value')
  const origin = find(state, source) ?? missing('copy', 'from path: ', source)
  const copied = getAt(origin, `error in copy for from: '${source}'`) ?? null
  const pointer = path ?? fail('copy operation failed to decode path: missing value')
  const place = find(state, pointer) ?? missing('copy', 'destination path: ', pointer)
  // Copies of copies grow with each operation. An object may not have so many values, so that none is copied in vain.
  checkValueCount(copied as Value)
  if (copied !== null) state.copiedBytes += encodedSize(copied, MAX_COPIED_BYTES)
  if (state.copiedBytes > MAX_COPIED_BYTES) {
    fail(
      `Unable to complete the copy, the accumulated size increase of copy is ${state.copiedBytes}, exceeding the limit ${MAX_COPIED_BYTES}`,
    )
  }
  addAt(place, copyForServer(inItsOrder(copied, state.opened)), 'error while adding value during copy')
}

function test(state: State, { path, value }: Operation): void {
  const pointer = path ?? fail('test operation failed to decode path: operation missing path field: missing value')
  const found = pointer === '' ? state.root : testedAt(state, pointer)
  // A missing value counts as null, both in the object and in the operation.
  const passes = found === null ? (value ?? null) === null : value !== undefined && equalSpelling(found, value)
  if (!passes) fail(`testing value ${pointer} failed: test failed`)
  const { opened } = state
  if (opened !== undefined) addObjects(found, opened)
}

function testedAt(state: State, pointer: string): Tree {
  const place = find(state, pointer)
  if (!place) return fail(`test operation does not apply: is missing path: ${pointer}: missing value`)
  return getAt(place, `error in test for path: '${pointer}'`) ?? null
}

const missing = (op: string, what: string, pointer: string, end = ''): never =>
  fail(`${op} operation does not apply: doc is missing ${what}${pointer}${end}: missing value`)

/** The target of an operation: a member of an object or an index of a list, which need not exist. */
interface Place {
  holder: Tree[] | TreeObject
  key: string
}

/** Undefined if the object has nothing that could hold it. */
function find(state: State, pointer: string): Place | undefined {
  const tokens = tokensOf(pointer)
  const key = tokens.pop()
  if (key === undefined) return undefined
  let holder: Tree | undefined = state.root
  for (const token of tokens) {
    if (Array.isArray(holder)) {
      const index = indexOf(token, holder.length)
      holder = typeof index === 'string' ? undefined : holder[index]
    } else holder = isTreeObject(holder) ? getMember(holder, token) : undefined
    state.opened?.add(holder)
  }
  return Array.isArray(holder) || isTreeObject(holder) ? { holder, key } : undefined
}

const tokensOf = (pointer: string): string[] => pointer.split('/').slice(1).map(unescape)

// In one pass: `~01` is `~1`.
const unescape = (token: string): string => token.replace(/~[01]/g, escaped => (escaped === '~1' ? '/' : '~'))

function getAt({ holder, key }: Place, error: string): Tree | undefined {
  return Array.isArray(holder) ? holder[indexIn(holder, key, error)] : getMember(holder, key)
}

function addAt({ holder, key }: Place, value: Tree, error: string): void {
  if (!Array.isArray(holder)) setMember(holder, key, value)
  else if (key === '-') holder.push(value)
  else {
    const index = indexOf(key, holder.length + 1)
    if (typeof index === 'number') holder.splice(index, 0, value)
    else fail(`${error}: ${isIndex(key) ? '' : `value was not a proper array index: '${key}': `}${index}`)
  }
}

function removeAt({ holder, key }: Place, error: string): Tree {
  if (Array.isArray(holder)) return holder.splice(indexIn(holder, key, error), 1)[0]!
  const removed = getMember(holder, key)
  if (removed === undefined) return fail(`${error}: Unable to remove nonexistent key: ${key}: missing value`)
  delete holder[key]
  return removed
}

function indexIn(list: Tree[], key: string, error: string): number {
  const index = indexOf(key, list.length)
  return typeof index === 'number' ? index : fail(`${error}: ${index}`)
}

const isIndex = (key: string): boolean => /^[+-]?\d+$/.test(key)

/** -1 is the last of `length` items. A string is the error. */
function indexOf(key: string, length: number): number | string {
  if (!isIndex(key)) return `strconv.Atoi: parsing ${JSON.stringify(key)}: invalid syntax`
  const index = Number(key)
  if (index >= length || index < -length) return `Unable to access invalid index: ${index}: invalid index referenced`
  return index < 0 ? index + length : index + 0
}
