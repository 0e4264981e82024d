// The kinds that keep pods running: what they share, and what each has of its own.
import { describe, expect, test } from 'vitest'
import type { ValueObject } from '../../meta/values/value.js'
import { validationOf } from './validators.js'

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

const kinds = {
  'apps/v1 ReplicaSet': {},
  'apps/v1 DaemonSet': { updateStrategy: { type: 'OnDelete' } },
  'apps/v1 StatefulSet': {
    podManagementPolicy: 'Parallel',
    updateStrategy: { type: 'OnDelete' },
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
  },
}

const rulesOf = (of: string) => validationOf(of.split(' ')[0]!, of.split(' ')[1]!, true)
const told = (of: string, spec: ValueObject): string[] =>
  rulesOf(of)
    .create({ metadata: { name: 'x', namespace: 'n' }, spec })
    .map(({ field }) => field)

describe.each(Object.entries(kinds))('a %s', (kind, own) => {
  const selector = { matchLabels: { app: 'a' } }

  test('with a selector that finds its pods is fine', () => {
    expect(told(kind, { ...own, selector, template: pods() })).toEqual([])
  })

  test('must find its pods', () => {
    const spec = { ...own, selector: { matchLabels: { app: 'b' } }, template: pods() }
    expect(told(kind, spec)).toEqual(['spec.template.metadata.labels'])
  })

  test('selects something', () => {
    expect(told(kind, { ...own, selector: {}, template: pods() })).toEqual(['spec.selector'])
  })

  test('has pods that do not end', () => {
    const template = pods({ restartPolicy: 'Never', activeDeadlineSeconds: 5 })
    expect(told(kind, { ...own, selector, template })).toEqual([
      'spec.template.spec.restartPolicy',
      'spec.template.spec.activeDeadlineSeconds',
    ])
  })
})

test('a stateful set may mount what it claims', () => {
  const template = pods({ volumes: [] })
  const spec = { ...kinds['apps/v1 StatefulSet'], selector: { matchLabels: { app: 'a' } }, template }
  expect(told('apps/v1 StatefulSet', spec)).toEqual(['spec.template.spec.containers[0].volumeMounts[0].name'])
  const claims = { volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: {} }] }
  expect(told('apps/v1 StatefulSet', { ...spec, ...claims })).toEqual([])
})

test('a job with indexes grows and shrinks as a whole', () => {
  const job = (spec: ValueObject): ValueObject => ({
    metadata: { name: 'x', namespace: 'n', uid: 'u' },
    spec: {
      manualSelector: true,
      selector: { matchLabels: { app: 'a' } },
      template: pods({ restartPolicy: 'Never' }),
      completionMode: 'Indexed',
      ...spec,
    },
  })
  const change = (spec: ValueObject) =>
    rulesOf('batch/v1 Job')
      .update(job(spec), job({ completions: 2, parallelism: 2 }))
      .filter(({ field }) => !field.startsWith('metadata'))
      .map(({ detail }) => detail)
  expect(change({ completions: 3, parallelism: 3 })).toEqual([])
  expect(change({ completions: 3, parallelism: 2 })).toEqual(['can only be modified in tandem with parallelism'])
})
