import { describe, expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { strategyOf, validationOf } from '../written-objects.suite.js'
import { parseSigningRequest } from './csr-parser.js'

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** By carol of the devs. */
const REQUEST = `-----BEGIN CERTIFICATE REQUEST-----
MIHbMIGBAgEAMB8xDTALBgNVBAoMBGRldnMxDjAMBgNVBAMMBWNhcm9sMFkwEwYH
KoZIzj0CAQYIKoZIzj0DAQcDQgAEY7A+cJeveuc8HnDoBDMXGS0Zyke20mxnXZtO
rC2YxxuVCtQGt4HHJvlvxUyXpz9KEcFLPXJvqm9PFzgAbCXbmKAAMAoGCCqGSM49
BAMCA0kAMEYCIQDzHm1EMKd3xKGxKjE3cgPGP40GRl+Jgawr+WXRIcEL9AIhAICp
S3bU2A3LnrQDsgG1lc4RDq6psHrNpguJTix/6dmR
-----END CERTIFICATE REQUEST-----
`

/** By carol of system:masters. */
const MASTERS = `-----BEGIN CERTIFICATE REQUEST-----
MIHkMIGLAgEAMCkxFzAVBgNVBAoMDnN5c3RlbTptYXN0ZXJzMQ4wDAYDVQQDDAVj
YXJvbDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABGOwPnCXr3rnPB5w6AQzFxkt
GcpHttJsZ12bTqwtmMcblQrUBreBxyb5b8VMl6c/ShHBSz1yb6pvTxc4AGwl25ig
ADAKBggqhkjOPQQDAgNIADBFAiAuggT7bchggWAE4yE6pJP6k2NESON1PbPIoquH
fFum2AIhANZuiANe+Qbh9e/50vJ0o6LFCBfrhoPke3mvVsWP3HW3
-----END CERTIFICATE REQUEST-----
`

/** By carol of the devs, signed with SHA-1 and RSA. */
const SHA1_REQUEST = `-----BEGIN CERTIFICATE REQUEST-----
MIICZDCCAUwCAQAwHzENMAsGA1UECgwEZGV2czEOMAwGA1UEAwwFY2Fyb2wwggEi
MA0GCSqGSIb3DQEBAQUAA4IBDwAwggEKAoIBAQDhSKP/CylZgDIDOeROMG7V5U58
iv2axEueor9WVT91RI9IMU+sahlqGfNn8ZyLkUTCxDr0t5WH1buXcfpCYmA+FrIl
UlAfom34IJNNkVvGc/BMKPVlQL37YlQwL6SAdR9IXVLxad/0hHchvsy+wxV6PETD
dtn5iHXYTmwBf887Hp0KvSHkKy7hXczYhzkIxtQ+h3Sehd3xB8zIAX8e5X2MoClq
jbpBPmZ/K0tVhLPeCsgXhtg4xAwznss4lihGLxvhPVD6Bw/kCreh1I60sAnngCI3
XKAt9WWeQLLd8sbrFByWEkF8RDoCbnlcLCXLfPgP6DUF4oWb5tOXXJOPXgfXAgMB
AAGgADANBgkqhkiG9w0BAQUFAAOCAQEACdRVh1d5674l8rf1XjYXUtroc5+9c+uD
ynxwiyxlZBFh8C4/fDOg8myP2Wj9wdBq6Snpf5z0U0giz/tmNIbFFNDF6vuJAyup
pY1WydmBbVY3kOA7Hk6tJINYD/N4PtAKKfZ+Abe6Z6mIYMNMHfLmEJZNNZU4PUDj
tUbJDuTix1TKCKQzMaGgR47FAdK5WmMZjfYhzLTdKTi6OBoX3ZJgvm52ixN++9DC
L9fZnpSzb4gExOUZyyjuh+c2dnPh4DTtWvQtq3DYyom+SLTkicrjfc/IHaIavFfQ
zs4qRCWt7OJ8dOfQS/nrqJqBbnhBCw12FAzkiLljbKGD7onCIhAeuQ==
-----END CERTIFICATE REQUEST-----
`

const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBdDCCARugAwIBAgIUPUIrEcX5lS3UNqChXVUa/3utR3cwCgYIKoZIzj0EAwIw
EDEOMAwGA1UEAwwFY2Fyb2wwHhcNMjYxMTE1MTgyNjAwWhcNMzYxMTEyMTgyNjAw
WjAQMQ4wDAYDVQQDDAVjYXJvbDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABGOw
PnCXr3rnPB5w6AQzFxktGcpHttJsZ12bTqwtmMcblQrUBreBxyb5b8VMl6c/ShHB
Sz1yb6pvTxc4AGwl25ijUzBRMB0GA1UdDgQWBBSpEGBv67HKcR5jkzBfN2elTG9u
mzAfBgNVHSMEGDAWgBSpEGBv67HKcR5jkzBfN2elTG9umzAPBgNVHRMBAf8EBTAD
AQH/MAoGCCqGSM49BAMCA0cAMEQCIEhEoi6+pb0SVYOeD2gTXYW9CQJQYwwToI57
L64f3NfZAiBDft7DmU2PwbbQLJz9pbhHBJJ4AYnhs+8DwMmfzS/1vw==
-----END CERTIFICATE-----
`

test('the organizations of the subject are read', () => {
  expect(parseSigningRequest(base64(REQUEST))).toEqual({
    ok: true,
    value: { commonName: 'carol', organizations: ['devs'] },
  })
  expect(parseSigningRequest(base64(MASTERS))).toMatchObject({ value: { organizations: ['system:masters'] } })
})

test('a request may be signed with SHA-1', () => {
  expect(parseSigningRequest(base64(SHA1_REQUEST))).toEqual({
    ok: true,
    value: { commonName: 'carol', organizations: ['devs'] },
  })
})

describe('an invalid request', () => {
  const bytes = (change: (der: Buffer) => Buffer): string => {
    const [, body = ''] = /-----\n([\s\S]*)\n-----/.exec(REQUEST)!
    const der = change(Buffer.from(body, 'base64')).toString('base64')
    return base64(`-----BEGIN CERTIFICATE REQUEST-----\n${der}\n-----END CERTIFICATE REQUEST-----\n`)
  }

  test.each([
    ['', 'PEM block type must be CERTIFICATE REQUEST'],
    [base64(CERTIFICATE), 'PEM block type must be CERTIFICATE REQUEST'],
    [bytes(der => Buffer.concat([der, Buffer.alloc(1)])), 'asn1: syntax error: trailing data'],
    [bytes(der => der.subarray(0, 40)), 'asn1: syntax error: data truncated'],
    // Another name, the old signature.
    [
      bytes(der => Buffer.from(der.toString('latin1').replace('carol', 'darol'), 'latin1')),
      'ECDSA verification failure',
    ],
    [bytes(() => Buffer.from([0x30, 0])), 'asn1: syntax error: sequence truncated'],
  ])('%#', (request, error) => {
    expect(parseSigningRequest(request)).toEqual({ ok: false, error: expect.stringContaining(error) })
  })
})

const rules = validationOf('certificates.k8s.io/v1', 'CertificateSigningRequest', false)
const spec = { request: base64(REQUEST), signerName: 'example.com/signer', usages: ['client auth'] }
const request = (status: ValueObject = {}, over: ValueObject = {}): ValueObject => ({
  metadata: { name: 'Any: name', resourceVersion: '1' },
  spec: { ...spec, ...over },
  status,
})
const approved = { conditions: [{ type: 'Approved', status: 'True' }] }

test.each<[ValueObject, string]>([
  [{ signerName: 'example/signer' }, 'should be a domain with at least two segments separated by dots'],
  [{ signerName: 'a.b/C' }, 'spec.signerName: Invalid value: "C": validating label "C":'],
  [{ usages: ['any', 'any'] }, 'spec.usages[1]: Duplicate value: "any"'],
])('a request with %j', (over, error) => {
  expect(rules.create(request({}, over)).map(printFieldError)).toEqual([expect.stringContaining(error)])
})

test('a request is approved through /approval only, and for good', () => {
  expect(rules.parts!['approval']!(request(approved), request())).toEqual([])
  expect(rules.status!(request(approved), request()).map(printFieldError)).toEqual([
    'status.conditions: Forbidden: updates may not add a condition of type "Approved"',
  ])
  expect(rules.parts!['approval']!(request(), request(approved)).map(printFieldError)).toEqual([
    'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
  ])
  const both = { conditions: [...approved.conditions, { type: 'Denied', status: 'True' }] }
  expect(rules.parts!['approval']!(request(both), request(approved)).map(printFieldError)).toEqual([
    'status.conditions[1].type: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
  ])
  const unsure = { conditions: [{ type: 'Approved', status: 'False' }] }
  expect(rules.parts!['approval']!(request(unsure), request()).map(printFieldError)).toEqual([
    'status.conditions[0].status: Unsupported value: "False": supported values: "True"',
  ])
})

test('a certificate is set through /status, once', () => {
  const issued = request({ certificate: base64(CERTIFICATE) })
  expect(rules.status!(issued, request())).toEqual([])
  expect(rules.parts!['approval']!(issued, request()).map(printFieldError)).toEqual([
    'status.certificate: Forbidden: updates may not set certificate content',
  ])
  expect(rules.status!(request({ certificate: base64(CERTIFICATE.repeat(2)) }), issued).map(printFieldError)).toEqual([
    'status.certificate: Forbidden: updates may not modify existing certificate content',
  ])
  expect(rules.status!(request({ certificate: base64(REQUEST) }), request()).map(printFieldError)).toEqual([
    'status.certificate: Invalid value: "<certificate data>": only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE REQUEST"',
  ])
})

test('conditions have a transition time', () => {
  const { prepareForSubresourceUpdate } = strategyOf('certificates.k8s.io/v1', 'CertificateSigningRequest')
  const [then, now] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z']
  const old = request({
    conditions: [{ type: 'Approved', status: 'True', lastUpdateTime: then, lastTransitionTime: then }],
  })
  const changed = request({ ...approved, certificate: 'AAAA' }, { signerName: 'other.com/x' })
  prepareForSubresourceUpdate!['approval']!(changed, old, { now })
  expect(changed['status']).toEqual({
    conditions: [{ type: 'Approved', status: 'True', lastUpdateTime: now, lastTransitionTime: then }],
  })
  expect(changed['spec']).toEqual(spec)
})
