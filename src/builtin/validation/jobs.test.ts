import { expect, test } from 'vitest'
import type { ValueObject } from '../../meta/values/value.js'
import { validationOf } from '../written-objects.suite.js'

test('a job with indexes changes completions and parallelism together', () => {
  const container = { name: 'c', image: 'i', imagePullPolicy: 'Always', terminationMessagePolicy: 'File' }
  const job = (spec: ValueObject): ValueObject => ({
    metadata: { name: 'x', namespace: 'n', uid: 'u' },
    spec: {
      manualSelector: true,
      selector: { matchLabels: { app: 'a' } },
      template: {
        metadata: { labels: { app: 'a' } },
        spec: { containers: [container], restartPolicy: 'Never', dnsPolicy: 'ClusterFirst' },
      },
      completionMode: 'Indexed',
      ...spec,
    },
  })
  const change = (spec: ValueObject): string[] =>
    validationOf('batch/v1', 'Job', true)
      .update(job(spec), job({ completions: 2, parallelism: 2 }))
      .filter(({ field }) => !field.startsWith('metadata'))
      .map(({ detail }) => detail)
  expect(change({ completions: 3, parallelism: 3 })).toEqual([])
  expect(change({ completions: 3, parallelism: 2 })).toEqual(['can only be modified in tandem with parallelism'])
})
