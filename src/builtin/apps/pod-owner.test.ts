// The kinds that keep pods running: what they share, and what each has of its own.
import { describe, expect, test } from 'vitest'
import type { ValueObject } from '../../meta/values/value.js'
import { created, errorsOfChange, tableRowOf, validationOf } from '../written-objects.suite.js'

const pods = (spec: ValueObject = {}): ValueObject => ({
  metadata: { labels: { app: 'a' } },
  spec: {
    containers: [
      {
        name: 'c',
        image: 'i',
        imagePullPolicy: 'Always',
        terminationMessagePolicy: 'File',
        volumeMounts: [{ name: 'data', mountPath: '/d' }],
      },
    ],
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    volumes: [{ name: 'data', emptyDir: {} }],
    ...spec,
  },
})

const selector = { matchLabels: { app: 'a' } }

const kinds = {
  'apps/v1 ReplicaSet': {},
  'apps/v1 DaemonSet': { updateStrategy: { type: 'OnDelete' } },
  'apps/v1 StatefulSet': {
    podManagementPolicy: 'Parallel',
    updateStrategy: { type: 'OnDelete' },
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
  },
}

const wrongFields = (of: string, spec: ValueObject): string[] =>
  validationOf(of.split(' ')[0]!, of.split(' ')[1]!, true)
    .create({ metadata: { name: 'x', namespace: 'n' }, spec })
    .map(({ field }) => field)

describe.each(Object.entries(kinds))('a %s', (kind, own) => {
  test('is valid with a selector that matches its template', () => {
    expect(wrongFields(kind, { ...own, selector, template: pods() })).toEqual([])
  })

  test('must select the pods of its template', () => {
    const spec = { ...own, selector: { matchLabels: { app: 'b' } }, template: pods() }
    expect(wrongFields(kind, spec)).toEqual(['spec.template.metadata.labels'])
  })

  test('must not have an empty selector', () => {
    expect(wrongFields(kind, { ...own, selector: {}, template: pods() })).toEqual(['spec.selector'])
  })

  test('must have pods that restart always and have no deadline', () => {
    const template = pods({ restartPolicy: 'Never', activeDeadlineSeconds: 5 })
    expect(wrongFields(kind, { ...own, selector, template })).toEqual([
      'spec.template.spec.restartPolicy',
      'spec.template.spec.activeDeadlineSeconds',
    ])
  })
})

test('a stateful set may mount the volumes of its claim templates', () => {
  const template = pods({ volumes: [] })
  const spec = { ...kinds['apps/v1 StatefulSet'], selector, template }
  expect(wrongFields('apps/v1 StatefulSet', spec)).toEqual(['spec.template.spec.containers[0].volumeMounts[0].name'])
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
  const claims = { volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claim }] }
  expect(wrongFields('apps/v1 StatefulSet', { ...spec, ...claims })).toEqual([])
  const incomplete = { volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: {} }] }
  expect(wrongFields('apps/v1 StatefulSet', { ...spec, ...incomplete })).toEqual([
    'spec.volumeClaimTemplates[0].spec.accessModes',
    'spec.volumeClaimTemplates[0].spec.resources[storage]',
  ])
})

const setWith = (updateStrategy: ValueObject): unknown => {
  const set = created('apps/v1', 'StatefulSet', { spec: { selector, template: pods(), updateStrategy } })
  return (set['spec'] as ValueObject)['updateStrategy']
}

test('a stateful set gets a partition only with a rolling update that is defaulted or given', () => {
  expect(setWith({})).toEqual({ type: 'RollingUpdate', rollingUpdate: { partition: 0 } })
  expect(setWith({ type: 'RollingUpdate' })).toEqual({ type: 'RollingUpdate' })
  const given = { type: 'RollingUpdate', rollingUpdate: {} }
  expect(setWith(given)).toEqual({ type: 'RollingUpdate', rollingUpdate: { partition: 0 } })
})

test('the name of a stateful set is a DNS label, because its pods are named after it', () => {
  const spec = { ...kinds['apps/v1 StatefulSet'], selector, template: pods() }
  const errors = validationOf('apps/v1', 'StatefulSet', true).create({
    metadata: { name: 'a.b', namespace: 'n' },
    spec,
  })
  expect(errors.map(({ field }) => field)).toEqual(['metadata.name'])
})

test.each(['Deployment', 'DaemonSet', 'StatefulSet'])('the collision count of a %s cannot become smaller', kind => {
  const plain = { spec: { selector, template: pods() } }
  const old = { ...created('apps/v1', kind, plain), status: { collisionCount: 2 } }
  const changed = { ...old, status: { collisionCount: 1 } }
  const errors = validationOf('apps/v1', kind, true).status!(changed, old)
  expect(errors).toMatchObject([{ field: 'status.collisionCount', detail: 'cannot be decremented' }])
})

describe('a controller revision', () => {
  const check = (object: ValueObject): string[] =>
    validationOf('apps/v1', 'ControllerRevision', true)
      .create({ metadata: { name: 'x', namespace: 'n' }, revision: 1, ...object })
      .map(({ field, detail }) => `${field}: ${detail}`)

  test('has data, which is an object', () => {
    expect(check({ data: { spec: {} } })).toEqual([])
    expect(check({})).toEqual(['data: data is mandatory'])
    expect(check({ data: [] })).toEqual(['data: data must be a valid JSON object'])
  })

  test('keeps its data', () => {
    const errors = errorsOfChange('apps/v1', 'ControllerRevision', { data: { a: 1 }, revision: 1 }, { data: { a: 2 } })
    expect(errors).toEqual(['data: Invalid value: {"a":2}: field is immutable'])
  })

  test('shows the object that controls it', () => {
    const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', controller: true }
    const revision = { metadata: { name: 'web-1', ownerReferences: [owner] }, revision: 3 }
    expect(tableRowOf('apps/v1', 'controllerrevisions')(revision, 0).slice(0, 3)).toEqual([
      'web-1',
      'statefulset.apps/web',
      3,
    ])
  })
})
