// Creates X.509 certificates with ECDSA keys on P-256.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { isIPv4 } from 'node:net'
import { promisify } from 'node:util'
import { bits, boolean, explicit, implicit, integer, objectId, octets, pem, sequence, set, time, utf8 } from './der.js'

export interface KeyPair {
  /** Both PEM. */
  readonly cert: string
  readonly key: string
}

export interface CertificateRequest {
  readonly subject: { readonly name: string; readonly organization?: string }
  readonly validity: { readonly from: Date; readonly to: Date }
  readonly use: 'authority' | 'server' | 'client'
  /** Host names and addresses of a server. */
  readonly hosts?: readonly string[]
}

/** Signed by the authority, or self-signed without one. `ownKey` is its private key in PEM form; a new one if absent. */
export async function makeCertificate(
  request: CertificateRequest,
  authority?: KeyPair,
  ownKey?: string,
): Promise<KeyPair> {
  const { publicKey, privateKey } = ownKey === undefined ? await generateKeys() : keysOf(createPrivateKey(ownKey))
  const issuer = authority ? subjectOf(authority.cert) : nameOf(request.subject)
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))), // version 3
    integer(randomBytes(16)),
    SIGNATURE,
    issuer,
    sequence(time(request.validity.from), time(request.validity.to)),
    nameOf(request.subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...extensionsOf(request), ...keyIdentifiers(publicKey, authority))),
  )
  const signer: KeyObject = authority ? createPrivateKey(authority.key) : privateKey
  const certificate = sequence(body, SIGNATURE, bits(sign('sha256', body, signer)))
  return {
    cert: pem('CERTIFICATE', certificate),
    // Not PKCS #8: some clients, such as fabric8's for Java, cannot read EC keys in that form.
    key: privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
  }
}

const generateKeys = () => promisify(generateKeyPair)('ec', { namedCurve: 'P-256' })

const keysOf = (privateKey: KeyObject) => ({ privateKey, publicKey: createPublicKey(privateKey) })

/** ecdsa-with-SHA256. */
const SIGNATURE = sequence(objectId('1.2.840.10045.4.3.2'))

const attribute = (id: string, text: string): Buffer => set(sequence(objectId(id), utf8(text)))

function nameOf({ name, organization }: CertificateRequest['subject']): Buffer {
  const parts = organization === undefined ? [] : [attribute('2.5.4.10', organization)]
  return sequence(...parts, attribute('2.5.4.3', name))
}

/** The subject of a certificate that this file has created, in DER. */
function subjectOf(cert: string): Buffer {
  const lines = new X509Certificate(cert).subject.split('\n')
  const part = (key: string): string | undefined =>
    lines.find(line => line.startsWith(`${key}=`))?.slice(key.length + 1)
  const organization = part('O')
  return nameOf({ name: part('CN') ?? '', ...(organization !== undefined && { organization }) })
}

const extension = (id: string, value: Buffer, isCritical = false): Buffer =>
  sequence(objectId(id), ...(isCritical ? [boolean(true)] : []), octets(value))

const EXTENDED_USE = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' }
const DIGITAL_SIGNATURE = 0x80
const CERTIFICATE_SIGN = 0x04
const LIST_SIGN = 0x02

function extensionsOf({ use, hosts = [] }: CertificateRequest): Buffer[] {
  const isAuthority = use === 'authority'
  const usage = isAuthority ? DIGITAL_SIGNATURE | CERTIFICATE_SIGN | LIST_SIGN : DIGITAL_SIGNATURE
  return [
    extension('2.5.29.19', isAuthority ? sequence(boolean(true)) : sequence(), true),
    extension('2.5.29.15', bits(Buffer.from([usage]), isAuthority ? 1 : 7), true),
    ...(isAuthority ? [] : [extension('2.5.29.37', sequence(objectId(EXTENDED_USE[use])))]),
    ...(hosts.length === 0 ? [] : [extension('2.5.29.17', sequence(...hosts.map(alternativeName)))]),
  ]
}

/** Subject and authority key identifier, which RFC 5280 demands. */
function keyIdentifiers(publicKey: KeyObject, authority: KeyPair | undefined): Buffer[] {
  const own = keyIdentifier(publicKey)
  const issuer = authority ? identifierIn(authority.cert) : own
  return [extension(SUBJECT_KEY_ID, octets(own)), extension('2.5.29.35', sequence(implicit(0, issuer)))]
}

const SUBJECT_KEY_ID = '2.5.29.14'
/** The 04 and the two coordinates of a point on P-256, with which the SPKI of such a key ends. */
const POINT_BYTES = 65

/** The SHA-1 of the public key, as RFC 5280 proposes; it is a name and protects nothing. */
const keyIdentifier = (publicKey: KeyObject): Buffer =>
  createHash('sha1')
    .update(publicKey.export({ type: 'spki', format: 'der' }).subarray(-POINT_BYTES))
    .digest()

/** The subject key identifier of a certificate. Authorities that we created earlier have none. */
function identifierIn(cert: string): Buffer {
  const { raw } = new X509Certificate(cert)
  const id = objectId(SUBJECT_KEY_ID)
  const start = raw.indexOf(id)
  if (start === -1) return keyIdentifier(createPublicKey(cert))
  // The ID is followed by an OCTET STRING in an OCTET STRING; both are short.
  const inner = start + id.length + 2
  return raw.subarray(inner + 2, inner + 2 + raw[inner + 1]!)
}

/** A host with a colon is an IPv6 address. For Node's isIP, a large pattern is compiled when it gets the first name. */
export const isAddress = (host: string): boolean => host.includes(':') || isIPv4(host)

const alternativeName = (host: string): Buffer =>
  isAddress(host) ? implicit(7, addressBytes(host)) : implicit(2, Buffer.from(host, 'ascii'))

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  // The host of a URL is the address in its shortest form: groups of hexadecimal digits, one run of zeros as `::`.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const groups = (text: string | undefined): number[] =>
    text ? text.split(':').map(each => Number.parseInt(each, 16)) : []
  const [before, after] = [groups(head), groups(tail)]
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0)
  return Buffer.from([...before, ...zeros, ...after].flatMap(group => [group >> 8, group & 0xff]))
}
