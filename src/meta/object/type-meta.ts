// What every decoded document must have, and how strict decoding reports its errors, in Kubernetes' words.
import { jsonTypeOf } from '../go/go-text.js'
import { parseGroupVersion } from '../group-version.js'
import { isObject, type Value, type ValueObject } from '../values/value.js'

const NO_TYPE_IN_JSON = "couldn't get version/kind; json parse error: "
const TYPE_META =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

/**
 * Checks that a value is an object or null, and that its apiVersion and kind are strings. Throws what `refuse` makes.
 * Members of YAML are read in the order of their names.
 */
export function checkTypeMeta(value: Value, refuse: (why: string) => Error, isYaml = false): void {
  if (value === null) return
  if (!isObject(value)) {
    const why = `json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type ${TYPE_META}`
    throw refuse(`${NO_TYPE_IN_JSON}${why}`)
  }
  const { apiVersion, mistyped } = typeMetaOf(value, isYaml)
  if (mistyped !== undefined) {
    const why = `json: cannot unmarshal ${jsonTypeOf(value[mistyped.key]!)} into Go struct field .${mistyped.field} of type string`
    throw refuse(`${NO_TYPE_IN_JSON}${why}`)
  }
  const groupVersion = parseGroupVersion(apiVersion)
  if (!groupVersion.ok) throw refuse(groupVersion.error)
}

export interface TypeMeta {
  readonly apiVersion: string
  readonly kind: string
  /** The first member that is no string. */
  readonly mistyped?: { readonly key: string; readonly field: 'apiVersion' | 'kind' } | undefined
}

/** The type that a document names. Go finds these two members in any case (`KIND`), and the last of several counts. */
export function typeMetaOf(value: ValueObject, isYaml = false): TypeMeta {
  let [apiVersion, kind] = ['', '']
  let mistyped: TypeMeta['mistyped']
  const keys = Object.keys(value).filter(key => TYPE_FIELDS.has(key) || isTypeField(key))
  for (const key of isYaml ? keys.toSorted() : keys) {
    const text = value[key]!
    const field = key.length === KIND_LENGTH ? 'kind' : 'apiVersion'
    if (text === null) continue
    if (typeof text !== 'string') mistyped ??= { key, field }
    else if (field === 'kind') kind = text
    else apiVersion = text
  }
  return { apiVersion, kind, mistyped }
}

const TYPE_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind'])
const KIND_LENGTH = 'kind'.length
const isTypeField = (key: string): boolean =>
  (key.length === KIND_LENGTH || key.length === 'apiVersion'.length) && /^(kind|apiversion)$/i.test(key)

/** The errors of YAML come first, under a heading. */
export function strictText(strict: readonly string[], isYaml: boolean): string {
  const fromYaml = isYaml ? strict.filter(text => text.startsWith('line ')) : []
  const others = isYaml ? strict.filter(text => !text.startsWith('line ')) : strict
  const heading =
    fromYaml.length === 0 ? [] : [`yaml: unmarshal errors:\n${fromYaml.map(text => `  ${text}`).join('\n')}`]
  return `strict decoding error: ${[...heading, ...others].join(', ')}`
}
