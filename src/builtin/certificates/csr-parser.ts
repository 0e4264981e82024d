// The PKCS #10 request in a CertificateSigningRequest, in PEM: the subject, its key, and a signature by that key.
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { pemTexts } from '../../base/pem.js'
import { failed, parsed, type Result } from '../../base/result.js'

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
  if (block?.type !== 'CERTIFICATE REQUEST') return failed('PEM block type must be CERTIFICATE REQUEST')
  try {
    return parsed(readRequest(block.content))
  } catch (error) {
    return failed(error instanceof RequestError ? error.message : 'asn1: structure error: invalid certificate request')
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
    const [info, algorithm, signature] = childrenOf(only(der))
    const [, , key] = childrenOf(info!)
    return { key: publicKeyOf(key!), isSigned: signatureError(info!, key!, algorithm!, signature!) === undefined }
  } catch {
    return undefined
  }
}

export interface PemBlock {
  readonly type: string
  readonly hasHeaders: boolean
  readonly content: Buffer
}

export function pemBlocks(pem: string): PemBlock[] {
  return pemTexts(pem).map(({ label, body }) => {
    const hasHeaders = /^[^\n]*:/.test(body)
    const content = hasHeaders ? body.slice(body.indexOf('\n\n') + 2) : body
    return { type: label, hasHeaders, content: Buffer.from(content, 'base64') }
  })
}

class RequestError extends Error {}

const ORGANIZATION = '55040a'
const COMMON_NAME = '550403'

function readRequest(der: Buffer): SigningRequest {
  const [info, algorithm, signature] = childrenOf(only(der))
  const [, subject, key] = childrenOf(info!)
  const error = signatureError(info!, key!, algorithm!, signature!)
  if (error !== undefined) throw new RequestError(error)
  const pairs = childrenOf(subject!).flatMap(set => childrenOf(set).map(childrenOf))
  const valuesOf = (attribute: string): string[] =>
    pairs.flatMap(([name, value]) => (name!.content.toString('hex') === attribute ? [textOf(value!)] : []))
  return { organizations: valuesOf(ORGANIZATION), commonName: valuesOf(COMMON_NAME).at(-1) ?? '' }
}

/**
 * A string by its ASN.1 type. Each type writes `system:masters` with other bytes, and a signer may read any of them, so a
 * type that is not known here is refused.
 */
function textOf({ whole, content }: Element): string {
  switch (whole[0]) {
    case 0x0c: // UTF8String
    case 0x12: // NumericString
    case 0x13: // PrintableString
    case 0x16: // IA5String
    case 0x1a: // VisibleString
      return content.toString('utf8')
    case 0x14: // T61String
      return content.toString('latin1')
    case 0x1e: // BMPString: UTF-16, high byte first
      if (content.length % 2 !== 0) throw invalidString()
      return Buffer.from(content).swap16().toString('utf16le')
    case 0x1c: // UniversalString: UTF-32, high byte first
      return universalText(content)
    default:
      throw invalidString()
  }
}

const invalidString = (): RequestError =>
  new RequestError('x509: invalid RDNSequence: invalid attribute value: unsupported string type')

function universalText(content: Buffer): string {
  if (content.length % 4 !== 0) throw invalidString()
  let text = ''
  for (let at = 0; at < content.length; at += 4) {
    const point = content.readUInt32BE(at)
    if (point > 0x10_ff_ff) throw invalidString()
    text += String.fromCodePoint(point)
  }
  return text
}

/** Hashes of the signature algorithms, by the bytes of the object identifier. */
const HASHES: Readonly<Record<string, string | null>> = {
  '2a864886f70d010105': 'sha1',
  '2a864886f70d01010b': 'sha256',
  '2a864886f70d01010c': 'sha384',
  '2a864886f70d01010d': 'sha512',
  '2a8648ce3d0401': 'sha1',
  '2a8648ce3d040302': 'sha256',
  '2a8648ce3d040303': 'sha384',
  '2a8648ce3d040304': 'sha512',
  // Ed25519 hashes by itself.
  '2b6570': null,
}

const FAILURES: Readonly<Record<string, string>> = {
  rsa: 'crypto/rsa: verification error',
  ec: 'x509: ECDSA verification failure',
  ed25519: 'x509: Ed25519 verification failure',
}

const publicKeyOf = (key: Element): KeyObject => createPublicKey({ key: key.whole, format: 'der', type: 'spki' })

function signatureError(info: Element, key: Element, algorithm: Element, signature: Element): string | undefined {
  const id = childrenOf(algorithm)[0]!.content.toString('hex')
  if (!Object.hasOwn(HASHES, id)) return 'x509: cannot verify signature: algorithm unimplemented'
  const publicKey = publicKeyOf(key)
  // The first byte of a BIT STRING counts its unused bits; a signature has none.
  if (verify(HASHES[id], info.whole, publicKey, signature.content.subarray(1))) return undefined
  return FAILURES[publicKey.asymmetricKeyType ?? ''] ?? 'x509: invalid signature'
}

// ---- DER

interface Element {
  /** With its tag and length. */
  readonly whole: Buffer
  readonly content: Buffer
}

const childrenOf = ({ content }: Element): Element[] => {
  const children: Element[] = []
  for (let rest = content; rest.length > 0; ) {
    const child = elementAt(rest)
    children.push(child)
    rest = rest.subarray(child.whole.length)
  }
  return children
}

function only(bytes: Buffer): Element {
  const element = elementAt(bytes)
  if (element.whole.length < bytes.length) throw new RequestError('asn1: syntax error: trailing data')
  return element
}

function elementAt(bytes: Buffer): Element {
  const first = bytes[1] ?? 0
  const lengthBytes = first < 128 ? 0 : first - 128
  if (bytes.length < 2 + lengthBytes || lengthBytes > 4)
    throw new RequestError('asn1: syntax error: truncated tag or length')
  const start = 2 + lengthBytes
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(2, lengthBytes)
  if (bytes.length < start + length) throw new RequestError('asn1: syntax error: data truncated')
  return { whole: bytes.subarray(0, start + length), content: bytes.subarray(start, start + length) }
}
