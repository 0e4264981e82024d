// The messages of Kubernetes' KMS plugin API v2, and the message that an encrypted value is.
import protobuf from 'protobufjs/light.js'
import { message, messageTypes } from '../grpc.js'

export interface KmsStatus {
  readonly version: string
  readonly healthz: string
  readonly keyId: string
}

export type Annotations = Readonly<Record<string, Buffer>>

export interface EncryptRequest {
  readonly plaintext: Buffer
  readonly uid: string
}

export interface EncryptResponse {
  readonly ciphertext: Buffer
  readonly keyId: string
  readonly annotations: Annotations
}

export interface DecryptRequest {
  readonly ciphertext: Buffer
  readonly uid: string
  readonly keyId: string
  readonly annotations: Annotations
}

export interface DecryptResponse {
  readonly plaintext: Buffer
}

/** A value with what is needed to decrypt it. */
export interface EncryptedObject {
  readonly encryptedData: Buffer
  readonly keyID: string
  readonly encryptedDEKSource: Buffer
  readonly annotations: Annotations
  readonly encryptedDEKSourceType: number
}

export const DekSource = { key: 0, seed: 1 } as const

/** The message with a field of annotations. */
export function annotationsField({ fields }: protobuf.IType, id: number): protobuf.IType {
  const annotations: protobuf.IMapField = { keyType: 'string', type: 'bytes', id }
  return { fields: { ...fields, annotations } }
}

const method = messageTypes({
  StatusRequest: message({}),
  StatusResponse: message({ version: ['string', 1], healthz: ['string', 2], keyId: ['string', 3] }),
  DecryptRequest: annotationsField(message({ ciphertext: ['bytes', 1], uid: ['string', 2], keyId: ['string', 3] }), 4),
  DecryptResponse: message({ plaintext: ['bytes', 1] }),
  EncryptRequest: message({ plaintext: ['bytes', 1], uid: ['string', 2] }),
  EncryptResponse: annotationsField(message({ ciphertext: ['bytes', 1], keyId: ['string', 2] }), 3),
})
const SERVICE = 'v2.KeyManagementService'

export const STATUS = method<object, KmsStatus>(`${SERVICE}/Status`, 'StatusRequest', 'StatusResponse')
export const ENCRYPT = method<EncryptRequest, EncryptResponse>(
  `${SERVICE}/Encrypt`,
  'EncryptRequest',
  'EncryptResponse',
)
export const DECRYPT = method<DecryptRequest, DecryptResponse>(
  `${SERVICE}/Decrypt`,
  'DecryptRequest',
  'DecryptResponse',
)

const encryptedObject = protobuf.Type.fromJSON(
  'EncryptedObject',
  annotationsField(
    message({
      encryptedData: ['bytes', 1],
      keyID: ['string', 2],
      encryptedDEKSource: ['bytes', 3],
      encryptedDEKSourceType: ['int32', 5],
    }),
    4,
  ),
)

export const encodeEncryptedObject = (object: EncryptedObject): Buffer =>
  Buffer.from(encryptedObject.encode(encryptedObject.create({ ...object })).finish())

/** Absent fields are empty. */
export const decodeEncryptedObject = (bytes: Buffer): EncryptedObject =>
  encryptedObject.toObject(encryptedObject.decode(bytes), {
    defaults: true,
    objects: true,
    bytes: Buffer,
  }) as EncryptedObject

const MAX_ANNOTATIONS_BYTES = 32 * 1024
const MAX_KEY_ID_BYTES = 1024
const MAX_SOURCE_BYTES = 1024

/** Throws kube-apiserver's message. */
export function checkEncryptedObject(object: EncryptedObject): void {
  const { encryptedDEKSourceType: type, encryptedData, encryptedDEKSource: source } = object
  if (type !== DekSource.key && type !== DekSource.seed) throw new Error(`unknown encryptedDEKSourceType: ${type}`)
  if (encryptedData.length === 0) throw new Error('encrypted data is empty')
  checkSource(source)
  const keyId = keyIdError(object.keyID)
  if (keyId) throw new Error(`failed to validate key id: ${keyId.message}`)
  checkAnnotations(object.annotations)
}

function checkSource(source: Buffer): void {
  const refuse = (why: string): Error =>
    new Error(`failed to validate encrypted DEK source: encrypted DEK source is ${why}`)
  if (source.length === 0) throw refuse('empty')
  if (source.length > MAX_SOURCE_BYTES) {
    throw refuse(`${source.length} bytes, which exceeds the max size of ${MAX_SOURCE_BYTES}`)
  }
}

export function keyIdError(
  keyId: string,
): { readonly code: 'empty' | 'too_long'; readonly message: string } | undefined {
  const bytes = Buffer.byteLength(keyId)
  if (bytes === 0) return { code: 'empty', message: 'keyID is empty' }
  if (bytes <= MAX_KEY_ID_BYTES) return undefined
  return { code: 'too_long', message: `keyID is ${bytes} bytes, which exceeds the max size of ${MAX_KEY_ID_BYTES}` }
}

/** At least two labels, as in `version.encryption.example.com`. */
const DOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/

function checkAnnotations(annotations: Annotations): void {
  const names = Object.keys(annotations)
  const wrong = names.find(name => name.length > 253 || !DOMAIN.test(name))
  if (wrong !== undefined) {
    throw new Error(
      `failed to validate annotations: annotations: Invalid value: ${JSON.stringify(wrong)}: should be a domain with at least two segments separated by dots`,
    )
  }
  const total = names.reduce((sum, name) => sum + Buffer.byteLength(name) + annotations[name]!.length, 0)
  if (total > MAX_ANNOTATIONS_BYTES) {
    throw new Error(
      `failed to validate annotations: total size of annotations is ${total}, which exceeds the max size of ${MAX_ANNOTATIONS_BYTES}`,
    )
  }
}
