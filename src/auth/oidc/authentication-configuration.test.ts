import { describe, expect, test } from 'vitest'
import { parseAuthenticationConfiguration } from './authentication-configuration.js'
// What kube-apiserver v1.36.4 says of each document when it starts; undefined for those that it accepts.
import configurations from './configurations.fixture.json' with { type: 'json' }

const OWN = ['https://kubernetes.default.svc']

describe('an AuthenticationConfiguration is checked as by kube-apiserver', () => {
  test.each(configurations as { name: string; document: string; error?: string }[])('$name', ({ document, error }) => {
    let message: string | undefined
    try {
      parseAuthenticationConfiguration(Buffer.from(document), OWN, { file: 'FILE' })
    } catch (caught) {
      message = (caught as Error).message
    }
    expect(message).toBe(error)
  })

  test('who may be anonymous does not change while the server runs', () => {
    const kind = 'apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n'
    const before = parseAuthenticationConfiguration(
      Buffer.from(`${kind}anonymous: {enabled: true, conditions: [{path: /livez}]}`),
      OWN,
    )
    expect(() => parseAuthenticationConfiguration(Buffer.from(kind), OWN, { before })).toThrow(
      'invalid authentication configuration: anonymous: Forbidden: changed from initial configuration file',
    )
  })
})
