// The PKCS #10 request in a CertificateSigningRequest, in PEM: the subject, its key, and a signature by that key.
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { pemBlocks } from '../../base/pem.js'
import { failed, parsed, type Result } from '../../base/result.js'
import { checkExtensions } from './csr-extensions.js'
import {
  bitsOf,
  checkInteger,
  DerError,
  type Element,
  fieldsOf,
  idOf,
  itemsOf,
  onlyElement,
  sequenceOf,
  TAG,
  textOf,
  wholeOf,
} from './der-reader.js'

export interface SigningRequest {
  /** The organizations of the subject, which become groups. */
  readonly organizations: readonly string[]
  /** The common name of the subject, the last of several; empty if there is none. */
  readonly commonName: string
}

/** Takes base64 of PEM. Fails with the message that clients see. */
export function parseSigningRequest(base64: string): Result<SigningRequest> {
  const pem = Buffer.from(base64, 'base64').toString('latin1')
  const [block] = pemBlocks(pem)
  if (block?.label !== 'CERTIFICATE REQUEST') return failed('PEM block type must be CERTIFICATE REQUEST')
  try {
    return parsed(readRequest(block.content))
  } catch (error) {
    return failed(error instanceof DerError ? error.message : 'asn1: structure error: invalid certificate request')
  }
}

/** The key of a request in DER, and whether the request is signed by it. */
export interface SignedKey {
  readonly key: KeyObject
  readonly isSigned: boolean
}

/** Undefined for bytes that are no request. A key of an unknown kind counts as no request. */
export function readSignedKey(der: Buffer): SignedKey | undefined {
  try {
    const { info, ...rest } = partsOf(der)
    return { key: publicKeyOf(rest.key), isSigned: signatureError(info, rest) === undefined }
  } catch {
    return undefined
  }
}

const ORGANIZATION = '55040a'
const COMMON_NAME = '550403'

function readRequest(der: Buffer): SigningRequest {
  const { info, subject, attributes, ...rest } = partsOf(der)
  const pairs = itemsOf(subject, TAG.set).flatMap(set => itemsOf(set, TAG.sequence).map(readPair))
  checkExtensions(attributes)
  const error = signatureError(info, rest)
  if (error !== undefined) throw new DerError(error)
  const valuesOf = (attribute: string): string[] =>
    pairs.flatMap(({ name, value }) => (name === attribute ? [knownText(value)] : []))
  return { organizations: valuesOf(ORGANIZATION), commonName: valuesOf(COMMON_NAME).at(-1) ?? '' }
}

interface RequestParts extends SignatureParts {
  readonly info: Element
  readonly subject: Element
  readonly attributes: Element
}

interface SignatureParts {
  readonly key: Element
  readonly algorithm: Element
  readonly signature: Element
}

/** `[0]` of a request. */
const ATTRIBUTES = 0xa0

function partsOf(der: Buffer): RequestParts {
  const [info, algorithm, signature] = fieldsOf(onlyElement(der, TAG.sequence), [TAG.sequence, TAG.sequence, TAG.bits])
  const [version, subject, key, attributes] = fieldsOf(info!, [TAG.integer, undefined, TAG.sequence, ATTRIBUTES])
  checkInteger(version!)
  return {
    info: info!,
    subject: sequenceOf(subject!),
    key: key!,
    attributes: attributes!,
    algorithm: algorithm!,
    signature: signature!,
  }
}

/** An attribute of the subject, with its value if that is a text. */
function readPair(pair: Element): { readonly name: string; readonly value: string | undefined } {
  const [id, value] = fieldsOf(pair, [TAG.id, undefined])
  return { name: idOf(id!), value: textOf(value!) }
}

/** A signer may read any type of text, so an organization or common name of a type that is not known here is refused. */
function knownText(value: string | undefined): string {
  if (value !== undefined) return value
  throw new DerError('x509: invalid RDNSequence: invalid attribute value: unsupported string type')
}

interface Algorithm {
  readonly type: 'rsa' | 'ec' | 'ed25519'
  readonly hash: string | null
}

/** Signature algorithms, by the bytes of the object identifier. */
const ALGORITHMS: Readonly<Record<string, Algorithm>> = {
  '2a864886f70d010105': { type: 'rsa', hash: 'sha1' },
  '2a864886f70d01010b': { type: 'rsa', hash: 'sha256' },
  '2a864886f70d01010c': { type: 'rsa', hash: 'sha384' },
  '2a864886f70d01010d': { type: 'rsa', hash: 'sha512' },
  '2a8648ce3d0401': { type: 'ec', hash: 'sha1' },
  '2a8648ce3d040302': { type: 'ec', hash: 'sha256' },
  '2a8648ce3d040303': { type: 'ec', hash: 'sha384' },
  '2a8648ce3d040304': { type: 'ec', hash: 'sha512' },
  // Ed25519 hashes by itself.
  '2b6570': { type: 'ed25519', hash: null },
}

/** By Node's name of the type: Go's names of it, and what its libraries say of a wrong signature. */
const KEYS: Readonly<Record<string, { readonly name: string; readonly type: string; readonly failure: string }>> = {
  rsa: { name: 'RSA', type: '*rsa.PublicKey', failure: 'crypto/rsa: verification error' },
  ec: { name: 'ECDSA', type: '*ecdsa.PublicKey', failure: 'x509: ECDSA verification failure' },
  ed25519: { name: 'Ed25519', type: 'ed25519.PublicKey', failure: 'x509: Ed25519 verification failure' },
}

const CURVES: ReadonlySet<string> = new Set(['secp224r1', 'prime256v1', 'secp384r1', 'secp521r1'])

const publicKeyOf = (key: Element): KeyObject => createPublicKey({ key: wholeOf(key), format: 'der', type: 'spki' })

function signatureError(info: Element, { key, algorithm, signature }: SignatureParts): string | undefined {
  const id = idOf(fieldsOf(algorithm, [TAG.id])[0]!)
  if (!Object.hasOwn(ALGORITHMS, id)) return 'x509: cannot verify signature: algorithm unimplemented'
  const { type, hash } = ALGORITHMS[id]!
  const publicKey = publicKeyOf(key)
  const { asymmetricKeyType = '', asymmetricKeyDetails } = publicKey
  if (asymmetricKeyType === 'ec' && !CURVES.has(asymmetricKeyDetails?.namedCurve ?? '')) {
    return 'x509: unsupported elliptic curve'
  }
  if (asymmetricKeyType !== type) {
    const [of, have] = [type, asymmetricKeyType].map(name => (Object.hasOwn(KEYS, name) ? KEYS[name] : undefined))
    return `x509: signature algorithm specifies an ${of!.name} public key, but have public key of type ${have?.type ?? asymmetricKeyType}`
  }
  return verify(hash, wholeOf(info), publicKey, bitsOf(signature)) ? undefined : KEYS[type]!.failure
}
