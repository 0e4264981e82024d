// What every decoded document must have, and how strict decoding reports its errors, in Kubernetes' words.
import { jsonTypeOf } from '../go/go-text.js'
import { parseGroupVersion } from '../group-version.js'
import { getOwn, isObject, type Value, type ValueObject } from '../values/value.js'

const NO_TYPE_IN_JSON = "couldn't get version/kind; json parse error: "
const TYPE_META =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

/** Checks that a value is an object or null, and that its apiVersion and kind are strings. Throws what `refuse` makes. */
export function checkTypeMeta(value: Value, refuse: (why: string) => Error): void {
  if (value === null) return
  if (!isObject(value)) {
    const why = `json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type ${TYPE_META}`
    throw refuse(`${NO_TYPE_IN_JSON}${why}`)
  }
  const apiVersion = typeMember(value, 'apiVersion', refuse)
  typeMember(value, 'kind', refuse)
  const groupVersion = parseGroupVersion(apiVersion)
  if (!groupVersion.ok) throw refuse(groupVersion.error)
}

function typeMember(value: ValueObject, member: string, refuse: (why: string) => Error): string {
  const text = getOwn(value, member) ?? ''
  if (typeof text === 'string') return text
  const why = `json: cannot unmarshal ${jsonTypeOf(text)} into Go struct field .${member} of type string`
  throw refuse(`${NO_TYPE_IN_JSON}${why}`)
}

/** The errors of YAML come first, under a heading. */
export function strictText(strict: readonly string[], isYaml: boolean): string {
  const fromYaml = isYaml ? strict.filter(text => text.startsWith('line ')) : []
  const others = isYaml ? strict.filter(text => !text.startsWith('line ')) : strict
  const heading =
    fromYaml.length === 0 ? [] : [`yaml: unmarshal errors:\n${fromYaml.map(text => `  ${text}`).join('\n')}`]
  return `strict decoding error: ${[...heading, ...others].join(', ')}`
}
