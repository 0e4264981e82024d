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
  const size = length < 128 ? [length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

/** A request whose organization is this element. */
function requestWith(organization: Buffer): string {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const subject = der(0x30, der(0x31, der(0x30, der(0x06, Buffer.from('55040a', 'hex')), organization)))
  const key = publicKey.export({ type: 'spki', format: 'der' })
  const info = der(0x30, der(0x02, Buffer.of(0)), subject, key, der(0xa0))
  const algorithm = der(0x30, der(0x06, Buffer.from('2a8648ce3d040302', 'hex')))
  const signature = der(0x03, Buffer.of(0), sign('sha256', info, privateKey))
  const body = der(0x30, info, algorithm, signature).toString('base64')
  return base64(`-----BEGIN CERTIFICATE REQUEST-----\n${body}\n-----END CERTIFICATE REQUEST-----\n`)
}

test('a UniversalString is read', () => {
  const text = Buffer.from(Array.from(Buffer.from('system:masters')).flatMap(byte => [0, 0, 0, byte]))
  expect(parseSigningRequest(requestWith(der(0x1c, text)))).toEqual({
    ok: true,
    value: { commonName: '', organizations: ['system:masters'] },
  })
})

test.each([
  ['a constructed UTF8String', der(0x2c, der(0x0c, Buffer.from('system:')), der(0x0c, Buffer.from('masters')))],
  ['an OCTET STRING', der(0x04, Buffer.from('system:masters'))],
  ['half a character of a BMPString', der(0x1e, Buffer.of(0, 0x73, 0))],
  ['a UniversalString beyond Unicode', der(0x1c, Buffer.of(0x7f, 0, 0, 0))],
])('%s is refused', (_what, element) => {
  expect(parseSigningRequest(requestWith(element))).toMatchObject({ ok: false })
})
