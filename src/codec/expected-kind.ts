// Decodes a document that should be of one kind, with the errors of kube-apiserver's decoder: what webhooks answer.
import { jsonTypeOf, quote } from '../meta/go/go-text.js'
import { parseGroupVersion } from '../meta/group-version.js'
import { getOwn, isObject, type ValueObject } from '../meta/values/value.js'
import { CodecError } from './codec-error.js'
import { GoStructError } from './go-struct.js'
import { decodeRecognized, isJson } from './recognized.js'

export interface ExpectedKind {
  readonly apiVersion: string
  readonly kind: string
  /** Other kinds that the decoder knows, by their apiVersion. */
  readonly known: Readonly<Record<string, readonly string[]>>
}

/** kube-apiserver's name of the scheme that decodes what webhooks answer. */
const SCHEME = 'pkg/util/webhook/client.go:71'
const NO_TYPE = "couldn't get version/kind; json parse error: "

/** The document, whose apiVersion and kind may be absent. Throws a GoStructError. */
export function decodeExpected(bytes: Buffer, expected: ExpectedKind): ValueObject {
  const object = decodeObject(bytes)
  const apiVersion = typeMember(object, 'apiVersion') || expected.apiVersion
  const kind = typeMember(object, 'kind') || expected.kind
  const given = parseGroupVersion(apiVersion)
  if (!given.ok) throw new GoStructError(given.error)
  if (apiVersion === expected.apiVersion && kind === expected.kind) return object
  const into = `${expected.apiVersion.slice(expected.apiVersion.indexOf('/') + 1)}.${expected.kind}`
  throw new GoStructError(
    expected.known[apiVersion]?.includes(kind)
      ? `converting (${given.value.version}.${kind}) to (${into}): unknown conversion`
      : `no kind ${quote(kind)} is registered for version ${quote(apiVersion)} in scheme ${quote(SCHEME)}`,
  )
}

/** A text of such a document, empty if it is absent. */
export function typeMember(object: ValueObject, name: 'apiVersion' | 'kind'): string {
  const value = getOwn(object, name) ?? ''
  if (typeof value === 'string') return value
  throw new GoStructError(
    `${NO_TYPE}json: cannot unmarshal ${jsonTypeOf(value)} into Go struct field .${name} of type string`,
  )
}

function decodeObject(bytes: Buffer): ValueObject {
  try {
    const { value } = decodeRecognized(bytes)
    if (isObject(value)) return value
    if (value === null) return {}
    const struct =
      'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
    throw new GoStructError(`${NO_TYPE}json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type ${struct}`)
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    throw new GoStructError(isJson(bytes) ? `${NO_TYPE}${error.message}` : error.message)
  }
}
