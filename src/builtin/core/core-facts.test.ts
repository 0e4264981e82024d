// Facts about other core kinds that clients of kube-apiserver rely on.
import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { objectAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { changed, created, errorsOf, tableRowOf, warningsFor } from '../written-objects.suite.js'

describe('a persistent volume', () => {
  const spec = { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/d' } }

  test('has an empty type of a host path by default', () => {
    expect(objectAt(created('v1', 'PersistentVolume', { spec }), 'spec')['hostPath']).toEqual({ path: '/d', type: '' })
  })

  test('that is local names the nodes that have it', () => {
    const local = { ...spec, hostPath: null, local: { path: '/d' } }
    const errors = (nodeAffinity: ValueObject | null): string[] =>
      errorsOf('v1', 'PersistentVolume', { metadata: { namespace: '' }, spec: { ...local, nodeAffinity } })
    expect(errors(null)).toEqual(['spec.nodeAffinity: Required value: Local volume requires node affinity'])
    expect(errors({ required: { nodeSelectorTerms: [] } })).toEqual([
      'spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term',
    ])
    const term = { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n'] }] }
    expect(errors({ required: { nodeSelectorTerms: [term] } })).toEqual([])
  })

  test('is warned of with what is deprecated', () => {
    const annotations = { 'volume.beta.kubernetes.io/storage-class': 'c' }
    const volume = { metadata: { name: 'x', annotations }, spec: { persistentVolumeReclaimPolicy: 'Recycle', rbd: {} } }
    expect(warningsFor('v1', 'PersistentVolume', volume)).toEqual([
      'metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead',
      'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
      'spec.rbd: deprecated in v1.28, non-functional in v1.31+',
    ])
  })
})

test('a claim is warned of with a class in an annotation, and with parts of bytes', () => {
  const annotations = { 'volume.beta.kubernetes.io/storage-class': 'c' }
  const claim = { metadata: { annotations }, spec: { resources: { requests: { storage: '1100m' } } } }
  expect(warningsFor('v1', 'PersistentVolumeClaim', claim)).toEqual([
    'metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead',
    'spec.resources.requests[storage]: fractional byte value "1100m" is invalid, must be an integer',
  ])
})

describe('a pod template', () => {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }

  test('is validated as templates are', () => {
    expect(errorsOf('v1', 'PodTemplate', { template })).toEqual([])
    expect(errorsOf('v1', 'PodTemplate', { template: { spec: {} } })).toEqual([
      'template.spec.containers: Required value',
    ])
  })

  test('counts changes of the template', () => {
    const old = created('v1', 'PodTemplate', { template })
    expect(objectAt(old, 'metadata')['generation']).toBe(1)
    const patch = { template: { metadata: { labels: { a: 'c' } } } }
    expect(objectAt(changed('v1', 'PodTemplate', old, patch), 'metadata')['generation']).toBe(2)
  })

  test('shows its containers and labels', () => {
    expect(tableRowOf('v1', 'podtemplates')({ metadata: { name: 'x' }, template }, 0)).toEqual(['x', 'c', 'i', 'a=b'])
  })
})

describe('a TLS secret is accepted with a warning when', () => {
  const warnings = (certificate: string, key: string): string[] =>
    warningsFor(
      'v1',
      'Secret',
      created('v1', 'Secret', { type: 'kubernetes.io/tls', stringData: { 'tls.crt': certificate, 'tls.key': key } }),
    )
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
  const certificate = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'

  test.each([
    ['it has no certificate', 'x', 'x', 'tls: failed to find any PEM data in certificate input'],
    ['it has no key', certificate, 'x', 'tls: failed to find any PEM data in key input'],
    [
      'the two are exchanged',
      key,
      certificate,
      'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched',
    ],
    [
      'the key is a certificate',
      certificate,
      certificate,
      'tls: found a certificate rather than a key in the PEM for the private key',
    ],
    ['the certificate is malformed', certificate, key, 'x509: malformed certificate'],
  ])('%s', (_, crt, keyText, expected) => {
    expect(warnings(crt, keyText)).toEqual([expected])
  })
})

describe('a service', () => {
  const ports = [{ port: 80 }]

  test.each<[ValueObject, string]>([
    [{ externalIPs: ['1.2.3.4'] }, 'spec.externalIPs is deprecated and may no longer be implemented in some clusters'],
    [
      { trafficDistribution: 'PreferClose' },
      'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
    ],
    [{ externalName: 'a.b' }, 'spec.externalName is ignored when spec.type is not "ExternalName"'],
  ])('with %j is warned of', (spec, warning) => {
    expect(warningsFor('v1', 'Service', created('v1', 'Service', { spec: { ports, ...spec } }))).toEqual([warning])
  })

  test('of another name has no internal traffic policy', () => {
    const spec = { type: 'ExternalName', externalName: 'a.b', internalTrafficPolicy: 'Cluster' }
    expect(objectAt(created('v1', 'Service', { spec }), 'spec')).not.toHaveProperty('internalTrafficPolicy')
  })

  test('loses the external traffic policy with its external addresses', () => {
    const old = created('v1', 'Service', { spec: { ports, externalIPs: ['1.2.3.4'] } })
    expect(objectAt(old, 'spec')['externalTrafficPolicy']).toBe('Cluster')
    const now = changed('v1', 'Service', old, { spec: { externalIPs: null } })
    expect(objectAt(now, 'spec')).not.toHaveProperty('externalTrafficPolicy')
  })

  test('keeps the node ports that it names when it stops to allocate them', () => {
    const old = created('v1', 'Service', { spec: { type: 'LoadBalancer', ports: [{ port: 80, nodePort: 30_000 }] } })
    const now = changed('v1', 'Service', old, { spec: { allocateLoadBalancerNodePorts: false } })
    expect(objectAt(now, 'spec')['ports']).toMatchObject([{ nodePort: 30_000 }])
  })
})
