// The body of a write, and how it is decoded.
import type { Strategy } from '../kinds/kind.js'
import type { ProtobufCodec } from '../types/typed-body.js'

export interface Body {
  readonly bytes: Buffer
  /** Without parameters: `application/json`. Empty counts as JSON. */
  readonly mediaType: string
  /** The media types that the server takes, for messages; all of `BODY_TYPES` if absent. */
  readonly accepted?: readonly string[]
}

export const BODY_TYPES: readonly string[] = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/cbor',
]

/** How a body is decoded. */
export interface BodySpec {
  readonly kind: string
  readonly version: string
  /** The apiVersion that the body must have, if it must have one. */
  readonly apiVersion?: string | undefined
  readonly decode: Strategy['decode']
  readonly protobuf?: ProtobufCodec | undefined
  /** The object has no Go type, so that the body must have its apiVersion and kind. */
  readonly isUntyped?: boolean | undefined
}
