import { expect, test } from 'vitest'
import { selectableFieldsOf } from '../written-objects.suite.js'

test.each([
  ['v1', 'Pod', 'spec.nodeName', undefined],
  ['v1', 'Pod', 'spec.nonsense', 'field label not supported: spec.nonsense'],
  ['v1', 'Node', 'metadata.namespace', 'field label not supported: metadata.namespace'],
  ['v1', 'Secret', 'type', undefined],
  ['v1', 'Event', 'involvedObject.name', undefined],
  ['v1', 'Event', 'involvedObject.color', 'field label not supported: involvedObject.color'],
  ['events.k8s.io/v1', 'Event', 'regarding.name', undefined],
  ['v1', 'ConfigMap', 'data.a', '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"'],
])('%s %s by %s', (apiVersion, kind, field, error) => {
  const answer = selectableFieldsOf(apiVersion, kind).support(field, 'x')
  expect(answer.ok ? undefined : answer.error).toBe(error)
})

test('an older name of a field stands for the present one', () => {
  expect(selectableFieldsOf('v1', 'Pod').support('spec.host', 'n')).toEqual({
    ok: true,
    value: { field: 'spec.nodeName', value: 'n' },
  })
})

test('fields have values', () => {
  const pod = { spec: { nodeName: 'n', hostNetwork: true }, status: { phase: 'Running', podIPs: [{ ip: '10.1.0.1' }] } }
  expect(selectableFieldsOf('v1', 'Pod').values(pod)).toMatchObject({
    'spec.nodeName': 'n',
    'spec.hostNetwork': 'true',
    'status.phase': 'Running',
    'status.podIP': '10.1.0.1',
    'spec.restartPolicy': '',
  })
  expect(selectableFieldsOf('v1', 'Event').values({ reportingComponent: 'c' })).toMatchObject({ source: 'c' })
  expect(selectableFieldsOf('v1', 'ConfigMap').values({})).toEqual({})
})
