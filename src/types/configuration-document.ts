// A document that configures the server, decoded strictly, with kube-apiserver's messages.
import { UsageError } from '../base/usage-error.js'
import { CodecError } from '../codec/codec-error.js'
import { decodeYaml } from '../codec/yaml.js'
import { quote } from '../meta/go/go-text.js'
import { checkTypeMeta, strictText } from '../meta/object/type-meta.js'
import { getOwn, isObject, type ValueObject } from '../meta/values/value.js'
import { decodeTyped, TypedDecodeError } from './decode.js'
import type { Types } from './type.js'

/** The kinds that one document may be of. `scheme` is in messages about any other kind. */
export interface ConfigurationScheme {
  readonly kinds: readonly string[]
  readonly scheme: string
}

/** Throws a UsageError. */
export function decodeConfiguration(bytes: Buffer, { kinds, scheme }: ConfigurationScheme, types: Types): ValueObject {
  const refuse = (why: string): UsageError => new UsageError(why)
  try {
    const { value, duplicates } = decodeYaml(bytes)
    checkTypeMeta(value, refuse)
    const document = isObject(value) ? value : {}
    const kind = getOwn(document, 'kind') ?? ''
    const apiVersion = getOwn(document, 'apiVersion') ?? ''
    if (kind === '') throw refuse(`Object 'Kind' is missing in '${bytes.toString()}'`)
    if (apiVersion === '') throw refuse(`Object 'apiVersion' is missing in '${bytes.toString()}'`)
    if (!kinds.includes(`${apiVersion as string} ${kind as string}`)) {
      const version = quote(apiVersion as string)
      throw refuse(`no kind ${quote(kind as string)} is registered for version ${version} in scheme ${quote(scheme)}`)
    }
    const type = types.ofKind(apiVersion as string, kind as string)!
    const decoded = decodeTyped(type, document)
    const strict = [...duplicates, ...decoded.strict]
    if (strict.length > 0) throw refuse(strictText(strict, true))
    return decoded.value
  } catch (error) {
    if (error instanceof CodecError || error instanceof TypedDecodeError) throw refuse(error.message)
    throw error
  }
}
