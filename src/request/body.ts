// The body of a write, and what it is to be read as.
import type { Strategy } from '../kinds/kind.js'
import type { ProtobufCodec } from '../types/typed-body.js'

export interface Body {
  readonly bytes: Buffer
  /** Without parameters: `application/json`. Empty counts as JSON. */
  readonly mediaType: string
}

export const BODY_TYPES = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/cbor',
] as const

/** What a body is to be read as. */
export interface BodySpec {
  readonly kind: string
  readonly version: string
  /** Where the body must say that it is of this version. */
  readonly apiVersion?: string | undefined
  readonly decode: Strategy['decode']
  readonly protobuf?: ProtobufCodec | undefined
  /** It is known only by what it says it is, so that it must say so. */
  readonly isUntyped?: boolean | undefined
}
