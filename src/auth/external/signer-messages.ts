// The messages of the service v1.ExternalJWTSigner, which signs tokens of service accounts outside of this process.
import { message, messageTypes } from '../../storage/grpc.js'

export interface SignRequest {
  /** The second part of the token, in base64url. */
  readonly claims: string
}

export interface SignResponse {
  /** The first and the last part of the token, in base64url. */
  readonly header: string
  readonly signature: string
}

export interface KeysResponse {
  readonly keys: readonly {
    readonly keyId: string
    /** As SubjectPublicKeyInfo. */
    readonly key: Buffer
    /** It verifies tokens that were signed before, and is not published. */
    readonly excludeFromOidcDiscovery: boolean
  }[]
  /** When the keys were read from where they are kept. */
  readonly dataTimestamp: { readonly seconds: number; readonly nanos: number } | null
  readonly refreshHintSeconds: number
}

export interface MetadataResponse {
  readonly maxTokenExpirationSeconds: number
}

const method = messageTypes({
  SignJWTRequest: message({ claims: ['string', 1] }),
  SignJWTResponse: message({ header: ['string', 1], signature: ['string', 2] }),
  Empty: message({}),
  Timestamp: message({ seconds: ['int64', 1], nanos: ['int32', 2] }),
  Key: message({ keyId: ['string', 1], key: ['bytes', 2], excludeFromOidcDiscovery: ['bool', 3] }),
  FetchKeysResponse: message({
    keys: ['Key', 1, 'repeated'],
    dataTimestamp: ['Timestamp', 2],
    refreshHintSeconds: ['int64', 3],
  }),
  MetadataResponse: message({ maxTokenExpirationSeconds: ['int64', 1] }),
})

export const SIGN = method<SignRequest, SignResponse>('v1.ExternalJWTSigner/Sign', 'SignJWTRequest', 'SignJWTResponse')
export const FETCH_KEYS = method<object, KeysResponse>('v1.ExternalJWTSigner/FetchKeys', 'Empty', 'FetchKeysResponse')
export const METADATA = method<object, MetadataResponse>('v1.ExternalJWTSigner/Metadata', 'Empty', 'MetadataResponse')
