// Errors of values that are not of their type, with the messages of Go's JSON decoder. Go continues after a mismatch
// and reports the first one at the end; a type with its own decoder (a time, a quantity) ends decoding at once. Values
// from CBOR have the messages of that decoder.
import { jsonTypeOf, printNumber, quote } from '../../meta/go/go-text.js'
import { isNumber, spellNumber, type Value, type WholeFloat } from '../../meta/values/value.js'
import { type CborSource, cborMismatch, INTEGER_KEY, type Target, unknownField } from './cbor-error.js'

/** A value cannot be decoded as its type; the message is Go's. */
export class TypedDecodeError extends Error {
  override readonly name = 'TypedDecodeError'
  constructor(readonly error: DecodeError) {
    super(printError(error))
  }
}

/** The position of the decoder, and its results so far. */
export interface DecodeState {
  /** Keys and indexes from the root, as unknown fields are reported. */
  readonly path: (string | number)[]
  /** Fields from the root as Go counts them: inlined types are steps, keys of maps and indexes are not. */
  readonly goPath: string[]
  /** The type whose field is being decoded. */
  struct: string
  /** The nesting depth of structs. */
  depth: number
  /** Whether the list or map that was decoded last is empty. It takes long to ask a map with many members. */
  isNoneDecoded: boolean
  /** The first error. */
  error: DecodeError | undefined
  /** Unknown and duplicate fields in the order in which they were found. */
  readonly strict: StrictError[]
  /** Paths that the document has more than once, in the order in which they are reported. */
  readonly duplicates: ReadonlySet<string> | undefined
  /** Set if the value was CBOR. */
  readonly cbor: CborSource | undefined
  /** The value was decoded into a map and encoded again before. */
  readonly isReencoded: boolean
  /** Set if the value is decoded in steps. */
  steps: Steps | undefined
}

/** The rests of long lists are decoded later, when other requests have had a turn. */
export interface Steps {
  readonly later: (() => void)[]
  /** How many more items are decoded in this step. */
  left: number
}

export interface StrictError {
  readonly path: readonly (string | number)[]
  readonly is: 'unknown' | 'duplicate'
}

/** A value of the wrong kind, or a message without a field. */
export type DecodeError = Mismatch | string

export interface Mismatch {
  readonly what: string
  readonly goType: string
  readonly struct: string
  readonly field: string
}

export const newDecodeState = (
  duplicates?: ReadonlySet<string>,
  depth = 0,
  cbor?: CborSource,
  isReencoded = false,
): DecodeState => ({
  path: [],
  goPath: [],
  struct: '',
  depth,
  isNoneDecoded: false,
  error: undefined,
  strict: [],
  duplicates: duplicates === undefined || duplicates.size === 0 ? undefined : duplicates,
  cbor,
  isReencoded,
  steps: undefined,
})

/** A value of the wrong kind: reported at the end, unless decoding ends before. */
export function noteMismatch(state: DecodeState, value: Value, goType: string, target?: Target): void {
  state.error ??= mismatch(state, value, goType, target)
}

function mismatch(state: DecodeState, value: Value, goType: string, target: Target): DecodeError {
  if (state.cbor !== undefined) return cborMismatch(state.cbor, state.path, value, goType, target)
  const what = target === 'integer' && isNumber(value) ? `number ${numberIn(state, value)}` : jsonTypeOf(value)
  return { what, goType, struct: state.struct, field: state.goPath.join('.') }
}

const numberIn = (state: DecodeState, value: number | bigint | WholeFloat): string =>
  state.isReencoded ? printNumber(value) : spellNumber(value)

export function noteError(state: DecodeState, error: DecodeError): void {
  state.error ??= error
}

/** A value of the wrong kind in a type with its own decoder. */
export function failMismatch(state: DecodeState, value: Value, goType: string, target?: Target): never {
  throw new TypedDecodeError(mismatch(state, value, goType, target))
}

/** The error of a decoder that was started within another, as the outer one reports it: with its path before. */
export const withinOuter = ({ struct, goPath }: DecodeState, error: DecodeError): DecodeError =>
  typeof error === 'string'
    ? error
    : { ...error, struct, field: [...goPath, ...(error.field === '' ? [] : [error.field])].join('.') }

export function printError(error: DecodeError): string {
  if (typeof error === 'string') return error
  const { what, goType, struct, field } = error
  const where = struct === '' && field === '' ? 'value' : `struct field ${struct}.${field}`
  return `json: cannot unmarshal ${what} into Go ${where} of type ${goType}`
}

/** A field that the type does not have. */
export function noteUnknown(state: DecodeState, key: string | typeof INTEGER_KEY): void {
  if (state.strict.length < MAX_STRICT_ERRORS) state.strict.push({ path: [...state.path, key], is: 'unknown' })
}

/** Called for each member, if the document has duplicates at all. */
export function noteDuplicate(state: DecodeState, key: string): void {
  const path = [...state.path, key]
  if (state.duplicates?.has(printPath(path)) && state.strict.length < MAX_STRICT_ERRORS) {
    state.strict.push({ path, is: 'duplicate' })
  }
}

/**
 * The messages in order. The position of a duplicate among the others follows the walk; which one is named there
 * follows the order of the document.
 */
export function printStrict({ strict, duplicates, cbor }: DecodeState): string[] {
  if (strict.length === 0) return []
  if (cbor !== undefined)
    return [
      unknownField(
        cbor,
        strict.map(({ path }) => path),
      ),
    ]
  const met = new Set(strict.flatMap(({ path, is }) => (is === 'duplicate' ? [printPath(path)] : [])))
  const inOrder = [...(duplicates ?? [])].filter(path => met.has(path)).values()
  return strict.map(({ path, is }) =>
    is === 'unknown'
      ? `unknown field ${quote(printPath(path))}`
      : `duplicate field ${quote(inOrder.next().value ?? printPath(path))}`,
  )
}

/** Kubernetes reports no more than these. */
const MAX_STRICT_ERRORS = 100

/** `spec.containers[0].comand` */
export function printPath(path: readonly (string | number)[]): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else text += text === '' ? step : `.${step}`
  }
  return text
}
