// Defaults of core kinds, and of a kind with a template.
import { expect, test } from 'vitest'
import { objectAt } from '../../meta/values/access.js'
import { created } from '../written-objects.suite.js'

test('services', () => {
  expect(objectAt(created('v1', 'Service', { spec: { ports: [{ port: 80 }] } }), 'spec')).toEqual({
    ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
    type: 'ClusterIP',
    sessionAffinity: 'None',
    internalTrafficPolicy: 'Cluster',
  })
  const balanced = { type: 'LoadBalancer', sessionAffinity: 'ClientIP', ports: [{ port: 1, targetPort: 'web' }] }
  expect(objectAt(created('v1', 'Service', { spec: balanced }), 'spec')).toMatchObject({
    ports: [{ targetPort: 'web' }],
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } },
    externalTrafficPolicy: 'Cluster',
    allocateLoadBalancerNodePorts: true,
  })
})

test('stringData of a secret becomes data', () => {
  const secret = created('v1', 'Secret', { data: { a: 'MQ==', b: 'Mg==' }, stringData: { b: 'three' } })
  expect(secret).toMatchObject({ type: 'Opaque', data: { a: 'MQ==', b: 'dGhyZWU=' } })
  expect(secret).not.toHaveProperty('stringData')
})

test('the allocatable resources of a node are its capacity', () => {
  expect(created('v1', 'Node', { status: { capacity: { cpu: '4' } }, spec: { podCIDR: '10.2.0.0/24' } })).toMatchObject(
    {
      status: { allocatable: { cpu: '4' } },
      spec: { podCIDRs: ['10.2.0.0/24'] },
    },
  )
})

test('a deployment has a rolling update, and its template no defaults of pods', () => {
  const template = { spec: { containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '1' } } }] } }
  const spec = objectAt(created('apps/v1', 'Deployment', { spec: { template } }), 'spec')
  expect(spec).toMatchObject({
    replicas: 1,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
  })
  const inner = objectAt(objectAt(spec, 'template'), 'spec')
  expect(inner).not.toHaveProperty('enableServiceLinks')
  expect(inner['containers']).toMatchObject([{ resources: { limits: { cpu: '1' } } }])
})
