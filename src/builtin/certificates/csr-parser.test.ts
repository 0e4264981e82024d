// The organizations of a request, in every ASN.1 string type in which they may be written.
import { execFileSync } from 'node:child_process'
import { generateKeyPairSync, sign } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseSigningRequest } from './csr-parser.js'

const base64 = (pem: string): string => Buffer.from(pem).toString('base64')

/** By the bit of OpenSSL's string mask. */
test.each([
  ['PrintableString', 0x2],
  ['T61String', 0x4],
  ['BMPString', 0x800],
  ['UTF8String', 0x2000],
])('openssl writes the organization as %s', (type, mask) => {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-csr-'))
  try {
    const config = join(folder, 'config')
    const name = '[req]\nprompt = no\ndistinguished_name = name\n[name]\nO = system:masters\nCN = a\n'
    writeFileSync(config, name.replace('[req]', `[req]\nstring_mask = MASK:${mask}`))
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', join(folder, 'key')]
    const pem = execFileSync('openssl', ['req', '-new', '-config', config, ...key], { encoding: 'utf8', stdio: 'pipe' })
    const printed = execFileSync('openssl', ['asn1parse'], { input: pem, encoding: 'utf8' })
    expect(printed.replaceAll(' ', '')).toMatch(`prim:${type.toUpperCase()}`)
    expect(parseSigningRequest(base64(pem))).toEqual({
      ok: true,
      value: { commonName: 'a', organizations: ['system:masters'] },
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
})

const der = (tag: number, ...parts: Buffer[]): Buffer => {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
const hex = (digits: string): Buffer => Buffer.from(digits.replaceAll(' ', ''), 'hex')
const id = (digits: string): Buffer => der(0x06, hex(digits))
const printable = (text: string): Buffer => der(0x13, Buffer.from(text))
const sequence = (...parts: Buffer[]): Buffer => der(0x30, ...parts)
const set = (...parts: Buffer[]): Buffer => der(0x31, ...parts)
const part = (name: Buffer, value: Buffer): Buffer => set(sequence(name, value))

const ORGANIZATION = id('55040a')
const COMMON_NAME = id('550403')
const MASTERS = 'system:masters'
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const SPKI = publicKey.export({ type: 'spki', format: 'der' })
const ECDSA = sequence(id('2a8648ce3d040302'))

interface Parts {
  readonly subject?: Buffer
  readonly version?: Buffer
  readonly attributes?: Buffer
  readonly algorithm?: Buffer
  readonly unusedBits?: number
  readonly more?: Buffer
}

/** A request that is signed by its key. */
function requestOf(parts: Parts): string {
  const { subject = sequence(part(COMMON_NAME, printable('a'))), version = der(0x02, Buffer.of(0)) } = parts
  const { attributes = der(0xa0), algorithm = ECDSA, unusedBits = 0, more = Buffer.alloc(0) } = parts
  const info = sequence(version, subject, SPKI, attributes)
  const signature = der(0x03, Buffer.of(unusedBits), sign('sha256', info, privateKey))
  return base64(pemOf(Buffer.concat([sequence(info, algorithm, signature), more])))
}

const pemOf = (request: Buffer): string =>
  `-----BEGIN CERTIFICATE REQUEST-----\n${request.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`

const requestWith = (organization: Buffer): string => requestOf({ subject: sequence(part(ORGANIZATION, organization)) })
const asking = (...extensions: Buffer[]): Buffer =>
  der(0xa0, sequence(id('2a864886f70d01090e'), set(sequence(...extensions))))
const names = (...list: Buffer[]): Buffer => sequence(id('551d11'), der(0x04, sequence(...list)))

/** Two bytes a character, high byte first. */
const wide = (text: string): Buffer => der(0x1e, Buffer.from(text, 'utf16le').swap16())

test.each([
  ['a UniversalString', der(0x1c, Buffer.from([...Buffer.from(MASTERS)].flatMap(byte => [0, 0, 0, byte])))],
  ['a VisibleString', der(0x1a, Buffer.from(MASTERS))],
  ['a BMPString with a NUL at its end', wide(`${MASTERS}\0`)],
])('%s is read', (_what, organization) => {
  const value = { commonName: '', organizations: [MASTERS] }
  expect(parseSigningRequest(requestWith(organization))).toEqual({ ok: true, value })
})

test('all organizations are read, also several of one part of the name, and the last common name', () => {
  const one = (name: Buffer, text: string): Buffer => sequence(name, printable(text))
  const subject = sequence(
    set(one(ORGANIZATION, 'x'), one(COMMON_NAME, 'a'), one(ORGANIZATION, MASTERS)),
    set(),
    set(one(COMMON_NAME, 'b')),
  )
  const value = { commonName: 'b', organizations: ['x', MASTERS] }
  expect(parseSigningRequest(requestOf({ subject }))).toEqual({ ok: true, value })
})

test.each<[what: string, organization: Buffer]>([
  ['a constructed UTF8String', der(0x2c, der(0x0c, Buffer.from('system:')), der(0x0c, Buffer.from('masters')))],
  ['an OCTET STRING', der(0x04, Buffer.from(MASTERS))],
  ['half a character of a BMPString', der(0x1e, Buffer.of(0, 0x73, 0))],
  ['half a pair of a BMPString', wide('\ud800')],
  ['a UniversalString beyond Unicode', der(0x1c, Buffer.of(0x7f, 0, 0, 0))],
  ['a long encoding of UTF-8', der(0x0c, Buffer.of(0xc1, 0xb3))],
  ['a PrintableString with a NUL', printable('a\0')],
  ['an IA5String with a high byte', der(0x16, Buffer.of(0xe4))],
  ['a NumericString with letters', der(0x12, Buffer.from(MASTERS))],
  ['a long form of a short length', Buffer.concat([Buffer.of(0x13, 0x81, 1), Buffer.from('a')])],
  ['a length with zeros before it', Buffer.concat([Buffer.of(0x13, 0x82, 0, 1), Buffer.from('a')])],
  ['a length without end', Buffer.concat([Buffer.of(0x33, 0x80), printable('a'), Buffer.of(0, 0)])],
  ['a length beyond the end', Buffer.of(0x13, 0x84, 0x7f, 0xff, 0xff, 0xff)],
  ['a negative length', Buffer.of(0x13, 0x84, 0xff, 0xff, 0xff, 0xff)],
  ['a tag in more bytes than it needs', Buffer.concat([Buffer.of(0x1f, 0x13, 1), Buffer.from('a')])],
])('an organization is refused: %s', (_what, organization) => {
  expect(parseSigningRequest(requestWith(organization))).toMatchObject({ ok: false })
})

const named = (...parts: Buffer[]): Parts => ({ subject: sequence(...parts) })
const value = printable(MASTERS)

test.each<[error: string, what: string, parts: Parts]>([
  ['asn1: syntax error: trailing data', 'bytes after it', { more: Buffer.of(5, 0) }],
  [
    'asn1: structure error: sequence tag mismatch',
    'a part that is no set',
    named(sequence(sequence(ORGANIZATION, value))),
  ],
  ['asn1: structure error: sequence tag mismatch', 'a set in a set', named(set(set(ORGANIZATION, value)))],
  ["asn1: structure error: tags don't match", 'a subject that is a set', { subject: set() }],
  [
    "asn1: structure error: tags don't match",
    'a primitive sequence',
    { subject: der(0x10, part(ORGANIZATION, value)) },
  ],
  ['asn1: syntax error: sequence truncated', 'a name without a value', named(set(sequence(ORGANIZATION)))],
  [
    'asn1: syntax error: integer is not minimally encoded',
    'a long number in a name',
    named(part(id('5504800a'), value)),
  ],
  [
    'asn1: structure error: base 128 integer too large',
    'a large number',
    named(part(id('5504ffffffffffffff01'), value)),
  ],
  ['asn1: syntax error: truncated base 128 integer', 'half a number', named(part(id('550481'), value))],
  ['asn1: syntax error: zero length OBJECT IDENTIFIER', 'no name', named(part(id(''), value))],
  ['asn1: structure error: empty integer', 'no version', { version: der(0x02) }],
  ['asn1: structure error: integer too large', 'a long version', { version: der(0x02, Buffer.alloc(20, 1)) }],
  ['asn1: syntax error: truncated base 128 integer', 'attributes cut off', { attributes: der(0xa0, hex('ff')) }],
  ["asn1: structure error: tags don't match", 'attributes of another tag', { attributes: der(0xa1) }],
  [
    'x509: certificate request contains duplicate requested extensions',
    'an extension twice',
    { attributes: asking(names(), names()) },
  ],
  ['x509: SAN dNSName is malformed', 'a name beyond ASCII', { attributes: asking(names(der(0x82, hex('e4')))) }],
  [
    'x509: cannot parse IP address of length 3',
    'a short address',
    { attributes: asking(names(der(0x87, hex('010203')))) },
  ],
  [
    'x509: invalid subject alternative names',
    'names that are no list',
    { attributes: asking(sequence(id('551d11'), der(0x04, value))) },
  ],
  [
    'x509: signature algorithm specifies an RSA public key, but have public key of type *ecdsa.PublicKey',
    'an algorithm for other keys',
    { algorithm: sequence(id('2a864886f70d01010b')) },
  ],
  [
    'x509: cannot verify signature: algorithm unimplemented',
    'an unknown algorithm',
    { algorithm: sequence(id('2a03')) },
  ],
  ['asn1: syntax error: invalid padding bits in BIT STRING', 'unused bits that are set', { unusedBits: 7 }],
])('%s: %s', (error, _what, parts) => {
  expect(parseSigningRequest(requestOf(parts))).toEqual({ ok: false, error })
})

test('a request that is nested deeply is read without a stack', () => {
  let deep = printable('a')
  for (let i = 0; i < 3_000; i++) deep = sequence(deep)
  const attributes = der(0xa0, sequence(id('2a03'), deep))
  expect(parseSigningRequest(requestOf({ attributes }))).toMatchObject({ ok: true })
})

test('the request that is read is the first that Go finds', () => {
  const pem = (organization: string): string =>
    Buffer.from(requestWith(printable(organization)), 'base64').toString('latin1')
  const [harmless, masters] = [pem('x'), pem(MASTERS)]
  for (const skipped of [harmless.replace('\n', '\n!'), harmless.replace(/-\n$/, '-x\n')]) {
    expect(parseSigningRequest(base64(skipped + masters))).toMatchObject({ value: { organizations: [MASTERS] } })
  }
})
